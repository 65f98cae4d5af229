// Loops by induction: pairs whose loops cannot be unrolled. Beside each proof stands a pair that
// looks alike and must not be proved.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proof_text.h"
#include "tests/unit/changed_text.h"

namespace hv {
namespace {

constexpr char kReduce[] =
    ", channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum\n";

// acc grows by x[i] of all devices, n times; n is a parameter that devices agree on.
std::string Inside(const std::string& type = "s32") {
  std::string text = R"(
sum {
  a = $[] parameter(0)
  b = $[] parameter(1)
  ROOT r = $[] add(a, b)
}
max {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] maximum(a, b)
}
more {
  t = (s32[], $[4], $[64,4], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=3
  ROOT r = pred[] compare(i, n), direction=LT
}
step {
  t = (s32[], $[4], $[64,4], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  acc = $[4] get-tuple-element(t), index=1
  xs = $[64,4] get-tuple-element(t), index=2
  n = s32[] get-tuple-element(t), index=3
  zero = s32[] constant(0)
  one = s32[] constant(1)
  row = $[1,4] dynamic-slice(xs, i, zero), dynamic_slice_sizes={1,4}
  x = $[4] reshape(row)
  y = $[4] all-reduce(x)REDUCE
  new = $[4] add(acc, y)
  next = s32[] add(i, one)
  ROOT out = (s32[], $[4], $[64,4], s32[]) tuple(next, new, xs, n)
}
ENTRY main {
  xs = $[64,4] parameter(0)
  start = $[4] parameter(1)
  p = s32[] parameter(2)
  n = s32[] all-reduce(p), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=max
  zero = s32[] constant(0)
  z = $[] constant(0)
  none = $[4] broadcast(z), dimensions={}
  state = (s32[], $[4], $[64,4], s32[]) tuple(zero, none, xs, n)
  loop = (s32[], $[4], $[64,4], s32[]) while(state), condition=more, body=step
  acc = $[4] get-tuple-element(loop), index=1
  ROOT r = $[4] copy(acc)
}
)";
  text = With(text, "REDUCE", kReduce);
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$')) {
    text.replace(at, 1, type);
  }
  return text;
}

// The reduction moved behind the loop.
std::string Behind(const std::string& type = "s32") {
  const std::string text = With(Inside(type), "all-reduce(x)" + std::string(kReduce), "copy(x)\n");
  return With(text, "copy(acc)\n", "all-reduce(acc)" + std::string(kReduce));
}

TEST(LoopInduction, AReductionMovesBehindTheLoop) {
  const ProofResult integers = ProveText(Inside(), Behind());
  EXPECT_TRUE(IsProved(integers)) << integers.reason;
  EXPECT_TRUE(integers.by_induction);
  EXPECT_EQ(integers.level, ProofLevel::kBitwise);
  EXPECT_TRUE(IsProved(ProveText(Behind(), Inside())));
  const ProofResult floats = ProveText(Inside("f32"), Behind("f32"));
  EXPECT_TRUE(IsProved(floats)) << floats.reason;
  EXPECT_EQ(floats.sub_class, "nested sums");
}

TEST(LoopInduction, NotWithAnInitialValueThatIsCountedTwice) {
  const auto from = [](const std::string& text) {
    return With(text, "(zero, none, ", "(zero, start, ");
  };
  EXPECT_FALSE(IsProved(ProveText(from(Inside()), from(Behind()))));
  // Added once, outside, it is right.
  const std::string outside =
      With(With(Behind(), "ROOT r = s32[4] all-reduce(acc)", "t = s32[4] all-reduce(acc)"),
           "to_apply=sum\n}\n", "to_apply=sum\n  ROOT r = s32[4] add(start, t)\n}\n");
  const ProofResult once = ProveText(from(Inside()), outside);
  EXPECT_TRUE(IsProved(once)) << once.reason;
}

TEST(LoopInduction, NotWhereTheSumIsUsedInTheLoop) {
  const auto squares = [](const std::string& text) {
    return With(text, "new = s32[4] add(acc, y)",
                "s = s32[4] multiply(acc, acc)\n  new = s32[4] add(s, y)");
  };
  EXPECT_FALSE(IsProved(ProveText(squares(Inside()), squares(Behind()))));
  EXPECT_TRUE(IsProved(ProveText(squares(Inside()), squares(Inside()))));
}

TEST(LoopInduction, NotOverOtherGroupsOrOtherCounts) {
  EXPECT_FALSE(IsProved(
      ProveText(Inside(), With(Behind(), "all-reduce(acc), channel_id=1, replica_groups={{0,1}}",
                               "all-reduce(acc), channel_id=1, replica_groups={{0},{1}}"))));
  EXPECT_FALSE(IsProved(ProveText(Inside(), With(Behind(), "direction=LT", "direction=LE"))));
  EXPECT_FALSE(
      IsProved(ProveText(Inside(), With(Behind(), "s32[] constant(1)", "s32[] constant(2)"))));
  EXPECT_FALSE(IsProved(ProveText(Inside(), With(Behind(), "zero = s32[] constant(0)\n  z ",
                                                 "zero = s32[] constant(1)\n  z "))));
}

// Devices that leave the loop at different times do not meet in it.
TEST(LoopInduction, NotWhereDevicesCountDifferently) {
  const auto alone = [](const std::string& text) {
    return With(text,
                "all-reduce(p), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, "
                "to_apply=max",
                "copy(p)");
  };
  EXPECT_FALSE(IsProved(ProveText(alone(Inside()), alone(Inside()))));
  EXPECT_FALSE(IsProved(ProveText(alone(Inside()), alone(Behind()))));
}

// A loop that gathers a shard in each iteration, and one over what was gathered before.
std::string Gathered(bool before_the_loop) {
  const std::string gather =
      "all-gather(w), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, "
      "dimensions={0}\n";
  const std::string held = before_the_loop ? "s32[4]" : "s32[2]";
  const std::string state = "(s32[], s32[4], " + held + ", s32[])";
  return R"(
max {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] maximum(a, b)
}
more {
  t = )" +
         state + R"( parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=3
  ROOT r = pred[] compare(i, n), direction=LT
}
step {
  t = )" +
         state + R"( parameter(0)
  i = s32[] get-tuple-element(t), index=0
  acc = s32[4] get-tuple-element(t), index=1
  w = )" +
         held + R"( get-tuple-element(t), index=2
  n = s32[] get-tuple-element(t), index=3
  one = s32[] constant(1)
  g = s32[4] )" +
         (before_the_loop ? "copy(w)\n" : gather) + R"(
  a = s32[4] multiply(acc, g)
  new = s32[4] add(a, g)
  v = )" +
         held + R"( negate(w)
  next = s32[] add(i, one)
  ROOT out = )" +
         state + R"( tuple(next, new, v, n)
}
ENTRY main {
  w = s32[2] parameter(0)
  start = s32[4] parameter(1)
  p = s32[] parameter(2)
  n = s32[] all-reduce(p), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=max
  zero = s32[] constant(0)
  g = )" +
         held + " " + (before_the_loop ? gather : "copy(w)\n") + R"(
  state = )" +
         state + R"( tuple(zero, start, g, n)
  loop = )" +
         state + R"( while(state), condition=more, body=step
  ROOT r = s32[4] get-tuple-element(loop), index=1
}
)";
}

