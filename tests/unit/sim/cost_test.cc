// The cost of collectives: closed forms, order between ops, trip counts.
#include "sim/cost.h"

#include <gmock/gmock.h>

#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

const Link kLink{1e-6, 1e9};

CollectiveCost Of(Opcode opcode, int64_t bytes, int64_t members) {
  return CostOfCollective(opcode, bytes, members, kLink, 1e18);
}

TEST(Cost, BytesAreThoseOfARing) {
  EXPECT_EQ(Of(Opcode::kAllReduce, 800, 8).bytes, 1400);
  EXPECT_EQ(Of(Opcode::kReduceScatter, 800, 8).bytes, 700);
  EXPECT_EQ(Of(Opcode::kAllGather, 800, 8).bytes, 700);
  EXPECT_EQ(Of(Opcode::kAllToAll, 800, 8).bytes, 700);
  EXPECT_EQ(Of(Opcode::kCollectivePermute, 800, 8).bytes, 800);
  EXPECT_EQ(Of(Opcode::kAllReduce, 800, 1).bytes, 0);
}

TEST(Cost, LargeAllReduceTakesTwiceAReduceScatter) {
  const double ar = Of(Opcode::kAllReduce, 1 << 30, 8).seconds;
  const double rs = Of(Opcode::kReduceScatter, 1 << 30, 8).seconds;
  EXPECT_NEAR(ar / rs, 2, 0.01);
}

TEST(Cost, ReduceScatterNeverCostsMoreThanAllReduce) {
  for (int64_t members : {2, 3, 7, 8, 64, 1000}) {
    for (int64_t bytes = 1; bytes < int64_t{1} << 34; bytes *= 8) {
      EXPECT_LE(Of(Opcode::kReduceScatter, bytes, members).seconds,
                Of(Opcode::kAllReduce, bytes, members).seconds);
    }
  }
}

TEST(Cost, BuiltInMachinesAreKnownByName) {
  for (const char* name : {"trn2", "h100", "tpu-v5p", "ring-generic"}) {
    const Result<Machine> machine = LoadMachine(name);
    ASSERT_TRUE(machine) << FormatError(machine.error());
    EXPECT_EQ(machine->name, name);
    EXPECT_GT(machine->inside.bytes_per_second, 1e9);
  }
  const Result<Machine> wrong = LoadMachine("trn3");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().diagnostics[0].id, "unknown-machine");
  EXPECT_THAT(wrong.error().Message(), ::testing::HasSubstr("did you mean 'trn2'"));
}

TEST(Cost, GroupsAcrossNodesUseTheSlowLink) {
  const Machine machine = *LoadMachine("h100");
  EXPECT_EQ(&machine.LinkOf(0, 7), &machine.inside);
  EXPECT_EQ(&machine.LinkOf(0, 8), &machine.between);
}

std::string Loop(const std::string& limit, const std::string& config) {
  return R"(HloModule m, replica_count=4
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
more { st = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  n = s32[] )" + limit + R"(  ROOT go = pred[] compare(i, n), direction=LT }
step { st = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  x = f32[8] get-tuple-element(st), index=1  two = s32[] constant(2)  n = s32[] add(i, two)
  y = f32[8] all-reduce(x), replica_groups={}, to_apply=sum
  ROOT t = (s32[], f32[8]) tuple(n, y) }
ENTRY main { p = f32[8] parameter(0)  z = s32[] constant(1)  st = (s32[], f32[8]) tuple(z, p)
  ROOT w = (s32[], f32[8]) while(st), condition=more, body=step)" + config + "}";
}

TEST(Cost, LoopsCountAsOftenAsTheyTurn) {
  const Machine machine = *LoadMachine("ring-generic");
  const Mesh mesh{4, 1};
  const Cost counted = CostOf(ParseOrDie(Loop("constant(10)", "")), mesh, machine);
  EXPECT_EQ(counted.bytes, 5 * 48);  // i = 1, 3, 5, 7, 9
  EXPECT_TRUE(counted.notes.empty());
  const Cost stated = CostOf(
      ParseOrDie(Loop("constant(10)", ", backend_config={\"known_trip_count\":{\"n\":\"7\"}}")), mesh,
      machine);
  EXPECT_EQ(stated.bytes, 7 * 48);
  const Cost unknown = CostOf(ParseOrDie(Loop("copy(i)", "")), mesh, machine);
  EXPECT_EQ(unknown.bytes, 48);
  EXPECT_THAT(unknown.notes, ::testing::ElementsAre(::testing::HasSubstr("trip count of w")));
}

}  // namespace
}  // namespace hv
