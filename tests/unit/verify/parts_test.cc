// The parts of a verification on their own: claims, leaves, inputs, shrinking, messages between
// ranks.
#include <gmock/gmock.h>

#include "hlo/parser.h"
#include "verify/claims.h"
#include "verify/counterexample.h"
#include "verify/examined_wire.h"
#include "verify/flags.h"
#include "verify/native_input.h"

namespace hv {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Module MustParse(const std::string& text) {
  auto module = ParseModule("t.hlo", text);
  EXPECT_TRUE(module.has_value()) << FormatError(module.error());
  return std::move(*module);
}

TEST(Claims, TilesOfShardings) {
  EXPECT_THAT(TileOfPartition("{replicated}", 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(TileOfPartition("{devices=[4]<=[4]}", 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(TileOfPartition("{devices=[2,2]0,2,1,3 last_tile_dim_replicate}", 4),
              ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(TileOfPartition("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 4),
              ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(TileOfPartition("{devices=[4]<=[4]}", 8), SizeIs(0));
  EXPECT_THAT(TileOfPartition("{manual}", 2), SizeIs(0));
}

TEST(Claims, OfParametersThatShare) {
  const Module module = MustParse(
      "HloModule m, replica_count=2, num_partitions=2\nENTRY e {\n"
      "a = f32[2] parameter(0), sharding={replicated}\n"
      "b = f32[2] parameter(1), parameter_replication={true}\n"
      "c = f32[2] parameter(2), sharding={devices=[2]<=[2]}\nROOT s = f32[2] add(a, b)\n}\n");
  const std::vector<Claim> claims = ClaimsOf(module, {2, 2});
  ASSERT_THAT(claims, SizeIs(2));
  EXPECT_THAT(claims[0].group_of_device, ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(claims[1].group_of_device, ElementsAre(0, 1, 0, 1));
}

constexpr char kTuple[] =
    "HloModule m, num_partitions=3\nENTRY e {\n p = (f32[2,3], token[], s8[4]) parameter(0)\n"
    " ROOT q = pred[] parameter(1)\n}\n";

TEST(InputSpace, LeavesRunThroughTuples) {
  const Module module = MustParse(kTuple);
  InputSpace space(module, {1, 3});
  ASSERT_THAT(space.slots(), SizeIs(3));
  EXPECT_EQ(space.id_count(), (6 + 4 + 1) * 3);
  for (int64_t id = 0; id < space.id_count(); ++id) {
    EXPECT_EQ(space.IdOf(space.LeafOf(id)), id);
  }
  const InputElement described = space.Describe({0, 2, 4}, "1");
  EXPECT_EQ(described.device, "0,2");
  EXPECT_THAT(described.index, ElementsAre(1, 1));
}

TEST(InputSpace, SharedLeavesBelongToTheirRepresentative) {
  const Module module = MustParse(kTuple);
  InputSpace space(module, {1, 3});
  space.Share(1, {7, 5, 7});
  EXPECT_EQ(space.RepresentativeOf(DeviceId(2), 1), DeviceId(0));
  EXPECT_EQ(space.RepresentativeOf(DeviceId(2), 0), DeviceId(2));
  EXPECT_TRUE(space.IsOwn({2, 1, 0}));
  EXPECT_FALSE(space.IsOwn({2, 2, 0}));
}

TEST(NativeInput, ArgumentsHaveTheParametersShapes) {
  const Module module = MustParse(kTuple);
  const InputSpace space(module, {1, 3});
  const InputPlan plan;
  const auto ranges = ResolveRanges(space, plan);
  NativeInput input;
  input.limit = 3;
  const InputFn inputs = MakeInputs(module, space, FillNative(input, space, *ranges, plan));
  const Result<Value> argument = inputs(DeviceId(1), 0);
  ASSERT_TRUE(argument.has_value());
  const std::vector<Value> leaves = Leaves(*argument);
  ASSERT_THAT(leaves, SizeIs(2));
  for (float x : leaves[0].As<float>()) {
    EXPECT_GE(std::abs(x), 1);
    EXPECT_LE(std::abs(x), 3);
  }
}

TEST(NativeInput, ActiveLeavesAloneHaveValues) {
  const Module module = MustParse(kTuple);
  const InputSpace space(module, {1, 3});
  NativeInput input;
  input.values = NativeInput::Values::kFixed;
  input.base = 5;
  input.active = std::vector<int64_t>{space.IdOf({0, 1, 2})};
  EXPECT_EQ(LeafNumber(input, space, std::nullopt, {0, 1, 2}), 1);
  EXPECT_EQ(LeafNumber(input, space, std::nullopt, {0, 1, 3}), 5);
  EXPECT_EQ(LeafNumber(input, space, InputRange{"0", -1, 2}, {0, 1, 3}), 2);
}

TEST(Wire, CasesArriveAsTheyWere) {
  Examined examined;
  examined.report.name = "a case";
  examined.report.counterexample = Counterexample{};
  examined.report.counterexample->elements.push_back({"0,1", 2, "x", {3, 4}, "7"});
  examined.report.evidence.push_back({"method", "detail", 0.5});
  examined.findings.proof = Proof{Level::kReal, "wider", "how"};
  examined.refutation = Refutation{};
  examined.refutation->input.active = std::vector<int64_t>{1, 5};
  examined.refutation->difference.place = {DeviceId(3), 1, 2};
  std::vector<Examined> cases = {examined, Examined{}};
  const std::string bytes = ToWire(cases);
  std::vector<Examined> back = FromWire(bytes);
  ASSERT_THAT(back, SizeIs(2));
  EXPECT_EQ(back[0].report.counterexample->elements[0].index, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(back[0].findings.proof->precision, "wider");
  EXPECT_EQ(back[0].refutation->difference.place.device, DeviceId(3));
  EXPECT_EQ(ToWire(back), bytes);
}

TEST(Flags, FormsOfInput) {
  ScenarioFlags flags;
  EXPECT_THAT(FormatError(CollectScenarios(flags).error()), HasSubstr("nothing to verify"));
  flags.files = {"a.hlo"};
  EXPECT_THAT(FormatError(CollectScenarios(flags).error()), HasSubstr("two HLO files"));
  flags.passes = "";
  EXPECT_EQ(CollectScenarios(flags)->at(0).passes.size(), 0u);
  flags.pass_command = "cat";
  EXPECT_THAT(FormatError(CollectScenarios(flags).error()), HasSubstr("exclude each other"));
  flags = {};
  flags.files = {"dir/a.hlo", "dir/b.hlo"};
  flags.seed = 7;
  flags.ranges = "x=0:1";
  const Scenario pair = CollectScenarios(flags)->at(0);
  EXPECT_EQ(pair.name, "a -> b");
  EXPECT_EQ(pair.inputs.ranges.size(), 1u);
  EXPECT_EQ(ReproduceCommand(pair), "verify_rewrite dir/a.hlo dir/b.hlo --seed=7");
  flags.seed = -1;
  EXPECT_FALSE(CollectScenarios(flags).has_value());
}

}  // namespace
}  // namespace hv
