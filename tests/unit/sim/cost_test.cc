// The cost of a module: what overlaps, what turns, which machines there are.
#include "sim/cost.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "base/time_limit.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

constexpr char kSum[] = "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\n";

Cost CostOn(const std::string& machine_name, const std::string& text, const Mesh& mesh) {
  const Result<Machine> machine = LoadMachine(machine_name);
  EXPECT_TRUE(machine) << machine_name;
  const Module module = ParseOrDie(text);
  Result<Cost> cost = CostOf(module, mesh, *machine);
  EXPECT_TRUE(cost);
  return std::move(*cost);
}

TEST(Machine, BuiltInOnesAreWhole) {
  const std::vector<std::string> names = BuiltInMachines();
  EXPECT_THAT(names, ::testing::ElementsAre("ethernet-100g", "gb200-nvl72", "h100-8", "h100-pod",
                                            "this-node", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e",
                                            "trn1", "trn2", "trn2-ultraserver"));
  for (const std::string& name : names) {
    const Result<Machine> machine = LoadMachine(name);
    ASSERT_TRUE(machine) << FormatError(machine.error());
    EXPECT_EQ(machine->name, name);
    EXPECT_GT(machine->flops_per_second, 1e9);
    for (const NetworkLevel& level : machine->levels) EXPECT_GT(level.bytes_per_second, 1e9);
  }
}

TEST(Machine, UnknownNamesListTheKnown) {
  const Result<Machine> wrong = LoadMachine("trn3");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().diagnostics[0].id, "unknown-machine");
  EXPECT_THAT(wrong.error().Message(), ::testing::HasSubstr("did you mean 'trn1'"));
  EXPECT_THAT(wrong.error().Message(), ::testing::HasSubstr("gb200-nvl72"));
}

TEST(Machine, TooFewDevicesIsAnError) {
  const Result<Machine> machine = LoadMachine("h100-8");
  ASSERT_TRUE(machine);
  const Module module = ParseOrDie("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }");
  const Result<Cost> cost = CostOf(module, Mesh{9, 1}, *machine);
  ASSERT_FALSE(cost);
  EXPECT_EQ(cost.error().diagnostics[0].id, "machine-too-small");
}

std::string Loop(const std::string& limit, const std::string& config) {
  return std::string("HloModule m, replica_count=4\n") + kSum + R"(
more { st = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  n = s32[] )" + limit + R"(  ROOT go = pred[] compare(i, n), direction=LT }
step { st = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  x = f32[8] get-tuple-element(st), index=1  two = s32[] constant(2)  n = s32[] add(i, two)
  y = f32[8] all-reduce(x), replica_groups={}, to_apply=sum
  ROOT t = (s32[], f32[8]) tuple(n, y) }
ENTRY main { p = f32[8] parameter(0)  z = s32[] constant(1)  st = (s32[], f32[8]) tuple(z, p)
  ROOT w = (s32[], f32[8]) while(st), condition=more, body=step)" + config + "}";
}

TEST(Cost, StopsWhenTheTimeIsOver) {
  const Module module = ParseOrDie(R"(HloModule m, num_partitions=2
      ENTRY e {
        x = f32[8] parameter(0)
        ROOT g = f32[16] all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
      })");
  const TimeLimit limit(1e-9);
  const Result<Cost> cost = CostOf(module, Mesh{1, 2}, *LoadMachine("trn2"));
  ASSERT_FALSE(cost);
  EXPECT_EQ(cost.error().kind, ErrorKind::kTime);
}

TEST(Cost, LoopsCountAsOftenAsTheyTurn) {
  const Mesh mesh{4, 1};
  const Cost counted = CostOn("h100-8", Loop("constant(10)", ""), mesh);
  ASSERT_EQ(counted.collectives.size(), 1);
  EXPECT_EQ(counted.collectives[0].turns, 5);  // i = 1, 3, 5, 7, 9
  EXPECT_NEAR(counted.collective_seconds, counted.collectives[0].seconds(), 1e-15);
  EXPECT_TRUE(counted.notes.empty());
  const std::string config = ", backend_config={\"known_trip_count\":{\"n\":\"7\"}}";
  const Cost stated = CostOn("h100-8", Loop("constant(10)", config), mesh);
  EXPECT_EQ(stated.collectives[0].turns, 7);
  const Cost unknown = CostOn("h100-8", Loop("copy(i)", ""), mesh);
  EXPECT_EQ(unknown.collectives[0].turns, 1);
  EXPECT_THAT(unknown.notes, ::testing::ElementsAre(::testing::HasSubstr("trip count of w")));
}

// An all-reduce of 64 MiB beside a product of 4096^3.
std::string Overlap(bool asynchronous) {
  const std::string reduce = "(p), replica_groups={}, to_apply=sum\n";
  const std::string dot =
      "  d = f32[4096,4096] dot(q, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  return std::string("HloModule m, replica_count=8, is_scheduled=true\n") + kSum +
         "ENTRY e {\n  p = f32[16777216] parameter(0)\n  q = f32[4096,4096] parameter(1)\n" +
         (asynchronous ? "  s = f32[16777216] all-reduce-start" + reduce + dot +
                             "  r = f32[16777216] all-reduce-done(s)\n"
                       : "  r = f32[16777216] all-reduce" + reduce + dot) +
         "  ROOT t = (f32[16777216], f32[4096,4096]) tuple(r, d)\n}";
}

TEST(Cost, WorkBetweenStartAndDoneIsHidden) {
  const Cost together = CostOn("h100-8", Overlap(true), Mesh{8, 1});
  const Cost apart = CostOn("h100-8", Overlap(false), Mesh{8, 1});
  EXPECT_EQ(together.collective_seconds, apart.collective_seconds);
  EXPECT_EQ(together.compute_seconds, apart.compute_seconds);
  EXPECT_NEAR(apart.seconds, apart.collective_seconds + apart.compute_seconds, 1e-12);
  EXPECT_NEAR(together.seconds, std::max(apart.collective_seconds, apart.compute_seconds), 1e-12);
  EXPECT_NEAR(apart.compute_seconds, 2.0 * 4096 * 4096 * 4096 / 989e12, 1e-12);
}

TEST(Cost, OnlyTheDearestBranchCounts) {
  const std::string text = std::string("HloModule m, replica_count=4\n") + kSum + R"(
yes { x = f32[8] parameter(0)  ROOT y = f32[8] all-reduce(x), replica_groups={}, to_apply=sum }
no { ROOT x = f32[8] parameter(0) }
ENTRY main { c = pred[] parameter(0)  p = f32[8] parameter(1)
  ROOT w = f32[8] conditional(c, p, p), true_computation=yes, false_computation=no })";
  const Cost cost = CostOn("trn2", text, Mesh{4, 1});
  ASSERT_EQ(cost.collectives.size(), 1);
  EXPECT_EQ(cost.collectives[0].instruction, "y");
  EXPECT_GT(cost.bytes(), 0);
}

TEST(Cost, HugeTripCountsDoNotOverflow) {
  const std::string config = ", backend_config={\"known_trip_count\":{\"n\":\"9000000000000000000\"}}";
  EXPECT_EQ(CostOn("trn2", Loop("constant(10)", config), Mesh{4, 1}).bytes(), INT64_MAX);
}

}  // namespace
}  // namespace hv
