// Every bit pattern of every narrow float is checked against the definition of the format, and
// every rounding boundary between neighbours; the thresholds at the top are those of hlo_ops 2.1.
#include "hlo/float_formats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace hv {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class NarrowFloat : public testing::TestWithParam<ElementType> {
 protected:
  ElementType type() const { return GetParam(); }
  uint32_t patterns() const { return 1u << BitWidth(type()); }
  bool HasSign() const { return type() != ElementType::kF8E8M0FNU; }
  float At(uint32_t bits) const { return FloatFromBits(type(), bits); }
  // Patterns of finite values >= 0 are 0 .. LargestPattern(), in ascending order of value.
  uint32_t LargestPattern() const { return BitsFromDouble(type(), LargestFinite(type())); }
};

TEST_P(NarrowFloat, EveryPatternComesBack) {
  for (uint32_t bits = 0; bits < patterns(); ++bits) {
    const float value = At(bits);
    const uint32_t back = BitsFromFloat(type(), value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(At(back))) << bits;
      EXPECT_EQ(std::signbit(At(back)), std::signbit(value)) << bits;
    } else {
      EXPECT_EQ(back, bits);
      EXPECT_EQ(BitsFromDouble(type(), static_cast<double>(value)), bits);
    }
  }
}

TEST_P(NarrowFloat, FiniteValuesAscendWithTheirPatterns) {
  EXPECT_EQ(static_cast<double>(At(LargestPattern())), LargestFinite(type()));
  for (uint32_t bits = 0; bits < LargestPattern(); ++bits) {
    ASSERT_LT(At(bits), At(bits + 1)) << bits;
    const uint32_t sign = patterns() / 2;
    if (HasSign() && bits > 0) {
      ASSERT_EQ(At(bits | sign), -At(bits)) << bits;
    }
  }
}

TEST_P(NarrowFloat, RoundsToNearestTiesToEven) {
  for (uint32_t bits = 0; bits < LargestPattern(); ++bits) {
    const double middle = (static_cast<double>(At(bits)) + static_cast<double>(At(bits + 1))) / 2;
    const float f = static_cast<float>(middle);
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    // f8e8m0fnu: ties upwards; its lowest interval is special (see the test below).
    if (!HasSign() && bits == 0) continue;
    ASSERT_EQ(BitsFromFloat(type(), f), HasSign() ? even : bits + 1) << bits;
    ASSERT_EQ(BitsFromFloat(type(), std::nextafter(f, 0.0f)), bits) << bits;
    ASSERT_EQ(BitsFromFloat(type(), std::nextafter(f, INFINITY)), bits + 1) << bits;
    if (BitWidth(type()) > 8) continue;  // from f64 in one rounding: finer neighbours decide too
    ASSERT_EQ(BitsFromDouble(type(), std::nextafter(middle, 0.0)), bits) << bits;
    ASSERT_EQ(BitsFromDouble(type(), std::nextafter(middle, kInf)), bits + 1) << bits;
  }
}

std::vector<ElementType> NarrowTypes() {
  std::vector<ElementType> types;
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (IsFloat(type) && BitWidth(type) < 32) types.push_back(type);
  }
  return types;
}

INSTANTIATE_TEST_SUITE_P(All, NarrowFloat, testing::ValuesIn(NarrowTypes()),
                         [](const auto& test) { return std::string(ToString(test.param)); });

struct Top {
  ElementType type;
  double largest, smallest_normal, smallest, overflows_at;
  double overflow;  // what becomes of overflows_at: infinity, NaN, or the saturated value
};

