// What is assumed about inputs, and what is said about it: nothing first, then the module's claims;
// constants left out of the text; inputs on which the module before is undefined.
#include <gmock/gmock.h>

#include "tests/unit/verify/verdict_of.h"

namespace hv {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kOne[] = "num_partitions=1";
constexpr char kTwo[] = "num_partitions=2";
constexpr char kGroups[] =
    ", channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=";
const std::string kLargest =
    "largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n";

Scenario MaxOfReplicated(const std::string& sharding) {
  const std::string x = "x = f32[4] parameter(0)" + sharding + "\n";
  return PairOf(
      ModuleOf(kTwo, x + "ROOT a = f32[4] all-reduce(x)" + kGroups + "largest\n", kLargest),
      ModuleOf(kTwo, x + "ROOT c = f32[4] copy(x)\n", kLargest));
}

TEST(Assumptions, NothingFirst) {
  const CaseReport r = VerdictOf(MaxOfReplicated(""));
  EXPECT_EQ(r.verdict, Verdict::kRefuted);
  EXPECT_THAT(r.assumptions, IsEmpty());
}

TEST(Assumptions, ThenTheClaimsOfTheModule) {
  Scenario scenario = MaxOfReplicated(", sharding={replicated}");
  const CaseReport r = VerdictOf(scenario);
  EXPECT_EQ(r.verdict, Verdict::kProved) << r.reason;
  EXPECT_THAT(r.assumptions, ElementsAre(HasSubstr("parameter 0 (x) is equal")));
  scenario.ignore_claims = true;
  const CaseReport ignored = VerdictOf(scenario);
  EXPECT_EQ(ignored.verdict, Verdict::kRefuted);
  EXPECT_THAT(ignored.assumptions, IsEmpty());
}

// What is equal without claims is not said to hang on them.
TEST(Assumptions, ClaimsAreNotPrintedWhereTheyAreNotNeeded) {
  const std::string x = "x = f32[4] parameter(0), sharding={replicated}\n";
  const CaseReport r = VerdictOf(kTwo, x + "a = f32[4] negate(x)\n ROOT b = f32[4] negate(a)\n",
                                 x + "ROOT b = f32[4] copy(x)\n");
  EXPECT_EQ(r.verdict, Verdict::kProved);
  EXPECT_THAT(r.assumptions, IsEmpty());
}

// A counterexample obeys the claims: the devices hold equal values in it.
TEST(Assumptions, CounterexamplesObeyTheClaims) {
  const std::string x = "x = f32[4] parameter(0), sharding={replicated}\n";
  const CaseReport r = VerdictOf(kTwo, x + "ROOT a = f32[4] all-reduce(x)" + kGroups + "sum\n",
                                 x + "ROOT c = f32[4] copy(x)\n");
  ASSERT_EQ(r.verdict, Verdict::kRefuted);
  EXPECT_EQ(r.counterexample->before, "2");
  EXPECT_EQ(r.counterexample->after, "1");
  EXPECT_THAT(r.assumptions, ElementsAre(HasSubstr("parameter 0 (x) is equal")));
}

TEST(Assumptions, ReplicatedInputsOfTheScenario) {
  Scenario scenario = MaxOfReplicated("");
  scenario.inputs.replicated = {0};
  EXPECT_EQ(VerdictOf(scenario).verdict, Verdict::kProved);
  scenario.inputs.replicated = {1};
  EXPECT_EQ(VerdictOf(scenario).verdict, Verdict::kInvalid);
}

TEST(Assumptions, MinimumLevels) {
  const auto reduced = [](const std::string& groups) {
    return ModuleOf(kTwo,
                    "x = f32[4] parameter(0)\n ROOT a = f32[4] all-reduce(x), channel_id=1, "
                    "replica_groups=" +
                        groups +
                        ", use_global_device_ids=true, "
                        "to_apply=sum\n");
  };
  Scenario scenario = PairOf(reduced("{{0,1}}"), reduced("{{1,0}}"));
  EXPECT_TRUE(VerdictOf(scenario).as_expected);
  scenario.min_level = Level::kBitwise;
  EXPECT_THAT(VerdictOf(scenario).missed, HasSubstr("only at level reassociation"));
}

// Widened sums may be equal over the reals alone; narrowed ones miss.
TEST(Assumptions, WiderSumsLowerTheMinimum) {
  const std::string sum16 =
      "sum16 { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT r = bf16[] add(a, b) }\n";
  const std::string narrow =
      ModuleOf(kTwo,
               std::string("x = bf16[4] parameter(0)\n ROOT a = bf16[4] all-reduce(x)") + kGroups +
                   "sum16\n",
               sum16);
  const std::string wide =
      ModuleOf(kTwo, std::string("x = bf16[4] parameter(0)\n w = f32[4] convert(x)\n a = f32[4] "
                                 "all-reduce(w)") +
                         kGroups + "sum\n ROOT n = bf16[4] convert(a)\n");
  const CaseReport wider = VerdictOf(PairOf(narrow, wide));
  EXPECT_EQ(wider.precision, "wider");
  EXPECT_TRUE(wider.as_expected) << wider.missed;
  EXPECT_FALSE(VerdictOf(PairOf(wide, narrow)).as_expected);
}

// Drift is judged through what is computed from the values that drift.
TEST(Assumptions, DriftIsClosedUnderComputation) {
  const auto program = [](const std::string& sum, const std::string& use) {
    return "x = f32[4] parameter(0)\n r = f32[1,4] reshape(x)\n" + sum + use;
  };
  const std::string gathered =
      "g = f32[3,4] all-gather(r), channel_id=1, replica_groups={{0,1,2}}, "
      "use_global_device_ids=true, dimensions={0}\n";
  const std::string rotated =
      gathered +
      "gg = f32[6,4] concatenate(g, g), dimensions={0}\n p = u32[] partition-id()\n"
      "z = u32[] constant(0)\n o = f32[3,4] dynamic-slice(gg, p, z), dynamic_slice_sizes={3,4}\n"
      "c = f32[] constant(0)\n s = f32[4] reduce(o, c), dimensions={0}, to_apply=sum\n";
  const std::string unrotated =
      gathered + "c = f32[] constant(0)\n s = f32[4] reduce(g, c), dimensions={0}, to_apply=sum\n";
  const std::string reduced =
      "s = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1,2}}, "
      "use_global_device_ids=true, to_apply=sum\n";
  const std::string use = "t = f32[4] tanh(s)\n ROOT m = f32[4] multiply(t, t)\n";
  constexpr char kThree[] = "num_partitions=3";
  EXPECT_EQ(VerdictOf(kThree, program(reduced, use), program(rotated, use)).verdict,
            Verdict::kInconsistent);
  EXPECT_NE(VerdictOf(kThree, program(reduced, use), program(unrotated, use)).verdict,
            Verdict::kInconsistent);
}

TEST(Elided, ConstantsOfOneNameAreEqualByAssumption) {
  const std::string head = "x = f32[8] parameter(0)\n w = f32[8] constant({...})\n";
  const CaseReport proved =
      VerdictOf(kOne, head + "ROOT r = f32[8] add(x, w)\n", head + "ROOT r = f32[8] add(w, x)\n");
  EXPECT_EQ(proved.verdict, Verdict::kProved) << proved.reason;
  EXPECT_THAT(proved.assumptions, ElementsAre("elided constant w f32[8] is equal in both modules"));
  // Only the codes see this one: no rule of the prover is about sort.
  const auto sorted = [&](const std::string& operand) {
    return ModuleOf(kOne,
                    head + "s = f32[8] multiply(" + operand +
                        ")\n ROOT r = f32[8] sort(s), "
                        "dimensions={0}, to_apply=less\n",
                    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] "
                    "compare(a, b), direction=LT }\n");
  };
  Scenario scenario = PairOf(sorted("x, w"), sorted("w, x"));
  scenario.inputs.mode = Mode::kTest;
  const CaseReport tested = VerdictOf(scenario);
  EXPECT_EQ(tested.verdict, Verdict::kTested) << tested.reason;
  EXPECT_THAT(tested.assumptions, ElementsAre(HasSubstr("elided constant w")));
}

