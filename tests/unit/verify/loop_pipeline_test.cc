// Loops rewritten across iterations: pipelined collectives and a peeled turn. None is run; beside
// each proof stand pairs that look alike and must not be proved.
#include <fstream>
#include <nlohmann/json.hpp>

#include "loop_text.h"

namespace hv {
namespace {

// Proves a pair of files with loops that may not be run.
ProofResult ProveFolder(const std::string& folder) {
  auto before = ParseModuleFile(folder + "/before.hlo");
  auto after = ParseModuleFile(folder + "/after.hlo");
  EXPECT_TRUE(before.has_value() && after.has_value()) << folder;
  std::ifstream in(folder + "/case.json");
  const auto about = nlohmann::json::parse(in);
  ProofOptions options;
  options.most_loop_steps = 1;
  return ProvePair(*before, *after, Mesh{about["replica_count"], about["partition_count"]},
                   options);
}
TEST(LoopPipeline, RealRewrites) {
  for (const std::string name : {"collective_pipeliner_backward__loop_gather_layers",
                                 "collective_pipeliner_forward__loop_reduce_store",
                                 "loop_double_buffer_transformer__accumulate_then_reduce",
                                 "loop_double_buffer_transformer__jacobi_halo",
                                 "loop_double_buffer_transformer__loop_gather_layers",
                                 "while_loop_all_reduce_code_motion__accumulate_then_reduce",
                                 "collective_permute_decomposer__pipeline_stages",
                                 "collective_permute_decomposer__ring_attention",
                                 "collective_permute_decomposer__ring_gather_matmul",
                                 "collective_permute_combiner__ring_attention"}) {
    const ProofResult proof = ProveFolder(std::string(HV_TEST_DATA) + "/real/pairs/" + name);
    EXPECT_TRUE(IsProved(proof)) << name << ": " << proof.reason;
    EXPECT_FALSE(proof.assumes_end) << name;
  }
}

// Each row of xs is doubled, added up over the devices and stored, 20 000 times.
std::string Stored() {
  return std::string(kSum) + R"(
more {
  t = (s32[], f32[20000,3], f32[20000,3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(20000)
  ROOT r = pred[] compare(i, n), direction=LT
}
step {
  t = (s32[], f32[20000,3], f32[20000,3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  out = f32[20000,3] get-tuple-element(t), index=1
  xs = f32[20000,3] get-tuple-element(t), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  row = f32[1,3] dynamic-slice(xs, i, zero), dynamic_slice_sizes={1,3}
  twice = f32[1,3] add(row, row)
  sums = f32[1,3] all-reduce(twice), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
  stored = f32[20000,3] dynamic-update-slice(out, sums, i, zero)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[20000,3], f32[20000,3]) tuple(next, stored, xs)
}
ENTRY main {
  xs = f32[20000,3] parameter(0)
  out = f32[20000,3] parameter(1)
  zero = s32[] constant(0)
  state = (s32[], f32[20000,3], f32[20000,3]) tuple(zero, out, xs)
  loop = (s32[], f32[20000,3], f32[20000,3]) while(state), condition=more, body=step
  ROOT r = f32[20000,3] get-tuple-element(loop), index=1
}
)";
}

// The sum of row i - 1 is taken and stored while row i is doubled: forward pipelining.
std::string StoredLate() {
  return std::string(kSum) + R"(
more {
  t = (s32[], f32[20000,3], f32[20000,3], s32[], f32[1,3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(20000)
  ROOT r = pred[] compare(i, n), direction=LT
}
step {
  t = (s32[], f32[20000,3], f32[20000,3], s32[], f32[1,3]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  out = f32[20000,3] get-tuple-element(t), index=1
  xs = f32[20000,3] get-tuple-element(t), index=2
  at = s32[] get-tuple-element(t), index=3
  late = f32[1,3] get-tuple-element(t), index=4
  zero = s32[] constant(0)
  one = s32[] constant(1)
  sums = f32[1,3] all-reduce(late), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
  stored = f32[20000,3] dynamic-update-slice(out, sums, at, zero)
  row = f32[1,3] dynamic-slice(xs, i, zero), dynamic_slice_sizes={1,3}
  twice = f32[1,3] add(row, row)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[20000,3], f32[20000,3], s32[], f32[1,3]) tuple(next, stored, xs, i, twice)
}
ENTRY main {
  xs = f32[20000,3] parameter(0)
  out = f32[20000,3] parameter(1)
  zero = s32[] constant(0)
  one = s32[] constant(1)
  first = f32[1,3] dynamic-slice(xs, zero, zero), dynamic_slice_sizes={1,3}
  twice = f32[1,3] add(first, first)
  state = (s32[], f32[20000,3], f32[20000,3], s32[], f32[1,3]) tuple(one, out, xs, zero, twice)
  loop = (s32[], f32[20000,3], f32[20000,3], s32[], f32[1,3]) while(state), condition=more, body=step
  stored = f32[20000,3] get-tuple-element(loop), index=1
  at = s32[] get-tuple-element(loop), index=3
  late = f32[1,3] get-tuple-element(loop), index=4
  sums = f32[1,3] all-reduce(late), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
  ROOT r = f32[20000,3] dynamic-update-slice(stored, sums, at, zero)
}
)";
}

TEST(LoopPipeline, ASumTakenOneIterationLate) {
  const ProofResult proof = ProveLoops(Stored(), StoredLate());
  ASSERT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_EQ(proof.level, ProofLevel::kBitwise);
  EXPECT_FALSE(proof.assumes_end);
  EXPECT_TRUE(IsProved(ProveLoops(StoredLate(), Stored())));
}

TEST(LoopPipeline, NotASumTakenOneIterationLateWithAFault) {
  const std::pair<std::string, std::string> faults[] = {
      {"tuple(one, out, xs, zero, twice)", "tuple(zero, out, xs, zero, twice)"},  // a turn more
      {"constant(20000)", "constant(19999)"},                                     // a turn less
      {"tuple(one, out, xs, zero, twice)", "tuple(one, out, xs, one, twice)"},    // wrong first row
      {"dynamic-slice(xs, zero, zero)", "dynamic-slice(xs, one, zero)"},
      {"add(first, first)", "add(first, late0)"},
      {"tuple(next, stored, xs, i, twice)", "tuple(next, stored, xs, next, twice)"},
      {"dynamic-update-slice(out, sums, at, zero)", "dynamic-update-slice(out, sums, i, zero)"},
      {"ROOT r = f32[20000,3] dynamic-update-slice(stored, sums, at, zero)",
       "ROOT r = f32[20000,3] copy(stored)"},  // the epilogue dropped
      {"channel_id=2, replica_groups={{0,1}}", "channel_id=2, replica_groups={{0},{1}}"},
      {"tuple(next, stored, xs, i, twice)", "tuple(next, stored, xs, i, row)"},
      {"constant(1)\n  sums", "constant(2)\n  sums"}};
  for (const auto& [from, to] : faults) {
    std::string after = With(StoredLate(), from, to);
    if (to.find("late0") != std::string::npos) {
      after =
          With(after, "  twice = f32[1,3] add(first, late0)",
               "  late0 = f32[1,3] multiply(first, first)\n  twice = f32[1,3] add(first, late0)");
    }
    EXPECT_FALSE(IsProved(ProveLoops(Stored(), after))) << to;
  }
}

// acc takes in a gathered row in each turn; `ahead`: the row of the next turn is gathered in this
// one, the last turn is made behind the loop.
std::string Gathering(bool ahead, const std::string& count = "s32[] constant(20000)",
                      const std::string& ahead_count = "s32[] constant(19999)") {
  const std::string gather =
      " all-gather(row), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, "
      "dimensions={1}\n";
  std::string text = R"(
max {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] maximum(a, b)
}
more {
  t = STATE parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] get-tuple-element(t), index=3
  ROOT r = pred[] compare(i, n), direction=LT
}
step {
  t = STATE parameter(0)
  i = s32[] get-tuple-element(t), index=0
  acc = s32[1,4] get-tuple-element(t), index=1
  xs = s32[20000,2] get-tuple-element(t), index=2
  n = s32[] get-tuple-element(t), index=3
  zero = s32[] constant(0)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  row = s32[1,2] dynamic-slice(xs, PLACE, zero), dynamic_slice_sizes={1,2}
  g = s32[1,4]GATHER  r1 = s32[1,4] negate(acc)
  new = s32[1,4] add(r1, USED)
  ROOT r = STATE tuple(next, new, xs, nCARRIED)
}
ENTRY main {
  xs = s32[20000,2] parameter(0)
  acc0 = s32[1,4] parameter(1)
  p = s32[] parameter(2)
  q = s32[] all-reduce(p), channel_id=3, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=max
  zero = s32[] constant(0)
  one = s32[] constant(1)
  n = COUNT
  row = s32[1,2] dynamic-slice(xs, zero, zero), dynamic_slice_sizes={1,2}
FIRST  state = STATE tuple(zero, acc0, xs, nCARRIED)
  loop = STATE while(state), condition=more, body=step
  acc = s32[1,4] get-tuple-element(loop), index=1
LAST})";
  text = Everywhere(text, "STATE",
                    ahead ? "(s32[], s32[1,4], s32[20000,2], s32[], s32[1,4])"
                          : "(s32[], s32[1,4], s32[20000,2], s32[])");
  text = With(text, "PLACE", ahead ? "next" : "i");
  text = Everywhere(text, "USED", ahead ? "had" : "g");
  text = Everywhere(text, "CARRIED", ahead ? ", g" : "");
  text = With(text, "COUNT", ahead ? ahead_count : count);
  text = With(text, "FIRST", ahead ? "  g = s32[1,4]" + gather : "");
  text = With(text, "LAST",
              ahead ? "  last = s32[1,4] get-tuple-element(loop), index=4\n"
                      "  m = s32[1,4] negate(acc)\n  ROOT r = s32[1,4] add(m, last)\n"
                    : "  ROOT r = s32[1,4] copy(acc)\n");
  text = With(text, "GATHER", gather);
  if (ahead) {
    text = With(text, "  next = s32[] add",
                "  had = s32[1,4] get-tuple-element(t), index=4\n  next = s32[] add");
  }
  return text;
}

TEST(LoopPipeline, AGatherOneIterationAhead) {
  const ProofResult proof = ProveLoops(Gathering(false), Gathering(true));
  ASSERT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_FALSE(proof.assumes_end);
  EXPECT_TRUE(IsProved(ProveLoops(Gathering(true), Gathering(false))));
}

TEST(LoopPipeline, NotAGatherOneIterationAheadWithAFault) {
  const std::pair<std::string, std::string> faults[] = {
      {"constant(19999)", "constant(20000)"},
      {"constant(19999)", "constant(19998)"},
      {"dynamic-slice(xs, zero, zero)", "dynamic-slice(xs, one, zero)"},
      {"dynamic-slice(xs, next, zero)", "dynamic-slice(xs, i, zero)"},
      {"ROOT r = s32[1,4] add(m, last)", "ROOT r = s32[1,4] copy(acc)"},
      {"tuple(zero, acc0, xs, n, g)", "tuple(one, acc0, xs, n, g)"},
      {"replica_groups={{0,1}}, use_global_device_ids=true, dimensions={1}",
       "replica_groups={{1,0}}, use_global_device_ids=true, dimensions={1}"}};
  for (const auto& [from, to] : faults) {
    EXPECT_FALSE(IsProved(ProveLoops(Gathering(false), With(Gathering(true), from, to)))) << to;
  }
}

// How often the loops turn is data: one turn may be peeled off only if it is certainly made.
TEST(LoopPipeline, APeeledTurnIsMade) {
  const std::string one = "s32[] maximum(q, one)", none = "s32[] maximum(q, zero)";
  const std::string any = "s32[] copy(q)";
  const auto late = [](const std::string& count) {
    // The loop ahead runs while i + 1 < n.
    const std::string text = Gathering(true, {}, count);
    return With(With(text, "compare(i, n)", "compare(i1, n)"),
                "  n = s32[] get-tuple-element(t), index=3\n  ROOT",
                "  n = s32[] get-tuple-element(t), index=3\n  one = s32[] constant(1)\n"
                "  i1 = s32[] add(i, one)\n  ROOT");
  };
  const ProofResult proof = ProveLoops(Gathering(false, one), late(one));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_TRUE(proof.assumes_end);
  EXPECT_FALSE(IsProved(ProveLoops(Gathering(false, none), late(none))));
  EXPECT_FALSE(IsProved(ProveLoops(Gathering(false, any), late(any))));
  EXPECT_FALSE(IsProved(ProveLoops(Gathering(false, any), late(one))));
}

}  // namespace
}  // namespace hv
