// Deadlocks and mismatches, and programs that look like one and are none.
#include <gmock/gmock.h>

#include "base/time_limit.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

const char* const kSum = R"(
sum { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
)";

// Device 0 takes the first branch, device 1 the second.
std::string Diverging(const std::string& header, const std::string& first,
                      const std::string& second) {
  return header + kSum + "one { x = s32[2] parameter(0)\n" + first + "}\ntwo { x = s32[2] parameter(0)\n" +
         second + R"(}
ENTRY main {
  p = s32[2] parameter(0)
  id = u32[] partition-id()
  i = s32[] convert(id)
  ROOT r = s32[2] conditional(i, p, p), branch_computations={one, two}
})";
}

const char* const kAllReduce =
    " = s32[2] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, "
    "to_apply=sum\n";

TEST(Stall, DifferentInstructionsNeverMatchButAreNamed) {
  TestRun run(Diverging("HloModule m, num_partitions=2\n", std::string("ROOT a") + kAllReduce,
                        std::string("ROOT b") + kAllReduce));
  run.Run();
  ASSERT_TRUE(run.outcome.stall);
  EXPECT_EQ(run.outcome.stall->kind, "deadlock");
  EXPECT_EQ(run.outcome.stall->cycle,
            (std::vector{DeviceId(0), DeviceId(1), DeviceId(0)}));
  EXPECT_THAT(run.outcome.stall->note, HasSubstr("match by channel or by order"));
  EXPECT_THAT(run.outcome.stall->ToString(), HasSubstr("device 0 waits at a all-reduce(s32[2])"));
}

TEST(Stall, MemberThatNeverComes) {
  TestRun run(Diverging("HloModule m, num_partitions=2\n", std::string("ROOT a") + kAllReduce,
                        "ROOT b = s32[2] negate(x)\n"));
  run.Run();
  ASSERT_TRUE(run.outcome.stall);
  EXPECT_EQ(run.outcome.stall->kind, "mismatch");
  EXPECT_TRUE(run.outcome.stall->cycle.empty());
  ASSERT_EQ(run.outcome.stall->waiting.size(), 1u);
  EXPECT_EQ(run.outcome.stall->waiting[0].waits_for, std::vector{DeviceId(1)});
}

// The same two collectives in both orders: a schedule forces the order, data flow does not.
std::string TwoOrders(const std::string& header) {
  const std::string b =
      " = s32[2] all-reduce(y), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, "
      "to_apply=sum\n";
  return header + kSum + R"(
more { st = (s32[], s32[2], s32[2]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  two = s32[] constant(2)  ROOT go = pred[] compare(i, two), direction=LT }
body { st = (s32[], s32[2], s32[2]) parameter(0)
  i = s32[] get-tuple-element(st), index=0
  x = s32[2] get-tuple-element(st), index=1
  y = s32[2] get-tuple-element(st), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  a)" + kAllReduce + "b" + b + R"(  ROOT t = (s32[], s32[2], s32[2]) tuple(n, b, a)
}
ENTRY main {
  p = s32[2] parameter(0)
  q = s32[2] parameter(1)
  z = s32[] constant(0)
  st = (s32[], s32[2], s32[2]) tuple(z, p, q)
  w = (s32[], s32[2], s32[2]) while(st), condition=more, body=body
  ROOT r = s32[2] get-tuple-element(w), index=1
})";
}

TEST(Stall, NoneInALoopOfTwoCollectives) {
  for (const char* header : {"HloModule m, num_partitions=2\n",
                             "HloModule m, is_scheduled=true, num_partitions=2\n"}) {
    TestRun run(TwoOrders(header));
    run.Run({{"[1, 2]", "[3, 4]"}, {"[10, 20]", "[30, 40]"}});
    EXPECT_EQ(run.Output(0), "[22, 44]") << header;
  }
}

// Two loops that do not depend on each other. Device 0 waits in the first until device 1 has passed the
// first; both orders must work, because a device goes on with the other loop meanwhile.
TEST(Stall, OuterFrameGoesOnWhileAnInnerOneWaits) {
  const std::string text = std::string("HloModule m, num_partitions=2\n") + kSum + R"(
own { x = s32[2] parameter(0)
  ROOT a = s32[2] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum }
other { y = s32[2] parameter(0)
  ROOT b = s32[2] all-reduce(y), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum }
ENTRY main {
  p = s32[2] parameter(0)
  tok = token[] after-all()
  rv = (s32[2], u32[], token[]) recv(tok), channel_id=7, frontend_attributes={_xla_send_recv_source_target_pairs="{{1,0}}"}
  rd = (s32[2], token[]) recv-done(rv), channel_id=7
  got = s32[2] get-tuple-element(rd), index=0
  waits = s32[2] add(got, p)
  c1 = s32[2] call(waits), to_apply=own
  c2 = s32[2] call(p), to_apply=other
  sd = (s32[2], u32[], token[]) send(c2, tok), channel_id=7, frontend_attributes={_xla_send_recv_source_target_pairs="{{1,0}}"}
  fin = token[] send-done(sd), channel_id=7
  ROOT r = (s32[2], s32[2]) tuple(c1, c2)
})";
  TestRun run(text);
  run.Run({{"[1, 1]"}, {"[2, 2]"}});
  EXPECT_EQ(run.Output(0), "[6, 6] [3, 3]");  // (3 + 1) + (0 + 2)
  TestRun scheduled("HloModule m, is_scheduled=true," + text.substr(text.find(',') + 1));
  scheduled.Run({{"[1, 1]"}, {"[2, 2]"}});
  ASSERT_TRUE(scheduled.outcome.stall) << scheduled.Output(0);
}

