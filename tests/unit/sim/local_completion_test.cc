// Collectives among the devices of one process: the same bits by every way through the kernels and
// for every number of threads, and no byte copied that need not be.
#include <fmt/format.h>

#include "base/parallel.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

constexpr int64_t kBytes = int64_t{1} << 16;

std::string Outputs(const std::string& text) {
  TestRun run(text);
  run.Run();
  std::string all;
  for (int64_t d = 0; d < run.mesh.devices(); ++d) all += run.Output(d) + "\n";
  return all;
}

std::string OutputsOfThreads(const std::string& text, int threads) {
  SetThreadCount(threads);
  std::string outputs = Outputs(text);
  SetThreadCount(1);
  return outputs;
}

std::string Sum(const std::string& type) {
  return fmt::format(
      "sum {{ a = {0}[] parameter(0)  b = {0}[] parameter(1)  ROOT r = {0}[] add(a, b) }}\n", type);
}

// Blocks that are one run, many long runs, many short ones, or strided elements.
TEST(LocalCompletion, ReduceScatterIsTheSliceOfTheAllReduce) {
  for (const char* type : {"f32", "bf16", "s8", "c64"}) {
    for (const std::vector<int64_t>& dims :
         std::vector<std::vector<int64_t>>{{4, 8, 4}, {8, 12, 100}, {4, 4, 1028}}) {
      for (size_t d = 0; d < 3; ++d) {
        std::vector<int64_t> part = dims;
        part[d] /= 4;
        const std::string whole = fmt::format("{}[{}]", type, fmt::join(dims, ","));
        const std::string shard = fmt::format("{}[{}]", type, fmt::join(part, ","));
        const std::string head = "HloModule m, num_partitions=4\n" + Sum(type) +
                                 "ENTRY e {\n  x = " + whole + " parameter(0)\n";
        const std::string groups =
            "channel_id=1, replica_groups={{2,0,3,1}}, use_global_device_ids=true, to_apply=sum";
        const std::string scatter =
            head + fmt::format("  ROOT r = {} reduce-scatter(x), dimensions={{{}}}, {} }}", shard,
                               d, groups);
        const std::string slice =
            head +
            fmt::format(
                "  a = {} all-reduce(x), {}\n  t = s32[4] constant({{1, 3, 0, 2}})\n"
                "  p = u32[] partition-id()\n  q = s32[1] dynamic-slice(t, p), "
                "dynamic_slice_sizes={{1}}\n  k = s32[] reshape(q)\n  n = s32[] constant({})\n"
                "  o = s32[] multiply(k, n)\n  z = s32[] constant(0)\n"
                "  ROOT r = {} dynamic-slice(a, {}), dynamic_slice_sizes={{{}}} }}",
                whole, groups, part[d], shard,
                d == 0   ? "o, z, z"
                : d == 1 ? "z, o, z"
                         : "z, z, o",
                fmt::join(part, ","));
        EXPECT_EQ(Outputs(scatter), Outputs(slice)) << scatter;
      }
    }
  }
}

TEST(LocalCompletion, BitsDoNotDependOnTheNumberOfThreads) {
  const std::string text = "HloModule m, replica_count=4\n" + Sum("f32") + R"(
ENTRY e { x = f32[4,65536] parameter(0)
  ar = f32[4,65536] all-reduce(x), replica_groups={}, to_apply=sum
  rs = f32[4,16384] reduce-scatter(x), replica_groups={{3,1,0,2}}, dimensions={1}, to_apply=sum
  ag = f32[16,65536] all-gather(x), replica_groups={}, dimensions={0}
  aa = f32[4,65536] all-to-all(x), replica_groups={{0,1,2,3}}, dimensions={0}
  cp = f32[4,65536] collective-permute(x), source_target_pairs={{0,1},{1,2},{2,0}}
  m = f32[4,65536] add(ar, aa)  n = f32[4,65536] multiply(m, cp)
  c = f32[4,16384] slice(n), slice={[0:4],[7:16391]}  s = f32[4,16384] add(c, rs)
  g = f32[4,16384] slice(ag), slice={[12:16],[9:16393]}  ROOT r = f32[4,16384] subtract(s, g) })";
  const std::string one = OutputsOfThreads(text, 1);
  EXPECT_EQ(OutputsOfThreads(text, 3), one);
}

int64_t PeakOf(const std::string& text) {
  TestRun run(text);
  const int64_t before = ProcessMemoryUse().live_bytes;
  run.Run();
  EXPECT_FALSE(run.error);
  return run.outcome.peak_bytes - before;
}

