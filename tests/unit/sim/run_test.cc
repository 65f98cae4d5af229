// Runs in one process: control flow, async forms, messages, errors, memory, events, reduction orders.
#include "sim/run.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

const std::string kSum =
    "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\n";

TEST(Run, AsyncStartRunsItsComputationBesideTheCaller) {
  for (const char* schedule : {"", ", is_scheduled=true"}) {
    TestRun run(std::string("HloModule m, replica_count=2") + schedule + "\n" + kSum + R"(
inner { x = f32[2] parameter(0)  n = f32[2] negate(x)
  ROOT y = f32[2] all-reduce(n), replica_groups={}, to_apply=sum }
ENTRY main { p = f32[2] parameter(0)
  go = ((f32[2]), f32[2]) async-start(p), calls=inner
  mid = f32[2] all-reduce(p), replica_groups={}, to_apply=sum
  up = ((f32[2]), f32[2]) async-update(go)
  end = f32[2] async-done(up)
  ROOT t = (f32[2], f32[2]) tuple(mid, end) })", {}, false);
    run.Run({{"[1, 2]"}, {"[3, 4]"}});
    EXPECT_EQ(run.Output(1), "[4, 6] [-4, -6]") << schedule;
  }
}

// A start in one turn of a loop, its done in the next: the pending value travels in the loop state.
TEST(Run, PendingValuesTravelThroughLoopStates) {
  TestRun run(R"(HloModule m, num_partitions=2
more { st = (s32[], f32[2], (f32[2], u32[], token[])) parameter(0)
  i = s32[] get-tuple-element(st), index=0  n = s32[] constant(3)
  ROOT go = pred[] compare(i, n), direction=LT }
step { st = (s32[], f32[2], (f32[2], u32[], token[])) parameter(0)
  i = s32[] get-tuple-element(st), index=0  one = s32[] constant(1)  n = s32[] add(i, one)
  rv = (f32[2], u32[], token[]) get-tuple-element(st), index=2
  rd = (f32[2], token[]) recv-done(rv), channel_id=1
  got = f32[2] get-tuple-element(rd), index=0
  next = f32[2] add(got, got)
  tok = token[] get-tuple-element(rd), index=1
  rv2 = (f32[2], u32[], token[]) recv(tok), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  sd2 = (f32[2], u32[], token[]) send(next, tok), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  fin2 = token[] send-done(sd2), channel_id=1
  ROOT t = (s32[], f32[2], (f32[2], u32[], token[])) tuple(n, got, rv2) }
ENTRY main { p = f32[2] parameter(0)  z = s32[] constant(0)  tok = token[] after-all()
  rv = (f32[2], u32[], token[]) recv(tok), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  sd = (f32[2], u32[], token[]) send(p, tok), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  fin = token[] send-done(sd), channel_id=1
  st = (s32[], f32[2], (f32[2], u32[], token[])) tuple(z, p, rv)
  w = (s32[], f32[2], (f32[2], u32[], token[])) while(st), condition=more, body=step
  last = (f32[2], u32[], token[]) get-tuple-element(w), index=2
  rd = (f32[2], token[]) recv-done(last), channel_id=1
  ROOT out = f32[2] get-tuple-element(rd), index=0 })", {}, false);
  run.Run({{"[1, 2]"}, {"[10, 20]"}});
  EXPECT_EQ(run.Output(0), "[8, 16]");
  EXPECT_EQ(run.Output(1), "[80, 160]");
}

TEST(Run, LateBindingBringsOperandsWithAnUpdate) {
  TestRun run(R"(HloModule m
inner { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT d = f32[] subtract(x, y) }
ENTRY main { p = f32[] parameter(0)  q = f32[] parameter(1)
  go = ((f32[]), f32[]) async-start(p), calls=inner
  up = ((f32[], f32[]), f32[]) async-update(go, q)
  ROOT end = f32[] async-done(up) })", {}, false);
  run.Run({{"5", "3"}});
  EXPECT_EQ(run.Output(0), "2");
}

