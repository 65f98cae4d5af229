#include "eval/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "hlo/float_formats.h"

namespace hv {
namespace {

constexpr ElementType kF32 = ElementType::kF32;

bool Holds(const Interval& x, double value) { return x.low <= value && value <= x.high; }

TEST(Interval, SmallIntegersStayPoints) {
  for (ElementType type : {kF32, ElementType::kBF16, ElementType::kF16, ElementType::kF64}) {
    const Interval pair[2] = {Interval::Point(3), Interval::Point(-5)};
    EXPECT_EQ(Apply(ScalarFn::kAdd, type, pair).low, -2);
    EXPECT_TRUE(Apply(ScalarFn::kAdd, type, pair).IsPoint());
    EXPECT_TRUE(Apply(ScalarFn::kMultiply, type, pair).IsPoint());
  }
}

TEST(Interval, InexactResultsWidenToNeighbours) {
  const Interval pair[2] = {Interval::Point(1), Interval::Point(3)};
  const Interval third = Apply(ScalarFn::kDivide, kF32, pair);
  EXPECT_LT(third.low, 1.0 / 3);
  EXPECT_GT(third.high, 1.0 / 3);
  EXPECT_EQ(third.high - third.low, 0x1p-25);
  EXPECT_TRUE(Holds(third, 1.0f / 3.0f));
}

// What underflows is rounded, though the error of the operation is 0 in f64.
TEST(Interval, ProductsAndQuotientsThatUnderflowAreNoPoints) {
  const double tiny = 0x1p-1000, denormal = 0x1.8p-1060;
  for (const auto& [fn, x, y] : {std::tuple(ScalarFn::kMultiply, tiny, tiny),
                                 std::tuple(ScalarFn::kMultiply, denormal, 0x1.8p-5),
                                 std::tuple(ScalarFn::kDivide, tiny, 0x1p1000),
                                 std::tuple(ScalarFn::kDivide, denormal, 3.0)}) {
    const Interval pair[2] = {Interval::Point(x), Interval::Point(y)};
    const Interval result = Apply(fn, ElementType::kF64, pair);
    EXPECT_LE(result.low, 0);
    EXPECT_GT(result.high, 0);
  }
  const Interval zero[2] = {Interval::Point(0), Interval::Point(tiny)};
  EXPECT_TRUE(Apply(ScalarFn::kMultiply, ElementType::kF64, zero).IsPoint());
  EXPECT_TRUE(Apply(ScalarFn::kDivide, ElementType::kF64, zero).IsPoint());
}

// Every value that rounding to the type may give lies inside, through the whole range.
TEST(Interval, RoundingIsEnclosed) {
  std::mt19937_64 random(1);
  for (ElementType type : {ElementType::kBF16, ElementType::kF16, ElementType::kF8E4M3FN,
                           ElementType::kF8E5M2, kF32}) {
    for (int i = 0; i < 20000; ++i) {
      const double value = std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53,
                                      static_cast<int>(random() % 60) - 30);
      if (value > LargestFinite(type)) continue;
      const double rounded =
          type == kF32 ? static_cast<double>(static_cast<float>(value))
                       : static_cast<double>(FloatFromBits(type, BitsFromDouble(type, value)));
      if (!std::isfinite(rounded)) continue;
      EXPECT_TRUE(Holds(Rounded(type, Interval::Point(value)), rounded)) << value;
      EXPECT_TRUE(Holds(Rounded(type, Interval::Point(-value)), -rounded)) << value;
    }
  }
}

TEST(Interval, SumsInAnyOrderAreEnclosed) {
  std::mt19937_64 random(2);
  for (int n : {2, 7, 100}) {
    std::vector<float> terms;
    Interval sum;
    double size = 0;
    for (int i = 0; i < n; ++i) {
      terms.push_back(static_cast<float>(static_cast<int64_t>(random()) >> 20));
      sum = Add(sum, Interval::Point(static_cast<double>(terms.back())));
      size += std::fabs(static_cast<double>(terms.back()));
    }
    const Interval any = AnyOrderSum(kF32, sum, size, n, false);
    for (int trial = 0; trial < 100; ++trial) {
      std::shuffle(terms.begin(), terms.end(), random);
      float result = 0;
      for (float term : terms) result += term;
      EXPECT_TRUE(Holds(any, static_cast<double>(result)));
    }
    EXPECT_LT(any.high - any.low, 1e-4 * size);
  }
}

// Disjoint enclosures lie further apart than the bound for sums in any order, 2 (n - 1) u size + 2
// u |y| (Jeannerod and Rump 2013), so that no separate bound is needed.
TEST(Interval, EnclosuresIncludeTheBoundForSums) {
  std::mt19937_64 random(4);
  for (ElementType type : {kF32, ElementType::kBF16, ElementType::kF64}) {
    const double unit = std::ldexp(1, -PrecisionBits(type));
    for (int n : {2, 3, 8, 64}) {
      double sum = 0, size = 0;
      for (int i = 0; i < n; ++i) {
        const double term = static_cast<double>(static_cast<int64_t>(random()) >> 44);
        sum += term;
        size += std::fabs(term);
      }
      const Interval any = AnyOrderSum(type, Interval::Point(sum), size, n, false);
      const double bound = 2 * (n - 1) * unit * size + 2 * unit * std::fabs(sum);
      EXPECT_GE(2 * std::min(sum - any.low, any.high - sum), bound * (1 - 1e-9));
    }
  }
}

TEST(Interval, IntegerSumsAreExactWhileTheyFit) {
  EXPECT_TRUE(AnyOrderSum(kF32, Interval::Point(100), 100, 10, true).IsPoint());
  EXPECT_FALSE(AnyOrderSum(kF32, Interval::Point(0x1p24 + 2), 0x1p24 + 2, 10, true).IsPoint());
}

TEST(Interval, FunctionsEncloseTheirFloatVersions) {
  std::mt19937_64 random(3);
  constexpr ScalarFn kFunctions[] = {ScalarFn::kExp, ScalarFn::kTanh, ScalarFn::kLogistic,
                                     ScalarFn::kSin, ScalarFn::kErf};
  float (*const kFloats[])(float) = {
      [](float x) { return std::exp(x); }, [](float x) { return std::tanh(x); },
      [](float x) { return 1 / (1 + std::exp(-x)); }, [](float x) { return std::sin(x); },
      [](float x) { return std::erf(x); }};
  for (size_t f = 0; f < 5; ++f) {
    for (int i = 0; i < 1000; ++i) {
      const float x = static_cast<float>(static_cast<int64_t>(random()) >> 40) * 0x1p-21f;
      const Interval in[1] = {Interval::Point(static_cast<double>(x))};
      EXPECT_TRUE(Holds(Apply(kFunctions[f], kF32, in), static_cast<double>(kFloats[f](x)))) << x;
    }
  }
}

TEST(Interval, WhatIsUnknownIsEverything) {
  const Interval zero[2] = {Interval::Point(1), {-1, 1}};
  EXPECT_EQ(Apply(ScalarFn::kDivide, kF32, zero).low, -HUGE_VAL);
  const Interval negative[1] = {{-2, -1}};
  EXPECT_EQ(Apply(ScalarFn::kLog, kF32, negative).high, HUGE_VAL);
  EXPECT_FALSE(Interval::Everything().IsApartFrom(Interval::Point(0)));
  EXPECT_TRUE(Interval::Point(1).IsApartFrom(Interval::Point(2)));
}

}  // namespace
}  // namespace hv
