// Differences that codes suspect and that only some inputs show natively.
#include <gtest/gtest.h>

#include "verdict_of.h"

namespace hv {
namespace {

std::string ReduceTwice(const std::string& fn, const std::string& first,
                        const std::string& second) {
  const std::string attributes = ", use_global_device_ids=true, to_apply=" + fn + "\n";
  return "HloModule m, num_partitions=6\n" + fn +
         " {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] " + fn +
         "(a, b)\n}\nENTRY e {\n  x = f32[3] parameter(0)\n"
         "  y = f32[3] all-reduce(x), channel_id=1, replica_groups=" +
         first + attributes + "  ROOT z = f32[3] all-reduce(y), channel_id=2, replica_groups=" +
         second + attributes + "}\n";
}

// The codes of a maximum of maxima differ even without inputs.
TEST(Counterexample, AMemberMissingFromAMaximum) {
  const CaseReport report =
      VerdictOf(PairOf(ReduceTwice("maximum", "{{0,1,2,3,4,5}}", "{{0},{1},{2},{3},{4},{5}}"),
                 ReduceTwice("maximum", "{{5},{0,2,4},{3,1}}", "{{5,0,3},{4,2,1}}")));
  EXPECT_EQ(report.verdict, Verdict::kRefuted) << report.reason;
}

TEST(Counterexample, AFactorMissingFromAProduct) {
  const CaseReport report =
      VerdictOf(PairOf(ReduceTwice("multiply", "{{0,1,2},{3,4,5}}", "{{0,3},{1,4},{2,5}}"),
                 ReduceTwice("multiply", "{{0,1,2},{3,4,5}}", "{{0,3},{1,4},{2},{5}}")));
  EXPECT_EQ(report.verdict, Verdict::kRefuted) << report.reason;
}

TEST(Counterexample, ScatteredSumsOfFloats) {
  const auto module = [](const std::string& rows) {
    return R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,2] parameter(0)
  u = f32[3,2] parameter(1)
  i = s32[3] constant()" + rows + R"()
  s = f32[4,2] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT r = f32[4,2] multiply(s, s)
})";
  };
  const CaseReport report = VerdictOf(PairOf(module("{0,1,1}"), module("{0,1,2}")));
  EXPECT_EQ(report.verdict, Verdict::kRefuted) << report.reason;
}

}  // namespace
}  // namespace hv
