// Ops with an evaluator of their own where the recorded cases have none: ragged and scaled dots,
// scan, stochastic-convert, factorisations, physical bitcasts, custom calls, hidden random states.
#include <gtest/gtest.h>

#include <cmath>
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

TEST(MixedWidths, BatchNormTakesTheTypeOfItsFirstOperand) {
  const auto inference = [](const std::string& type, const std::string& result) {
    return EvaluateText("  x = " + type +
                        "[1,2] constant({{1.5, 2}})\n"
                        "  v = f32[2] constant({1, 4})\n  z = f32[2] constant({0, 1})\n"
                        "  ROOT r = " +
                        result +
                        "[1,2] batch-norm-inference(x, v, z, z, v), "
                        "epsilon=0, feature_index=1");
  };
  EXPECT_EQ(inference("f64", "f32"), inference("f32", "f32"));
}

TEST(MixedWidths, ElementwiseOpsTakeTheTypeOfTheResult) {
  const std::string operands =
      "  x = f64[2] constant({1.5, -2})\n  y = f32[2] constant({3, 4})\n"
      "  p = pred[2] constant({true, false})\n"
      "  q = pred[] constant(true)\n";
  EXPECT_EQ(EvaluateText(operands + "  ROOT r = f32[2] negate(x)"), "{-1.5, 2}");
  EXPECT_EQ(EvaluateText(operands + "  ROOT r = f64[2] negate(y)"), "{-3, -4}");
  EXPECT_EQ(EvaluateText(operands + "  ROOT r = f32[2] select(p, x, y)"), "{1.5, 4}");
  EXPECT_EQ(EvaluateText(operands + "  ROOT r = f32[2] select(q, x, y)"), "{1.5, -2}");
}

TEST(MixedWidths, SelectAndScatterTakesTheTypeOfTheResult) {
  EXPECT_EQ(EvaluateText("  x = f64[4] constant({1, 3, 5, 2})\n"
                         "  s = f64[2] constant({10, 20})\n  z = f32[] constant(0)\n"
                         "  ROOT r = f32[4] select-and-scatter(x, s, z), window={size=2 stride=2}, "
                         "select=ge, scatter=add",
                         "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                         " ROOT c = f32[] add(a, b) }\n"
                         "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                         " ROOT c = pred[] compare(a, b), direction=GE }"),
            "{0, 10, 20, 0}");
}