TEST(Stall, SendThatNeedsWhatItReceives) {
  const std::string pairs =
      "channel_id=1, "
      "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1},{1,0}}\"}\n";
  TestRun run("HloModule m, num_partitions=2\nENTRY main {\n p0 = s32[2] parameter(0)\n"
              " tok = token[] after-all()\n rv = (s32[2], u32[], token[]) recv(tok), " + pairs +
              " rd = (s32[2], token[]) recv-done(rv), channel_id=1\n"
              " got = s32[2] get-tuple-element(rd), index=0\n mix = s32[2] add(got, p0)\n"
              " sd = (s32[2], u32[], token[]) send(mix, tok), " + pairs +
              " fin = token[] send-done(sd), channel_id=1\n ROOT out = s32[2] copy(got)\n}");
  run.Run();
  ASSERT_TRUE(run.outcome.stall);
  EXPECT_EQ(run.outcome.stall->kind, "deadlock");
}

TEST(Stall, LoopThatTurnsMoreOftenOnOneDevice) {
  const std::string text = std::string("HloModule m, num_partitions=2\n") + kSum + R"(
more { st = (s32[], s32[2]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  id = u32[] partition-id()  n = s32[] convert(id)  two = s32[] constant(2)
  m = s32[] add(n, two)  ROOT go = pred[] compare(i, m), direction=LT }
step { st = (s32[], s32[2]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  x = s32[2] get-tuple-element(st), index=1  one = s32[] constant(1)  n = s32[] add(i, one)
  y)" + kAllReduce + R"(  ROOT t = (s32[], s32[2]) tuple(n, y) }
ENTRY main { p = s32[2] parameter(0)  z = s32[] constant(0)  st = (s32[], s32[2]) tuple(z, p)
  w = (s32[], s32[2]) while(st), condition=more, body=step
  ROOT r = s32[2] get-tuple-element(w), index=1 })";
  TestRun run(text);
  run.Run();
  ASSERT_TRUE(run.outcome.stall);
  EXPECT_EQ(run.outcome.stall->kind, "mismatch");
  ASSERT_EQ(run.outcome.stall->waiting.size(), 1u);
  EXPECT_EQ(run.outcome.stall->waiting[0].device, DeviceId(1));
  EXPECT_THAT(run.outcome.stall->waiting[0].signature, HasSubstr("execution 3"));
}

// The collective runs once on each device, but in different turns: the n-th execution meets the n-th.
TEST(Stall, NoneWhenExecutionsFallIntoDifferentTurns) {
  const std::string text = std::string("HloModule m, num_partitions=2\n") + kSum + R"(
more { st = (u32[], s32[2]) parameter(0)  i = u32[] get-tuple-element(st), index=0
  two = u32[] constant(2)  ROOT go = pred[] compare(i, two), direction=LT }
with { x = s32[2] parameter(0)
  ROOT y)" + kAllReduce + R"(}
without { x = s32[2] parameter(0)  ROOT y = s32[2] copy(x) }
step { st = (u32[], s32[2]) parameter(0)  i = u32[] get-tuple-element(st), index=0
  x = s32[2] get-tuple-element(st), index=1  one = u32[] constant(1)  n = u32[] add(i, one)
  id = u32[] partition-id()  mine = pred[] compare(i, id), direction=EQ
  y = s32[2] conditional(mine, x, x), true_computation=with, false_computation=without
  ROOT t = (u32[], s32[2]) tuple(n, y) }
ENTRY main { p = s32[2] parameter(0)  z = u32[] constant(0)  st = (u32[], s32[2]) tuple(z, p)
  w = (u32[], s32[2]) while(st), condition=more, body=step
  ROOT r = s32[2] get-tuple-element(w), index=1 })";
  TestRun run(text);
  run.Run({{"[1, 2]"}, {"[10, 20]"}});
  EXPECT_EQ(run.Output(0), "[11, 22]");
  EXPECT_EQ(run.Output(1), "[11, 22]");
}

TEST(Stall, LoopLimitIsAnErrorOfTheRun) {
  RunOptions options;
  options.max_steps = 10;
  TestRun run(R"(HloModule m
more { st = (s32[]) parameter(0)  ROOT go = pred[] constant(true) }
step { st = (s32[]) parameter(0)  ROOT t = (s32[]) copy(st) }
ENTRY main { z = s32[] constant(0)  st = (s32[]) tuple(z)
  ROOT w = (s32[]) while(st), condition=more, body=step })", options);
  run.Run();
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->kind, ErrorKind::kUnsupported);
  EXPECT_EQ(run.error->diagnostics[0].id, "loop-limit");
}

TEST(Stall, TimeLimitEndsAnEndlessLoop) {
  const TimeLimit outer(1000), limit(0.02);
  TestRun run(R"(HloModule m
more { st = (s32[]) parameter(0)  ROOT go = pred[] constant(true) }
step { st = (s32[]) parameter(0)  ROOT t = (s32[]) copy(st) }
ENTRY main { z = s32[] constant(0)  st = (s32[]) tuple(z)
  ROOT w = (s32[]) while(st), condition=more, body=step })");
  run.Run();
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->kind, ErrorKind::kTime);
  EXPECT_EQ(run.error->diagnostics[0].id, "time-limit");
}

}  // namespace
}  // namespace hv
