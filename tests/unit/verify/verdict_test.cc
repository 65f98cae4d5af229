// Whole verdicts on small pairs: each row of the deciding table, and what is shown with it.
#include <gmock/gmock.h>

#include "tests/unit/verify/verdict_of.h"

namespace hv {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr char kTwo[] = "num_partitions=2";

TEST(Verdict, SameSummandsAreProvedAtReassociation) {
  const CaseReport r = VerdictOf(
      kTwo,
      "x = f32[2] parameter(0)\n a = f32[2] all-reduce(x), channel_id=1, replica_groups={{0,1}}, "
      "use_global_device_ids=true, to_apply=sum\n p = u32[] partition-id()\n"
      "ROOT d = f32[1] dynamic-slice(a, p), dynamic_slice_sizes={1}\n",
      "x = f32[2] parameter(0)\n ROOT d = f32[1] reduce-scatter(x), channel_id=1, "
      "replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}, to_apply=sum\n");
  EXPECT_EQ(r.verdict, Verdict::kProved);
  EXPECT_EQ(r.level, Level::kReassociation);
  EXPECT_TRUE(r.as_expected);
}

TEST(Verdict, MissingSummandIsRefutedByOneElement) {
  const std::string tail =
      ", use_global_device_ids=true, to_apply=sum\n ROOT n = f32[4] negate(a)\n";
  const CaseReport r = VerdictOf(
      kTwo,
      "x = f32[4] parameter(0)\n a = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}" +
          tail,
      "x = f32[4] parameter(0)\n a = f32[4] all-reduce(x), channel_id=1, "
      "replica_groups={{0},{1}}" +
          tail);
  ASSERT_EQ(r.verdict, Verdict::kRefuted);
  const Counterexample& c = *r.counterexample;
  ASSERT_EQ(c.elements.size(), 1u);
  EXPECT_EQ(c.elements[0].value, "1");
  EXPECT_EQ(c.inputs, "every element is 0 but for these");
  EXPECT_EQ(c.explanation, "device 0,0 misses the contribution of device 0,1");
  EXPECT_THAT(c.first_diverging_after, HasSubstr("all-reduce"));
  EXPECT_THAT(r.evidence, Contains(Field(&Evidence::detail, HasSubstr("across all ranks"))));
}

// x / 12 and x * fl(1/12) differ over the reals by less than rounding shows: never REFUTED.
TEST(Verdict, RoundedConstantIsProvedAtLevelReal) {
  const CaseReport r = VerdictOf(kTwo,
                                 "x = f32[4] parameter(0)\n c = f32[] constant(12)\n"
                                 "b = f32[4] broadcast(c), dimensions={}\n"
                                 "ROOT d = f32[4] divide(x, b)\n",
                                 "x = f32[4] parameter(0)\n c = f32[] constant(0.0833333358)\n"
                                 "b = f32[4] broadcast(c), dimensions={}\n"
                                 "ROOT d = f32[4] multiply(x, b)\n");
  EXPECT_EQ(r.verdict, Verdict::kProved);
  EXPECT_EQ(r.level, Level::kReal);
  EXPECT_FALSE(r.as_expected);  // below the default minimum level
}

TEST(Verdict, UnnamedDifferenceBelowRoundingIsUnknown) {
  const CaseReport r = VerdictOf(kTwo,
                                 "x = f32[4] parameter(0)\n c = f32[] constant(1)\n"
                                 "b = f32[4] broadcast(c), dimensions={}\n"
                                 "ROOT d = f32[4] multiply(x, b)\n",
                                 "x = f32[4] parameter(0)\n c = f32[] constant(1.0000001)\n"
                                 "b = f32[4] broadcast(c), dimensions={}\n"
                                 "ROOT d = f32[4] multiply(x, b)\n");
  EXPECT_NE(r.verdict, Verdict::kProved);
  EXPECT_NE(r.verdict, Verdict::kTested);
}

TEST(Verdict, NonLinearDifferenceIsRefutedByDisjointEnclosures) {
  const std::string head = "x = f32[4] parameter(0)\n t = f32[4] exponential(x)\n";
  const std::string tail =
      ", use_global_device_ids=true, to_apply=sum\n"
      "ROOT l = f32[4] log(a)\n";
  const CaseReport r = VerdictOf(
      kTwo, head + "a = f32[4] all-reduce(t), channel_id=1, replica_groups={{0,1}}" + tail,
      head + "a = f32[4] all-reduce(t), channel_id=1, replica_groups={{0},{1}}" + tail);
  EXPECT_EQ(r.verdict, Verdict::kRefuted);
}

// Each device adds the gathered values starting with its own: the sums drift apart in the last
// bits.
TEST(Verdict, RotatedLocalSumsAreInconsistent) {
  const std::string rotated =
      "x = f32[4] parameter(0)\n r = f32[1,4] reshape(x)\n"
      "g = f32[3,4] all-gather(r), channel_id=1, replica_groups={{0,1,2}}, "
      "use_global_device_ids=true, dimensions={0}\n"
      "gg = f32[6,4] concatenate(g, g), dimensions={0}\n p = u32[] partition-id()\n"
      "z = u32[] constant(0)\n o = f32[3,4] dynamic-slice(gg, p, z), dynamic_slice_sizes={3,4}\n"
      "c = f32[] constant(0)\n ROOT s = f32[4] reduce(o, c), dimensions={0}, to_apply=sum\n";
  const CaseReport r =
      VerdictOf("num_partitions=3",
                "x = f32[4] parameter(0)\n ROOT a = f32[4] all-reduce(x), channel_id=1, "
                "replica_groups={{0,1,2}}, use_global_device_ids=true, to_apply=sum\n",
                rotated);
  EXPECT_EQ(r.verdict, Verdict::kInconsistent) << r.reason;
  EXPECT_FALSE(r.as_expected);
}

// Twice a sum, spelled in two ways: terms that differ, bits that do not.
TEST(Verdict, NoRunShowsTheDriftThatTermsSuggest) {
  const std::string sum =
      "x = f32[4] parameter(0)\n a = f32[4] all-reduce(x), channel_id=1, "
      "replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum\n";
  const CaseReport r = VerdictOf(
      kTwo, sum + "ROOT d = f32[4] add(a, a)\n",
      sum +
          "d = f32[4] add(a, a)\n c = f32[] constant(2)\n"
          "b = f32[4] broadcast(c), dimensions={}\n m = f32[4] multiply(a, b)\n"
          "p = u32[] partition-id()\n z = u32[] constant(0)\n"
          "k = pred[] compare(p, z), direction=EQ\n"
          "ks = pred[4] broadcast(k), dimensions={}\n ROOT s = f32[4] select(ks, m, d)\n");
  EXPECT_EQ(r.verdict, Verdict::kUnknown);
  EXPECT_THAT(r.reason, HasSubstr("no run shows it"));
}

TEST(Verdict, NarrowerSumsMissTheMinimumLevel) {
  const std::string bf16 =
      "sum16 { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT r = bf16[] add(a, b) }\n";
  const std::string groups =
      ", channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=";
  const std::string wide =
      ModuleOf(kTwo, "x = f32[4] parameter(0)\n ROOT a = f32[4] all-reduce(x)" + groups + "sum\n");
  const std::string narrow =
      ModuleOf(kTwo,
               "x = f32[4] parameter(0)\n h = bf16[4] convert(x)\n a = bf16[4] all-reduce(h)" +
                   groups + "sum16\n ROOT f = f32[4] convert(a)\n",
               bf16);
  const CaseReport r = VerdictOf(PairOf(wide, narrow));
  EXPECT_EQ(r.level, Level::kReal);
  EXPECT_NE(r.precision, "wider");
  EXPECT_FALSE(r.as_expected);
  EXPECT_THAT(r.missed, HasSubstr("only at level real"));
}

TEST(Verdict, ControlParametersHoldConcreteValues) {
  const auto slices = [](const std::string& add) {
    return "x = s32[8] parameter(0)\n i = s32[] parameter(1)\n one = s32[] constant(1)\n" + add +
           "ROOT d = s32[2] dynamic-slice(x, j), dynamic_slice_sizes={2}\n";
  };
  const CaseReport same = VerdictOf(kTwo, slices("j = s32[] add(i, one)\n"),
                                    slices("k = s32[] subtract(one, i)\n m = s32[] negate(k)\n"
                                           "t = s32[] add(one, one)\n j = s32[] add(m, t)\n"));
  EXPECT_TRUE(same.verdict == Verdict::kTested || same.verdict == Verdict::kProved) << same.reason;
  const CaseReport wrong =
      VerdictOf(kTwo, slices("j = s32[] add(i, one)\n"), slices("j = s32[] copy(i)\n"));
  EXPECT_EQ(wrong.verdict, Verdict::kRefuted) << wrong.reason;
}

TEST(Verdict, ClaimsAreTriedAfterNothingIsAssumed) {
  const std::string groups =
      "channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=largest\n";
  const std::string largest =
      "largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n";
  const std::string x = "x = f32[4] parameter(0), sharding={replicated}\n";
  const std::string before =
      ModuleOf(kTwo, x + "ROOT a = f32[4] all-reduce(x), " + groups, largest);
  const std::string after = ModuleOf(kTwo, x + "ROOT c = f32[4] copy(x)\n", largest);
  Scenario scenario = PairOf(before, after);
  const CaseReport r = VerdictOf(scenario);
  EXPECT_TRUE(r.as_expected) << r.reason;
  EXPECT_THAT(r.assumptions, ElementsAre(HasSubstr("parameter 0 (x) is equal")));
  scenario.ignore_claims = true;
  EXPECT_EQ(VerdictOf(scenario).verdict, Verdict::kRefuted);
}

TEST(Verdict, ExplicitInputsAreRun) {
  const std::string before = ModuleOf(kTwo, "x = s32[2] parameter(0)\n ROOT a = s32[2] copy(x)\n");
  auto document = JsonDocument::Parse("in.json", R"({"0,0": [[1, 2]], "0,1": [[3, 4]]})");
  Scenario scenario = PairOf(before, before);
  scenario.inputs.mode = Mode::kTest;
  scenario.inputs.per_device = &document->root();
  EXPECT_THAT(VerdictOf(scenario).evidence,
              Contains(Field(&Evidence::detail, HasSubstr("given inputs: equal bits"))));
}

TEST(Verdict, ModulesThatCannotBeComparedAreInvalid) {
  const std::string a = ModuleOf(kTwo, "ROOT x = f32[2] parameter(0)\n");
  const std::string b = ModuleOf(kTwo, "ROOT x = f32[3] parameter(0)\n");
  const CaseReport r = VerdictOf(PairOf(a, b));
  EXPECT_EQ(r.verdict, Verdict::kInvalid);
  EXPECT_THAT(r.reason, HasSubstr("parameter 0 is f32[2] before, f32[3] after"));
  EXPECT_FALSE(r.invalid_from_pass);
}

TEST(Verdict, InvalidOutputOfAPassCommandIsBlamedOnIt) {
  Scenario scenario = PairOf(ModuleOf(kTwo, "ROOT x = f32[2] parameter(0)\n"), "");
  scenario.after = {};
  scenario.pass_command = "echo nonsense";
  const CaseReport r = VerdictOf(scenario);
  EXPECT_EQ(r.verdict, Verdict::kInvalid);
  EXPECT_EQ(ExitCodeOf(r, FailOn::kUnknown), kExitMissed);
  scenario.pass_command = "cat";
  EXPECT_EQ(VerdictOf(scenario).verdict, Verdict::kProved);
}

TEST(Verdict, DeadlockSaysWhoWaitsForWhom) {
  const auto receive = [](const std::string& order) {
    return "x = f32[2] parameter(0)\n t = token[] after-all()\n" + order +
           "ROOT g = f32[2] get-tuple-element(rd), index=0\n";
  };
  const std::string good = receive(
      "s = (f32[2], u32[], token[]) send(x, t), channel_id=1, "
      "frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}\n"
      "r = (f32[2], u32[], token[]) recv(t), channel_id=1, "
      "frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}\n"
      "sd = token[] send-done(s), channel_id=1\n"
      "rd = (f32[2], token[]) recv-done(r), channel_id=1\n");
  const CaseReport fine = VerdictOf(kTwo, good, good);
  EXPECT_EQ(fine.verdict, Verdict::kProved) << fine.reason;
}

TEST(Verdict, RangesRestrictGeneratedInputs) {
  // Equal only where x is not negative.
  Scenario scenario = PairOf(ModuleOf(kTwo, "x = s32[2] parameter(0)\n ROOT a = s32[2] abs(x)\n"),
                             ModuleOf(kTwo, "x = s32[2] parameter(0)\n ROOT a = s32[2] copy(x)\n"));
  EXPECT_EQ(VerdictOf(scenario).verdict, Verdict::kRefuted);
  scenario.inputs.ranges = {{"x", 0, 100}};
  EXPECT_NE(VerdictOf(scenario).verdict, Verdict::kRefuted);
  scenario.inputs.ranges = {{"y", 0, 100}};
  EXPECT_EQ(VerdictOf(scenario).verdict, Verdict::kInvalid);
}

}  // namespace
}  // namespace hv
