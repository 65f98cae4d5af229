// Ops with an evaluator of their own where the recorded cases have none: ragged and scaled dots,
// scan, stochastic-convert, factorisations, physical bitcasts.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/eval/evaluate_text.h"

namespace hv::test {
namespace {

TEST(RaggedDot, RowsTakeTheirGroupsMatrix) {
  EXPECT_EQ(EvaluateText("  x = s32[4,1] constant({{1}, {2}, {3}, {4}})\n"
                         "  y = s32[3,1,2] constant({{{1, 10}}, {{100, 1000}}, {{5, 7}}})\n"
                         "  g = s32[3] constant({1, 0, 2})\n"
                         "  ROOT r = s32[4,2] ragged-dot(x, y, g), lhs_contracting_dims={1}, "
                         "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"),
            "{ { 1, 10 }, { 10, 14 }, { 15, 21 }, { 0, 0 } }");
}

TEST(RaggedDot, SumsSplitByGroup) {
  EXPECT_EQ(EvaluateText("  x = s32[1,4] constant({{1, 2, 3, 4}})\n"
                         "  y = s32[4,1] constant({{1}, {1}, {10}, {10}})\n"
                         "  g = s32[2] constant({3, 1})\n"
                         "  ROOT r = s32[2,1,1] ragged-dot(x, y, g), lhs_contracting_dims={1}, "
                         "rhs_contracting_dims={0}, lhs_ragged_dims={1}"),
            "{ { { 33 } }, { { 40 } } }");
}

TEST(RaggedDot, BatchEntriesBeyondTheGroupsAreZero) {
  EXPECT_EQ(EvaluateText("  x = s32[3,1] constant({{1}, {2}, {3}})\n"
                         "  y = s32[3,1] constant({{5}, {6}, {7}})\n"
                         "  g = s32[2] constant({1, 1})\n"
                         "  ROOT r = s32[3] ragged-dot(x, y, g), lhs_batch_dims={0}, "
                         "rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
                         "lhs_ragged_dims={0}"),
            "{5, 12, 0}");
}

TEST(ScaledDot, ScalesApplyToBlocks) {
  EXPECT_EQ(EvaluateText("  x = f8e4m3fn[1,4] constant({{1, 2, 3, 4}})\n"
                         "  y = f8e4m3fn[1,4] constant({{1, 1, 1, 1}})\n"
                         "  s = f8e8m0fnu[1,2] constant({{2, 4}})\n"
                         "  t = f8e8m0fnu[1,1] constant({{8}})\n"
                         "  ROOT r = f32[1,1] scaled-dot(x, y, s, t), lhs_contracting_dims={1}, "
                         "rhs_contracting_dims={1}"),
            "{ { 272 } }");
}

const std::string kRunningSum =
    "step { x = s32[2] parameter(0)\n c = s32[2] parameter(1)\n s = s32[2] add(x, c)\n"
    " ROOT t = (s32[2], s32[2]) tuple(s, s) }";

TEST(Scan, StacksOutputsAndHandsCarriesOn) {
  const auto scan = [](const std::string& more) {
    return EvaluateText(
        "  x = s32[2,3] constant({{1, 2, 3}, {10, 20, 30}})\n"
        "  z = s32[2] constant({100, 0})\n"
        "  ROOT r = (s32[2,3], s32[2]) scan(x, z), dimensions={1}, "
        "num_carries=1" +
            more + ", to_apply=step",
        kRunningSum);
  };
  EXPECT_EQ(scan(""), "({ { 101, 103, 106 }, { 10, 30, 60 } }, {106, 60})");
  EXPECT_EQ(scan(", is_reverse=true"), "({ { 106, 105, 103 }, { 60, 50, 30 } }, {106, 60})");
}

TEST(StochasticConvert, RoundsUpByTheRandomBits) {
  EXPECT_EQ(EvaluateText("  x = f32[5] constant({1.5, 1.5, -2.25, nan, 1e9})\n"
                         "  r = u32[5] constant({2147483647, 2147483648, 0, 0, 0})\n"
                         "  ROOT y = s8[5] stochastic-convert(x, r)"),
            "{2, 1, -3, 0, 127}");
}

TEST(Cholesky, ReadsOneTriangle) {
  EXPECT_EQ(EvaluateText("  a = f32[2,2] constant({{4, 99}, {2, 5}})\n"
                         "  ROOT l = f32[2,2] cholesky(a), lower=true"),
            "{ { 2, 0 }, { 1, 2 } }");
  EXPECT_EQ(EvaluateText("  a = f32[2,2] constant({{4, 2}, {99, 5}})\n"
                         "  ROOT u = f32[2,2] cholesky(a), lower=false"),
            "{ { 2, 1 }, { 0, 2 } }");
  EXPECT_EQ(EvaluateText("  a = f32[2,2] constant({{1, 0}, {0, -1}})\n"
                         "  ROOT l = f32[2,2] cholesky(a), lower=true"),
            "{ { nan, nan }, { nan, nan } }");
}

TEST(BatchNorm, Inference) {
  EXPECT_EQ(EvaluateText("  x = f32[2,2] constant({{1, 2}, {3, 4}})\n"
                         "  s = f32[2] constant({2, 1})\n  o = f32[2] constant({10, 20})\n"
                         "  m = f32[2] constant({1, 2})\n  v = f32[2] constant({4, 0.75})\n"
                         "  ROOT r = f32[2,2] batch-norm-inference(x, s, o, m, v), epsilon=0, "
                         "feature_index=1"),
            EvaluateText("  ROOT r = f32[2,2] constant({{10, 20}, {12, 22.309402}})"));
}

TEST(Bitcast, ThroughMemoryWhereLayoutsDoNotFactor) {
  EXPECT_EQ(EvaluateText("  x = s32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})\n"
                         "  ROOT r = s32[3,2]{0,1} bitcast(x)"),
            "{ { 1, 5 }, { 4, 3 }, { 2, 6 } }");
  EXPECT_EQ(EvaluateText("  x = u16[2]{0} constant({513, 1027})\n"
                         "  ROOT r = u8[4]{0} bitcast(x)"),
            "{1, 2, 3, 4}");
}

TEST(RandomBits, OddSplitDimensionsDropTheSurplus) {
  // 32-bit words come in pairs along the split dimension; an odd one loses its last word.
  const std::string four = EvaluateText(
      "  s = u64[2] constant({1, 7})\n"
      "  ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry");
  const std::string three = EvaluateText(
      "  s = u64[2] constant({1, 7})\n"
      "  ROOT r = (u64[2], u32[3]) rng-bit-generator(s), algorithm=rng_three_fry");
  EXPECT_EQ(three, four.substr(0, four.rfind(',')) + "})");
}

TEST(Conditional, PredTrueIsTheTrueComputationHoweverWritten) {
  EXPECT_EQ(EvaluateText("  p = pred[] constant(true)\n  x = s32[] constant(5)\n"
                         "  ROOT r = s32[] conditional(p, x, x), false_computation=no, "
                         "true_computation=yes",
                         "yes { a = s32[] parameter(0)\n ROOT n = s32[] negate(a) }\n"
                         "no { ROOT a = s32[] parameter(0) }"),
            "-5");
}

}  // namespace
}  // namespace hv::test