TEST(FloatFormats, RangesAndOverflow) {
  using E = ElementType;
  const double nan = kNan;
  const Top tops[] = {
      {E::kF4E2M1FN, 6, 1, 0.5, 7, 6},
      {E::kF6E2M3FN, 7.5, 1, 0.125, 8, 7.5},
      {E::kF6E3M2FN, 28, 0.25, 0.0625, 32, 28},
      {E::kF8E3M4, 15.5, 0.25, 0x1p-6, 15.75, kInf},
      {E::kF8E4M3, 240, 0x1p-6, 0x1p-9, 248, kInf},
      {E::kF8E4M3FN, 448, 0x1p-6, 0x1p-9, std::nextafter(464.0, 1e9), nan},
      {E::kF8E4M3FNUZ, 240, 0x1p-7, 0x1p-10, 248, nan},
      {E::kF8E4M3B11FNUZ, 30, 0x1p-10, 0x1p-13, 31, nan},
      {E::kF8E5M2, 57344, 0x1p-14, 0x1p-16, 61440, kInf},
      {E::kF8E5M2FNUZ, 57344, 0x1p-15, 0x1p-17, 61440, nan},
      {E::kF16, 65504, 0x1p-14, 0x1p-24, 65520, kInf},
      {E::kBF16, 0x1.FEp127, 0x1p-126, 0x1p-133, 0x1.FFp127, kInf},
  };
  for (const Top& top : tops) {
    SCOPED_TRACE(ToString(top.type));
    EXPECT_EQ(LargestFinite(top.type), top.largest);
    EXPECT_EQ(FloatFromBits(top.type, 1), top.smallest);
    const uint32_t normal = 1u << (PrecisionBits(top.type) - 1);
    EXPECT_EQ(FloatFromBits(top.type, normal), top.smallest_normal);
    for (const double sign : {1.0, -1.0}) {
      for (const double value : {top.overflows_at, 1e30 + top.overflows_at, kInf}) {
        const double got = FloatFromBits(top.type, BitsFromDouble(top.type, sign * value));
        if (std::isnan(top.overflow)) {
          EXPECT_TRUE(std::isnan(got)) << value;
        } else {
          EXPECT_EQ(got, sign * top.overflow) << value;
        }
      }
    }
    const double below = std::nextafter(top.overflows_at, 0.0);
    if (top.type == E::kF16 || top.type == E::kBF16) continue;  // these round to f32 first
    EXPECT_EQ(FloatFromBits(top.type, BitsFromDouble(top.type, below)), top.largest);
  }
}

TEST(FloatFormats, SpecialValues) {
  using E = ElementType;
  EXPECT_EQ(BitsFromFloat(E::kF8E4M3FN, 464.0f), 0x7Eu);  // the tie stays finite
  EXPECT_EQ(BitsFromFloat(E::kF8E4M3FN, kNan), 0x7Fu);
  EXPECT_EQ(BitsFromFloat(E::kF8E4M3FN, -kNan), 0xFFu);
  EXPECT_EQ(BitsFromFloat(E::kF8E5M2FNUZ, kNan), 0x80u);
  EXPECT_EQ(BitsFromFloat(E::kF8E5M2FNUZ, -0.0f), 0u);      // no -0
  EXPECT_EQ(BitsFromFloat(E::kF8E5M2FNUZ, -0x1p-20f), 0u);  // nor by underflow
  EXPECT_EQ(BitsFromFloat(E::kF4E2M1FN, kNan), 0x8u);       // zeros of the opposite sign
  EXPECT_EQ(BitsFromFloat(E::kF6E3M2FN, -kNan), 0u);
  EXPECT_EQ(BitsFromFloat(E::kF4E2M1FN, -0.0f), 0x8u);
  EXPECT_EQ(BitsFromDouble(E::kBF16, 1 + 0x1p-8 + 0x1p-40), 0x3F80u);  // twice, via f32
  EXPECT_FALSE(HasInfinity(E::kF8E4M3FN));
  EXPECT_TRUE(HasInfinity(E::kF8E5M2));
  EXPECT_FALSE(HasNan(E::kF6E2M3FN));
  EXPECT_EQ(PrecisionBits(E::kBF16), 8);
  EXPECT_EQ(PrecisionBits(E::kF64), 53);
}

TEST(FloatFormats, ExponentOnly) {
  const ElementType e8 = ElementType::kF8E8M0FNU;
  EXPECT_EQ(FloatFromBits(e8, 0), 0x1p-127f);
  EXPECT_EQ(FloatFromBits(e8, 254), 0x1p127f);
  for (const double none : {0.0, -1.0, -kInf, kInf, 0x1.8p127}) {
    EXPECT_EQ(BitsFromDouble(e8, none), 0xFFu) << none;
  }
  EXPECT_EQ(BitsFromFloat(e8, 1.5f), 128u);
  EXPECT_EQ(BitsFromFloat(e8, 1.4999999f), 127u);
  EXPECT_EQ(BitsFromFloat(e8, 0x1p-127f), 0u);
  EXPECT_EQ(BitsFromFloat(e8, std::nextafter(0x1p-127f, 1.0f)), 1u);  // subnormal in f32
  EXPECT_EQ(BitsFromFloat(e8, std::numeric_limits<float>::denorm_min()), 0u);
}

}  // namespace
}  // namespace hv
