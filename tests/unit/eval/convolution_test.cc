// Convolution by tiles against the plain order of the language, bit for bit.
#include "eval/convolution.h"

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "hlo/parser.h"

namespace hv {
namespace {

template <class T>
Value Numbers(const Shape* shape, int step) {
  Value value = Value::NewNative(shape);
  int64_t number = 1;
  for (T& v : value.MutableAs<T>()) {
    number = number * step % 1009;
    v = static_cast<T>(number - 500) / T{7};
  }
  return value;
}

template <class T>
void MultiplyAdd(const std::byte* factor, const std::byte* row, std::byte* sums, size_t count) {
  const T f = *reinterpret_cast<const T*>(factor);
  for (size_t i = 0; i < count; ++i) {
    reinterpret_cast<T*>(sums)[i] += f * reinterpret_cast<const T*>(row)[i];
  }
}

template <class T>
void CheckTiles(const std::string& type, const std::string& operands,
                const std::string& attributes) {
  const size_t cut = operands.find(' '), end = operands.rfind(' ');
  const Result<Module> module = ParseModule(
      "c.hlo", "HloModule m\nENTRY e {\n  x = " + type + operands.substr(0, cut) +
                   " parameter(0)\n  w = " + type + operands.substr(cut + 1, end - cut - 1) +
                   " parameter(1)\n  ROOT r = " + type + operands.substr(end + 1) +
                   " convolution(x, w), " + attributes + "\n}\n");
  ASSERT_TRUE(module.has_value()) << FormatError(module.error());
  const Computation& entry = module->Entry();
  const Instruction& root = entry.Root();
  const Value lhs = Numbers<T>(entry.At(root.operands[0]).shape, 31);
  const Value rhs = Numbers<T>(entry.At(root.operands[1]).shape, 37);
  const ArrangedConvolution x(root, root.shape, lhs, rhs);
  const Value expected = ConvolveWith(x, MultiplyAdd<T>);
  EXPECT_TRUE(SameBits(ConvolveByTiles(x), expected)) << attributes;
  SetThreadCount(2);
  EXPECT_TRUE(SameBits(ConvolveByTiles(x), expected)) << attributes;
  SetThreadCount(1);
}

// Shapes of input, kernel and result, and the attributes.
constexpr const char* kConvolutions[][2] = {
    {"[3,11,30,5] [3,3,5,35] [3,11,30,35]",
     "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"},
    {"[2,6,17,13] [20,6,3,2] [2,20,8,12]",
     "window={size=3x2 stride=2x1}, dim_labels=bf01_oi01->bf01"},
    {"[2,9,7,4] [2,3,4,6] [2,14,13,6]",
     "window={size=2x3 pad=-1_-2x1_1 lhs_dilate=2x2 rhs_reversal=0x1}, "
     "dim_labels=b01f_01io->b01f"},
    {"[2,20,3] [5,3,2] [2,12,2]", "window={size=5 rhs_dilate=2}, dim_labels=b0f_0io->b0f"},
    {"[2,8,8,12] [3,3,4,30] [2,6,6,30]",
     "window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=3"},
    {"[2,8,9,70] [3,3,1,70] [2,8,9,70]",
     "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=70"},
    {"[6,5,5,4] [2,2,4,9] [2,4,4,9]",
     "window={size=2x2}, dim_labels=b01f_01io->b01f, batch_group_count=3"},
    {"[2,3,4] [9,4,5] [2,7,5]", "window={size=9 pad=6_6}, dim_labels=b0f_0io->b0f"},
    {"[5,4] [4,6] [5,6]", "dim_labels=bf_io->bf"},
    {"[2,0,4] [2,4,5] [2,3,5]", "window={size=2 pad=2_2}, dim_labels=b0f_0io->b0f"},
};

TEST(Convolution, TilesGiveTheBitsOfTheLanguage) {
  for (const auto& [operands, attributes] : kConvolutions) {
    CheckTiles<float>("f32", operands, attributes);
    CheckTiles<double>("f64", operands, attributes);
    CheckTiles<uint64_t>("u64", operands, attributes);
  }
}

}  // namespace
}  // namespace hv