TEST(Elided, UnmatchedConstantsAreUnknownAndSaidSo) {
  const std::string x = "x = f32[8] parameter(0)\n";
  const std::string use = "ROOT r = f32[8] add(x, w)\n";
  for (const std::string& other :
       {std::string("w = f32[8] constant({1,2,3,4,5,6,7,8})\n"),
        std::string(
            "v = f32[4] constant({...})\n w = f32[8] concatenate(v, v), dimensions={0}\n")}) {
    const CaseReport r = VerdictOf(kOne, x + "w = f32[8] constant({...})\n" + use, x + other + use);
    EXPECT_EQ(r.verdict, Verdict::kUnknown);
    EXPECT_TRUE(r.unsupported);
    EXPECT_THAT(r.reason, HasSubstr("constant w f32[8] of the module before is elided"));
    EXPECT_THAT(r.reason, HasSubstr("xla_dump_large_constants"));
  }
}

// Text that is the same but for the names: not the same constants.
TEST(Elided, NamesTellElidedConstantsApart) {
  const auto program = [](const std::string& name) {
    return "x = f32[8] parameter(0)\n " + name +
           " = f32[8] constant({...})\n ROOT r = f32[8] add(x, " + name + ")\n";
  };
  EXPECT_EQ(VerdictOf(kOne, program("w"), program("w")).verdict, Verdict::kProved);
  EXPECT_EQ(VerdictOf(kOne, program("w"), program("v")).verdict, Verdict::kUnknown);
}