TEST(Run, TwoSendsOnOneChannelMeetTheirOwnRecvs) {
  // In data-flow order the second send is ready first.
  TestRun run(R"(HloModule m, num_partitions=2
ENTRY main { p = f32[] parameter(0)  tok = token[] after-all()
  id = u32[] partition-id()  f = f32[] convert(id)
  cp = f32[] collective-permute(p), channel_id=9, source_target_pairs={{0,0},{1,1}}
  r1 = (f32[], u32[], token[]) recv(tok), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  sd1 = (f32[], u32[], token[]) send(cp, tok), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  r2 = (f32[], u32[], token[]) recv(tok), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  sd2 = (f32[], u32[], token[]) send(f, tok), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  d1 = (f32[], token[]) recv-done(r1), channel_id=1  e1 = token[] send-done(sd1), channel_id=1
  d2 = (f32[], token[]) recv-done(r2), channel_id=1  e2 = token[] send-done(sd2), channel_id=1
  g1 = f32[] get-tuple-element(d1), index=0  g2 = f32[] get-tuple-element(d2), index=0
  ROOT t = (f32[], f32[]) tuple(g1, g2) })");
  run.Run({{"7"}, {"8"}});
  EXPECT_EQ(run.Output(0), "8 1");
  EXPECT_EQ(run.Output(1), "7 0");
}

TEST(Run, SendAndRecvInDifferentComputationsMatchByChannel) {
  const std::string pairs =
      "channel_id=4, frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1}}\"}\n";
  TestRun run("HloModule m, num_partitions=2\n"
              "sends { x = f32[] parameter(0)\n tok = token[] after-all()\n"
              " sd = (f32[], u32[], token[]) send(x, tok), " + pairs +
              " fin = token[] send-done(sd), channel_id=4\n ROOT c = f32[] copy(x) }\n"
              "receives { x = f32[] parameter(0)\n tok = token[] after-all()\n"
              " rv = (f32[], u32[], token[]) recv(tok), " + pairs +
              " rd = (f32[], token[]) recv-done(rv), channel_id=4\n"
              " ROOT g = f32[] get-tuple-element(rd), index=0 }\n"
              "ENTRY main { p = f32[] parameter(0)\n id = u32[] partition-id()\n"
              " i = s32[] convert(id)\n"
              " ROOT r = f32[] conditional(i, p, p), branch_computations={sends, receives} }");
  run.Run({{"7"}, {"8"}});
  EXPECT_EQ(run.Output(0), "7");
  EXPECT_EQ(run.Output(1), "7");
}

TEST(Run, RuntimeErrorsNameTheInstruction) {
  TestRun run(R"(HloModule m, replica_count=2
ENTRY main { in = f32[2] parameter(0)  out = f32[2] parameter(1)  c = s32[2] constant({0, 1})
  s = s32[2] constant({1, 9})
  ROOT r = f32[2] ragged-all-to-all(in, out, c, s, c, s), replica_groups={{0,1}} })");
  run.Run();
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->diagnostics[0].id, "undefined-input");
  EXPECT_EQ(run.error->diagnostics[0].place.line, 4);
}

TEST(Run, MemoryIsRefusedBeforeRunning) {
  RunOptions options;
  options.memory_limit_bytes = 1 << 20;
  TestRun run("HloModule m\nENTRY main { p = f32[1048576] parameter(0)\n"
              " ROOT n = f32[1048576] negate(p) }", options);
  run.Run();
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->kind, ErrorKind::kMemory);
  EXPECT_EQ(EstimatePeakBytes(run.module), 8 << 20);
}