TEST(LoopInduction, AGatherMovesBeforeTheLoop) {
  const ProofResult proof = ProveText(Gathered(false), Gathered(true));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_TRUE(IsProved(ProveText(Gathered(true), Gathered(false))));
  const std::string reversed =
      With(Gathered(true), "replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}",
           "replica_groups={{1,0}}, use_global_device_ids=true, dimensions={0}");
  EXPECT_FALSE(IsProved(ProveText(Gathered(false), reversed)));
  EXPECT_FALSE(IsProved(ProveText(Gathered(false), With(Gathered(true), "negate(w)", "copy(w)"))));
}

// Loops of the bug cases, with unrolling switched off: no wrong proof, and the sums that move are
// proved.
TEST(LoopInduction, BugCases) {
  const std::map<std::string, bool> cases = {
      {"b37-scatter-loop-carry-on-one-partition", false},
      {"b39-loop-reduce-moved-with-initial-value", false},
      {"b39-loop-reduce-moved-with-initial-value-fixed", true},
      {"b41-pipelined-gather-counts-from-zero", false},
      {"b64-trip-count-differs", false}};
  for (const auto& [name, proved] : cases) {
    const std::string folder = std::string(HV_TEST_DATA) + "/cases/bugs/" + name;
    auto before = ParseModuleFile(folder + "/before.hlo");
    auto after = ParseModuleFile(folder + "/after.hlo");
    ASSERT_TRUE(before.has_value() && after.has_value()) << name;
    std::ifstream in(folder + "/case.json");
    const auto about = nlohmann::json::parse(in);
    ProofOptions options;
    options.most_loop_steps = 1;
    const Mesh mesh{about["replica_count"], about["partition_count"]};
    const ProofResult result = ProvePair(*before, *after, mesh, options);
    EXPECT_EQ(IsProved(result), proved) << name << ": " << result.reason;
  }
}

}  // namespace
}  // namespace hv