// Each device changes what its neighbour has just received. It waits for the neighbour to drop it.
TEST(LocalCompletion, ARingOfChangesInPlaceCopiesNothing) {
  const int64_t peak = PeakOf(R"(HloModule m, replica_count=4
more { s = (s32[], f32[16384], f32[16384]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)  ROOT go = pred[] compare(i, n), direction=LT }
step { s = (s32[], f32[16384], f32[16384]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = f32[16384] get-tuple-element(s), index=1  y = f32[16384] get-tuple-element(s), index=2
  u = f32[1] slice(y), slice={[0:1]}  c = f32[16384] dynamic-update-slice(x, u, i)
  p = f32[16384] collective-permute(c), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  one = s32[] constant(1)  j = s32[] add(i, one)
  ROOT t = (s32[], f32[16384], f32[16384]) tuple(j, c, p) }
ENTRY e { x = f32[16384] parameter(0)  z = s32[] constant(0)
  s = (s32[], f32[16384], f32[16384]) tuple(z, x, x)
  w = (s32[], f32[16384], f32[16384]) while(s), condition=more, body=step
  ROOT r = f32[16384] get-tuple-element(w), index=2 })");
  // x is also y at first: every device makes one copy then.
  EXPECT_LT(peak, 2 * 4 * kBytes + kBytes / 2);
}

TEST(LocalCompletion, AllReduceTakesTheStorageOfAnOperandThatDies) {
  const int64_t peak = PeakOf("HloModule m, replica_count=4\n" + Sum("f32") +
                              "ENTRY e { x = f32[16384] parameter(0)\n  ROOT r = f32[16384] "
                              "all-reduce(x), replica_groups={}, to_apply=sum }");
  EXPECT_LT(peak, 4 * kBytes + kBytes / 2);
}

// Blocks larger and smaller than what one thread takes, and blocks that are no runs.
TEST(LocalCompletion, AllToAllOfOperandsThatDieExchangesTheirBlocks) {
  for (const auto& [shape, dimension] : std::vector<std::pair<std::string, std::string>>{
           {"s8[4,70001]", "0"}, {"f32[8,3]", "0"}, {"s16[4]", "0"}, {"c64[3,4,5]", "1"}}) {
    const auto text = [&](const std::string& name, const std::string& rest) {
      return "HloModule m, replica_count=4\nENTRY e { x = " + shape + " parameter(0)\n  " + name +
             " = " + shape + " all-to-all(x), replica_groups={{2,0,3,1}}, dimensions={" + dimension +
             "}\n" + rest + "}";
    };
    const std::string dies = text("ROOT r", "");
    const std::string lives =
        text("r", "  ROOT t = (" + shape + ", " + shape + ") tuple(r, x) ");
    TestRun in_place(dies), copied(lives);
    in_place.Run();
    copied.Run();
    for (int64_t d = 0; d < 4; ++d) {
      const Value both = copied.outcome.outputs.at(DeviceId(d));
      EXPECT_TRUE(SameBits(in_place.outcome.outputs.at(DeviceId(d)), both.elements()[0])) << shape;
    }
    SetThreadCount(3);
    const std::string shared = Outputs(dies);
    SetThreadCount(1);
    EXPECT_EQ(shared, Outputs(dies));
  }
  EXPECT_LT(PeakOf("HloModule m, replica_count=4\nENTRY e { x = s8[4,16384] parameter(0)\n ROOT r = "
                   "s8[4,16384] all-to-all(x), replica_groups={{0,1,2,3}}, dimensions={0} }"),
            4 * kBytes + kBytes / 2);
}

// Sixteen devices hold the same table while they wait for each other.
TEST(LocalCompletion, WhatAllDevicesHaveAlikeIsComputedOnce) {
  const std::string text = "HloModule m, replica_count=16\n" + Sum("s32") + R"(
ENTRY e { i = s32[16384] iota(), iota_dimension=0  m = s32[16384] multiply(i, i)
  t = s32[16384] reverse(m), dimensions={0}  r = u32[] replica-id()  d = s32[] convert(r)
  a = s32[] all-reduce(d), replica_groups={}, to_apply=sum
  b = s32[16384] broadcast(a), dimensions={}  s = s32[16384] add(t, b)
  ROOT x = s32[1] slice(s), slice={[16382:16383]} })";
  EXPECT_LT(PeakOf(text), 3 * kBytes);
  TestRun run(text);
  run.Run();
  for (int64_t d = 0; d < 16; ++d) EXPECT_EQ(run.Output(d), "[121]");
}

TEST(LocalCompletion, EqualParametersOfNeighboursAreKeptOnce) {
  const std::string text =
      "HloModule m, replica_count=16\n"
      "ENTRY e { x = s8[65536] parameter(0)  ROOT r = s8[1] slice(x), slice={[0:1]} }";
  const TestRun run(text);
  const InputFn zeros = [&](DeviceId, int64_t) -> Result<Value> {
    Value argument = Value::NewNative(run.module.Entry().At(0).shape);
    for (std::byte& b : argument.MutableBytes()) b = std::byte{0};
    return argument;
  };
  const int64_t before = ProcessMemoryUse().live_bytes;
  const Result<RunOutcome> outcome = RunModule(run.module, run.mesh, zeros, run.options);
  ASSERT_TRUE(outcome);
  EXPECT_LT(outcome->peak_bytes - before, 3 * kBytes);
}

}  // namespace
}  // namespace hv