TEST(Run, LoopsUpdateTheirStateInPlace) {
  TestRun run(R"(HloModule m
more { st = (s32[], f32[1048576]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  n = s32[] constant(5)  ROOT go = pred[] compare(i, n), direction=LT }
step { st = (s32[], f32[1048576]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  x = f32[1048576] get-tuple-element(st), index=1  one = s32[] constant(1)  n = s32[] add(i, one)
  u = f32[1] constant({1})
  y = f32[1048576] dynamic-update-slice(x, u, i)
  ROOT t = (s32[], f32[1048576]) tuple(n, y) }
ENTRY main { z = s32[] constant(0)  f = f32[] constant(0)
  b = f32[1048576] broadcast(f), dimensions={}
  st = (s32[], f32[1048576]) tuple(z, b)
  ROOT w = (s32[], f32[1048576]) while(st), condition=more, body=step })");
  const int64_t before = ProcessMemoryUse().live_bytes;
  run.Run();
  ASSERT_FALSE(run.error);
  EXPECT_LT(run.outcome.peak_bytes - before, int64_t{5} << 20) << "one copy of 4 MiB, not two";
}

TEST(Run, EventsNameGroupsAndBytes) {
  RunOptions options;
  options.record_events = true;
  TestRun run("HloModule m, replica_count=4\n" + kSum + R"(
ENTRY main { p = f32[4] parameter(0)
  ROOT r = f32[2] reduce-scatter(p), replica_groups={{0,2},{3,1}}, dimensions={0}, to_apply=sum })",
              options);
  run.Run();
  ASSERT_EQ(run.outcome.events.size(), 2u);
  EXPECT_EQ(run.outcome.events[1].group, (std::vector{DeviceId(3), DeviceId(1)}));
  EXPECT_EQ(run.outcome.events[1].operand_bytes, 16);
  EXPECT_EQ(run.outcome.events[1].result_bytes, 8);
}

TEST(Run, ObserverSeesEveryValue) {
  std::map<std::string, int> seen;
  RunOptions options;
  options.observer = [&seen](DeviceId, const Module& module, ComputationIndex c, InstructionIndex i,
                             int64_t, const Value&) { ++seen[std::string(module.At(c).At(i).name)]; };
  TestRun run("HloModule m, replica_count=2\n" + kSum + R"(
ENTRY main { p = f32[] parameter(0)  n = f32[] negate(p)
  ROOT r = f32[] all-reduce(n), replica_groups={}, to_apply=sum })", options);
  run.Run();
  EXPECT_EQ(seen, (std::map<std::string, int>{{"n", 2}, {"r", 2}}));
}

// 1 + 2^24 - 2^24 depends on the order; integers do not.
TEST(Run, ReductionOrdersDifferAsTheyShould) {
  const std::string text = "HloModule m, replica_count=3\n" + kSum + R"(
ENTRY main { p = f32[3] parameter(0)
  ROOT r = f32[3] all-reduce(p), replica_groups={}, to_apply=sum })";
  const std::vector<std::vector<std::string>> inputs = {
      {"[1, 1, 1]"}, {"[16777216, 16777216, 16777216]"}, {"[-16777216, -16777216, -16777216]"}};
  std::map<ReductionOrder, std::string> results;
  for (ReductionOrder order : {ReductionOrder::kGroup, ReductionOrder::kRing, ReductionOrder::kTree,
                               ReductionOrder::kRandom}) {
    RunOptions options;
    options.order = order;
    options.order_seed = 3;
    TestRun run(text, options);
    run.Run(inputs);
    results[order] = run.Output(0);
    EXPECT_EQ(run.Output(1), run.Output(0)) << "members of a group agree";
  }
  EXPECT_EQ(results[ReductionOrder::kGroup], "[0, 0, 0]");
  EXPECT_EQ(results[ReductionOrder::kTree], "[0, 0, 0]");
  EXPECT_EQ(results[ReductionOrder::kRing], "[1, 1, 0]");  // chunk c starts at member c + 1
}

TEST(Run, MembersOfAnAllReduceShareOneInstance) {
  TestRun run("HloModule m, replica_count=2\n" + kSum + R"(
ENTRY main { p = f32[4] parameter(0)
  ROOT r = f32[4] all-reduce(p), replica_groups={}, to_apply=sum })");
  run.Run();
  EXPECT_TRUE(run.outcome.outputs.at(DeviceId(0)).SharesStorage(run.outcome.outputs.at(DeviceId(1))));
}

}  // namespace
}  // namespace hv
