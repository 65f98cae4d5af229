// What only integers at the ends of their type show: wrapping, clamping, indices that are negative.
#include <gtest/gtest.h>

#include "tests/unit/verify/verdict_of.h"

namespace hv {
namespace {

struct Wrong {
  const char* name;
  const char* before;
  const char* after;
};

constexpr Wrong kWrong[] = {
    {"AddsThatDoNotWrap",
     "x = s32[4] parameter(0) o = s32[] constant(1) b = s32[4] broadcast(o), dimensions={}\n"
     "y = s32[4] add(x, b) ROOT r = s32[4] minimum(x, y)\n",
     "x = s32[4] parameter(0) ROOT r = s32[4] copy(x)\n"},
    {"WindowsThatEndEarly",
     "x = f32[100] parameter(0) i = s32[] parameter(1)\n"
     "ROOT r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}\n",
     "x = f32[100] parameter(0) i = s32[] parameter(1) c = s32[] constant(98)\n"
     "j = s32[] minimum(i, c) ROOT r = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}\n"},
    {"NegativeIndicesAsLargeOnes",
     "x = f32[100] parameter(0) i = s32[] parameter(1)\n"
     "ROOT r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}\n",
     "x = f32[100] parameter(0) i = s32[] parameter(1) j = u32[] convert(i)\n"
     "ROOT r = f32[1] dynamic-slice(x, j), dynamic_slice_sizes={1}\n"},
    {"SignedAsUnsigned",
     "x = s8[4] parameter(0) c = s8[] constant(3) b = s8[4] broadcast(c), dimensions={}\n"
     "ROOT r = s8[4] shift-right-arithmetic(x, b)\n",
     "x = s8[4] parameter(0) c = s8[] constant(3) b = s8[4] broadcast(c), dimensions={}\n"
     "ROOT r = s8[4] shift-right-logical(x, b)\n"}};

class Extremes : public ::testing::TestWithParam<Wrong> {};

TEST_P(Extremes, AreRefuted) {
  const CaseReport r = VerdictOf("num_partitions=2", GetParam().before, GetParam().after);
  EXPECT_EQ(r.verdict, Verdict::kRefuted) << r.reason;
  EXPECT_TRUE(r.counterexample.has_value());
}

INSTANTIATE_TEST_SUITE_P(All, Extremes, ::testing::ValuesIn(kWrong),
                         [](const auto& test) { return std::string(test.param.name); });

// Equal at the ends of the type too.
TEST(ExtremesTest, WrappingIsNoDifference) {
  const CaseReport r = VerdictOf(
      "num_partitions=2", "x = s8[4] parameter(0) ROOT r = s8[4] abs(x)\n",
      "x = s8[4] parameter(0) n = s8[4] negate(x) ROOT r = s8[4] maximum(x, n)\n");
  EXPECT_NE(r.verdict, Verdict::kRefuted);
}

}  // namespace
}  // namespace hv
