// Programs that hang on few truth values are decided by running all of them.
#include <gmock/gmock.h>

#include "tests/unit/verify/verdict_of.h"

namespace hv {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr char kOne[] = "num_partitions=1";
constexpr char kNine[] = "num_partitions=9";  // more truth values than the prover splits by
constexpr char kGroups[] =
    ", channel_id=1, replica_groups={{0,1,2,3,4,5,6,7,8}}, use_global_device_ids=true, to_apply=";
const std::string kBoth =
    "both { a = pred[] parameter(0) b = pred[] parameter(1) ROOT r = pred[] and(a, b) }\n"
    "isum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }\n";

// All set, by conjunction and by counting against `count`.
std::string Conjunction(const std::string& p) {
  return ModuleOf(kNine, p + "ROOT a = pred[1] all-reduce(p)" + kGroups + "both\n", kBoth);
}
std::string Count(const std::string& p, const std::string& count) {
  return ModuleOf(kNine,
                  p + "v = s32[1] convert(p)\n s = s32[1] all-reduce(v)" + kGroups +
                      "isum\n c = s32[] constant(" + count +
                      ")\n b = s32[1] broadcast(c), dimensions={}\n"
                      "ROOT e = pred[1] compare(s, b), direction=EQ\n",
                  kBoth);
}

TEST(TruthRuns, CountingTruthValuesIsProvedByRunningThemAll) {
  const std::string p = "p = pred[1] parameter(0)\n";
  const CaseReport r = VerdictOf(PairOf(Conjunction(p), Count(p, "9")));
  EXPECT_EQ(r.verdict, Verdict::kProved) << r.reason;
  EXPECT_EQ(r.level, Level::kBitwise);
  EXPECT_THAT(r.evidence, Contains(Field(&Evidence::detail, HasSubstr("all 512 assignments"))));
  EXPECT_EQ(VerdictOf(PairOf(Conjunction(p), Count(p, "1"))).verdict, Verdict::kRefuted);
}

// Of predicates of data codes are kept, and the chance that two of them collide.
TEST(TruthRuns, PredicatesOfDataAreTruthValues) {
  const std::string p =
      "x = f32[1] parameter(0)\n y = f32[1] parameter(1)\n p = pred[1] compare(x, y), "
      "direction=LT\n";
  const CaseReport r = VerdictOf(PairOf(Conjunction(p), Count(p, "9")));
  EXPECT_EQ(r.verdict, Verdict::kTested) << r.reason;
  ASSERT_TRUE(r.evidence.back().miss_bound);
  EXPECT_LT(*r.evidence.back().miss_bound, 1e-27);
  EXPECT_EQ(VerdictOf(PairOf(Conjunction(p), Count(p, "0"))).verdict, Verdict::kRefuted);
}

// An assignment that no input has refutes nothing: x < y and y < x are never both true.
TEST(TruthRuns, ImpossibleAssignmentsRefuteNothing) {
  const std::string xy =
      "x = s32[1] parameter(0)\n y = s32[1] parameter(1)\n p = pred[1] compare(x, y), "
      "direction=LT\n q = pred[1] compare(y, x), direction=LT\n";
  const CaseReport r = VerdictOf(kOne, xy + "ROOT r = pred[1] and(p, q)\n",
                                 xy + "f = pred[1] constant({false})\n t = pred[1] and(p, f)\n"
                                      "ROOT r = pred[1] and(t, q)\n");
  EXPECT_EQ(r.verdict, Verdict::kUnknown);
}

// A branch taken by data: codes cannot go on, every way is taken instead.
TEST(TruthRuns, BranchesTakenByData) {
  const std::string arms =
      "yes { a = f32[4] parameter(0) ROOT n = f32[4] negate(a) }\n"
      "no { b = f32[4] parameter(0) ROOT c = f32[4] exponential(b) }\n";
  const std::string head =
      "x = f32[4] parameter(0)\n s = f32[1] slice(x), slice={[0:1]}\n t = f32[] reshape(s)\n"
      "z = f32[] constant(0)\n p = pred[] compare(t, z), direction=GT\n";
  const std::string branch =
      ModuleOf(kOne,
               head +
                   "ROOT r = f32[4] conditional(p, x, x), true_computation=yes, "
                   "false_computation=no\n",
               arms);
  const auto select = [&](const std::string& yes, const std::string& no) {
    return ModuleOf(kOne,
                    head +
                        "n = f32[4] negate(x)\n e = f32[4] exponential(x)\n"
                        "q = pred[4] broadcast(p), dimensions={}\n"
                        "ROOT r = f32[4] select(q, " +
                        yes + ", " + no + ")\n",
                    arms);
  };
  const CaseReport r = VerdictOf(PairOf(branch, select("n", "e")));
  EXPECT_TRUE(r.as_expected) << ToString(r.verdict) << r.reason;
  EXPECT_EQ(VerdictOf(PairOf(branch, select("e", "n"))).verdict, Verdict::kRefuted);
}

TEST(TruthRuns, SmallIntegersAreEnumerated) {
  const std::string x = "x = s8[1] parameter(0)\n";
  // x * x mod 4 is x mod 2: true of all integers, and no rule says so.
  const std::string square =
      x + "m = s8[1] multiply(x, x)\n c = s8[1] constant({3})\n ROOT r = s8[1] and(m, c)\n";
  const std::string parity = x + "c = s8[1] constant({1})\n ROOT r = s8[1] and(x, c)\n";
  const CaseReport r = VerdictOf(kOne, square, parity);
  EXPECT_EQ(r.verdict, Verdict::kProved) << r.reason;
  EXPECT_EQ(r.reason, "every input was run");
  const std::string wrong = x + "c = s8[1] constant({3})\n ROOT r = s8[1] and(x, c)\n";
  EXPECT_EQ(VerdictOf(kOne, square, wrong).verdict, Verdict::kRefuted);
}

TEST(TruthRuns, TooManyTruthValuesStayOpen) {
  const auto all = [](const std::string& use) {
    return ModuleOf(kOne,
                    "x = f32[64] parameter(0)\n y = f32[64] parameter(1)\n p = pred[64] compare(x, "
                    "y), direction=LT\n" +
                        use,
                    kBoth);
  };
  const CaseReport r = VerdictOf(
      PairOf(all("t = pred[] constant(true)\n"
                 "ROOT r = pred[] reduce(p, t), dimensions={0}, to_apply=both\n"),
             all("v = s32[64] convert(p)\n z = s32[] constant(0)\n n = s32[] constant(64)\n"
                 "s = s32[] reduce(v, z), dimensions={0}, to_apply=isum\n"
                 "ROOT r = pred[] compare(s, n), direction=EQ\n")));
  EXPECT_EQ(r.verdict, Verdict::kUnknown) << r.reason;
}

}  // namespace
}  // namespace hv