TEST(MixedWidths, MapRoundsToWhatItsComputationTakes) {
  EXPECT_EQ(EvaluateText("  x = f32[3] constant({-85, 1, 2})\n"
                         "  ROOT r = f32[3] map(x), dimensions={0}, to_apply=same",
                         "same { p = f8e5m2[] parameter(0)\n ROOT n = f8e5m2[] negate(p) }"),
            "{80, -1, -2}");
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

TEST(CustomCall, TargetsWithAMeaning) {
  EXPECT_EQ(EvaluateText("  x = s32[2,4] constant({{1, 2, 3, 4}, {5, 6, 7, 8}})\n"
                         "  ROOT r = s32[2,4] custom-call(x), "
                         "custom_call_target=\"_SPMDInternalOp_RotateRight\", "
                         "backend_config=\"dimension=1,amount=3\""),
            "{ { 2, 3, 4, 1 }, { 6, 7, 8, 5 } }");
  EXPECT_EQ(EvaluateText("  x = s64[2] constant({-1, 4294967298})\n"
                         "  l = u32[2] custom-call(x), custom_call_target=\"X64SplitLow\"\n"
                         "  h = u32[2] custom-call(x), custom_call_target=\"X64SplitHigh\"\n"
                         "  y = s64[2] custom-call(l, h), custom_call_target=\"X64Combine\"\n"
                         "  ROOT r = (u32[2], u32[2], s64[2]) tuple(l, h, y)"),
            "({4294967295, 2}, {4294967295, 1}, {-1, 4294967298})");
  EXPECT_EQ(EvaluateText("  x = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})\n"
                         "  ROOT r = (f32[2,3], s32[], s32[]) custom-call(x), "
                         "custom_call_target=\"PadToStatic\""),
            "({ { 1, 2, 3 }, { 4, 5, 6 } }, 2, 3)");
  EXPECT_EQ(EvaluateText("  ROOT r = f32[2] custom-call(), custom_call_target=\"AllocateBuffer\""),
            "{0, 0}");
  EXPECT_EQ(EvaluateText("  x = f32[2] constant({1, 2})\n"
                         "  g = () custom-call(x), custom_call_target=\"xla.sdy.ShardingGroup\", "
                         "custom_call_has_side_effect=true\n"
                         "  ROOT r = f32[2] copy(x)"),
            "{1, 2}");
}

TEST(CustomCall, OthersAreRefusedByName) {
  EXPECT_EQ(EvaluateText("  x = f32[2] constant({1, 2})\n"
                         "  ROOT r = f32[2] custom-call(x), custom_call_target=\"foo\""),
            "error: custom-call: target \"foo\" (--custom-call=foo=module.hlo says what it is)");
  EXPECT_EQ(EvaluateText("  x = f32[2] constant({1, 2})\n"
                         "  ROOT r = f32[1] custom-call(x), "
                         "custom_call_target=\"SPMDFullToShardShape\""),
            "error: custom-call: target \"SPMDFullToShardShape\" of a module that is not "
            "partitioned yet");
}

TEST(Refused, WithTheReason) {
  EXPECT_EQ(EvaluateText("  t = token[] after-all()\n"
                         "  ROOT r = (f32[2], token[]) infeed(t)"),
            "error: infeed: needs a host");
  EXPECT_EQ(EvaluateText("  a = f32[] constant(0)\n"
                         "  ROOT r = f32[4] rng(a, a), distribution=rng_uniform"),
            "error: rng: random numbers of a hidden state, which rewrites may draw otherwise");
  EXPECT_EQ(EvaluateText("  a = c64[] constant((1, 2))\n  ROOT r = f32[] convert(a)"),
            "error: convert: c64 to f32 would drop the imaginary part");
  EXPECT_EQ(EvaluateText("  x = f32[4] constant({1, 2, 3, 4})\n  n = s32[] constant(3)\n"
                         "  ROOT r = f32[<=4] set-dimension-size(x, n), dimensions={0}"),
            "error: set-dimension-size: a size that differs from its bound");
}

// The results of running one module `times` on a domain that owns a hidden state.
struct Drawn {
  Module module;  // has the shapes
  std::vector<Value> results;
  const Value& operator[](size_t i) const { return results[i]; }
};
Drawn Draw(const std::string& body, uint64_t seed, int times) {
  Drawn drawn{Parse(body), {}};
  const auto domain = MakeNativeDomain(seed);
  for (int i = 0; i < times; ++i) drawn.results.push_back(*Evaluate(*domain, drawn.module, {}));
  return drawn;
}

const std::string kUniform =
    "  a = f32[] constant(-2)\n  b = f32[] constant(3)\n"
    "  ROOT r = f32[20000] rng(a, b), distribution=rng_uniform";

TEST(HiddenState, SeededAndMovingOn) {
  const Drawn first = Draw(kUniform, 1, 2), again = Draw(kUniform, 1, 2);
  EXPECT_TRUE(SameBits(first[0], again[0]));
  EXPECT_TRUE(SameBits(first[1], again[1]));
  EXPECT_FALSE(SameBits(first[0], first[1]));
  const Drawn other = Draw(kUniform, 2, 1);
  EXPECT_FALSE(SameBits(first[0], other[0]));
}

TEST(HiddenState, Distributions) {
  const auto moments = [](const Value& v) {
    double sum = 0, squares = 0;
    for (const float x : v.As<float>()) sum += x, squares += double{x} * x;
    const auto n = static_cast<double>(v.element_count());
    return std::pair{sum / n, std::sqrt(squares / n - sum / n * sum / n)};
  };
  const Drawn uniform = Draw(kUniform, 3, 1);
  for (const float x : uniform[0].As<float>()) EXPECT_TRUE(x >= -2 && x < 3) << x;
  EXPECT_NEAR(moments(uniform[0]).first, 0.5, 0.05);
  EXPECT_NEAR(moments(uniform[0]).second, 5 / std::sqrt(12.0), 0.05);
  const Drawn normal = Draw(
      "  a = f32[] constant(1)\n  b = f32[] constant(2)\n"
      "  ROOT r = f32[20000] rng(a, b), distribution=rng_normal",
      3, 1);
  EXPECT_NEAR(moments(normal[0]).first, 1, 0.1);
  EXPECT_NEAR(moments(normal[0]).second, 2, 0.1);
  const Drawn dice = Draw(
      "  a = s8[] constant(-1)\n  b = s8[] constant(2)\n"
      "  ROOT r = s8[200] rng(a, b), distribution=rng_uniform",
      3, 1);
  int count[3] = {};
  for (const int8_t x : dice[0].As<int8_t>()) {
    ASSERT_TRUE(x >= -1 && x < 2);
    ++count[x + 1];
  }
  for (const int c : count) EXPECT_GT(c, 30);
}

TEST(HiddenState, CountsFromXlasFirstState) {
  const Drawn states = Draw("  ROOT r = u64[2] rng-get-and-update-state(), delta=4", 9, 2);
  EXPECT_EQ(TextOf(states[0]), "{117515157, 0}");
  EXPECT_EQ(TextOf(states[1]), "{117515161, 0}");
}

}  // namespace
}  // namespace hv::test