// A function nobody knows, moved across a sum: a suspicion that cannot be confirmed.
TEST(Unsupported, CustomCallMovedAcrossASum) {
  const std::string x = "x = f32[4] parameter(0)\n";
  const std::string call = " = f32[4] custom-call(";
  const std::string target = "), custom_call_target=\"mystery\"\n";
  const CaseReport r = VerdictOf(
      kTwo, x + "f" + call + "x" + target + "ROOT a = f32[4] all-reduce(f)" + kGroups + "sum\n",
      x + "a = f32[4] all-reduce(x)" + kGroups + "sum\n ROOT f" + call + "a" + target);
  EXPECT_EQ(r.verdict, Verdict::kUnknown);
  EXPECT_TRUE(r.unsupported);
  EXPECT_THAT(r.reason, HasSubstr("mystery"));
}

// Offsets that reach beyond the buffers: no evidence against a rewrite, and none for it.
TEST(Discarded, InputsOnWhichBeforeIsUndefined) {
  const std::string ragged =
      ModuleOf(kTwo,
               "x = f32[4] parameter(0)\n o = f32[4] parameter(1)\n i = s32[2] parameter(2)\n"
               "n = s32[2] parameter(3)\n j = s32[2] parameter(4)\n m = s32[2] parameter(5)\n"
               "ROOT r = f32[4] ragged-all-to-all(x, o, i, n, j, m), channel_id=1, "
               "replica_groups={{0,1}}\n");
  Scenario scenario = PairOf(ragged, ragged);
  scenario.inputs.mode = Mode::kTest;
  const CaseReport some = VerdictOf(scenario);
  EXPECT_EQ(some.verdict, Verdict::kTested) << some.reason;
  EXPECT_THAT(some.notes, Contains(HasSubstr("runs discarded")));
  scenario.inputs.ranges = {{"j", 100, 200}};
  const CaseReport none = VerdictOf(scenario);
  EXPECT_EQ(none.verdict, Verdict::kUnknown);
  EXPECT_EQ(none.reason, "the module before is undefined on every input tried");
  EXPECT_THAT(none.assumptions, Contains(HasSubstr("parameter 4 decides control")));
}

}  // namespace
}  // namespace hv
