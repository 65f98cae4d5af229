// Loops rewritten across iterations: pipelined collectives, unrolled and peeled loops, several loops
// and loops in loops. None is run; beside each proof stand pairs that look alike and must not be
// proved.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "proof_text.h"
#include "tests/fuzz/random_pair.h"

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

// The same for texts.
ProofResult Prove(const std::string& before, const std::string& after) {
  ProofOptions options;
  options.most_loop_steps = 1;
  return ProveText(before, after, {1, 2}, options);
}

TEST(LoopPipeline, RealRewrites) {
  for (const std::string name :
       {"collective_pipeliner_backward__loop_gather_layers",
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

std::string With(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string Everywhere(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

constexpr char kSum[] = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
)";

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
  const ProofResult proof = Prove(Stored(), StoredLate());
  ASSERT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_EQ(proof.level, ProofLevel::kBitwise);
  EXPECT_FALSE(proof.assumes_end);
  EXPECT_TRUE(IsProved(Prove(StoredLate(), Stored())));
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
      after = With(after, "  twice = f32[1,3] add(first, late0)",
                   "  late0 = f32[1,3] multiply(first, first)\n  twice = f32[1,3] add(first, late0)");
    }
    EXPECT_FALSE(IsProved(Prove(Stored(), after))) << to;
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
  const ProofResult proof = Prove(Gathering(false), Gathering(true));
  ASSERT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_FALSE(proof.assumes_end);
  EXPECT_TRUE(IsProved(Prove(Gathering(true), Gathering(false))));
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
    EXPECT_FALSE(IsProved(Prove(Gathering(false), With(Gathering(true), from, to)))) << to;
  }
}

// How often the loops turn is data: one turn may be peeled off only if it is certainly made.
TEST(LoopPipeline, APeeledTurnIsMade) {
  const std::string one = "s32[] maximum(q, one)", none = "s32[] maximum(q, zero)";
  const std::string any = "s32[] copy(q)";
  const auto late = [](const std::string& count) {
    // The loop ahead runs while i + 1 < n.
    const std::string text = Gathering(true, {}, count);
    return With(With(text, "compare(i, n)", "compare(i1, n)"), "  n = s32[] get-tuple-element(t), index=3\n  ROOT",
                "  n = s32[] get-tuple-element(t), index=3\n  one = s32[] constant(1)\n"
                "  i1 = s32[] add(i, one)\n  ROOT");
  };
  const ProofResult proof = Prove(Gathering(false, one), late(one));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_TRUE(proof.assumes_end);
  EXPECT_FALSE(IsProved(Prove(Gathering(false, none), late(none))));
  EXPECT_FALSE(IsProved(Prove(Gathering(false, any), late(any))));
  EXPECT_FALSE(IsProved(Prove(Gathering(false, any), late(one))));
}

// x becomes f(x, i, its neighbour's), `n` times in turns of `each`, `peeled` more ahead of the loop.
std::string Rolling(int n, int each, int peeled) {
  const std::string turn = R"(
  x@ = f32[4] FROM
  p@ = f32[4] collective-permute(x@), channel_id=@, source_target_pairs={{0,1},{1,0}}
  f@ = f32[] convert(i@)
  b@ = f32[4] broadcast(f@), dimensions={}
  m@ = f32[4] multiply(p@, b@)
  y@ = f32[4] subtract(x@, m@)
  j@ = s32[] add(i@, one)
)";
  int turns = 0;
  const auto made = [&](int count, const std::string& from) {
    std::string text;
    std::string x = from;
    for (int k = 0; k < count; ++k) {
      const std::string id = std::to_string(++turns);
      if (k > 0) {
        const std::string before = std::to_string(turns - 1);
        x = "copy(y" + before + ")";
        text += "  i" + id + " = s32[] copy(j" + before + ")\n";
      } else {
        text += "  i" + id + " = s32[] copy(i)\n";
      }
      text += With(Everywhere(turn, "@", id), "FROM", x);
    }
    return text;
  };
  const std::string body = made(each, "copy(x)"), j = std::to_string(turns);
  const std::string ahead = made(peeled, "copy(x)"), last = std::to_string(turns);
  std::string text = R"(
more {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(COUNT)
  ROOT r = pred[] compare(i, n), direction=LT
}
step {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  one = s32[] constant(1)
)" + body + "  ROOT r = (s32[], f32[4]) tuple(j" +
                     j + ", y" + j + R"()
}
ENTRY main {
  x = f32[4] parameter(0)
  one = s32[] constant(1)
  i = s32[] constant(0)
)" + ahead;
  text += peeled == 0 ? "  state = (s32[], f32[4]) tuple(i, x)\n"
                      : "  state = (s32[], f32[4]) tuple(j" + last + ", y" + last + ")\n";
  text += R"(
  loop = (s32[], f32[4]) while(state), condition=more, body=step
  ROOT r = f32[4] get-tuple-element(loop), index=1
}
)";
  return With(text, "COUNT", std::to_string(n));
}

TEST(LoopPipeline, UnrolledAndPeeled) {
  EXPECT_TRUE(IsProved(Prove(Rolling(20000, 1, 0), Rolling(20000, 2, 0))));
  EXPECT_TRUE(IsProved(Prove(Rolling(20001, 1, 0), Rolling(20001, 2, 1))));
  EXPECT_TRUE(IsProved(Prove(Rolling(20002, 3, 1), Rolling(20002, 1, 0))));
  EXPECT_TRUE(IsProved(Prove(Rolling(20000, 1, 0), Rolling(20000, 1, 2))));
}

TEST(LoopPipeline, NotUnrolledToTheWrongCount) {
  EXPECT_FALSE(IsProved(Prove(Rolling(20001, 1, 0), Rolling(20001, 2, 0))));
  EXPECT_FALSE(IsProved(Prove(Rolling(20000, 1, 0), Rolling(20000, 2, 1))));
  EXPECT_FALSE(IsProved(Prove(Rolling(20000, 1, 0), Rolling(20001, 1, 1))));
  const std::string reversed = With(Rolling(20000, 2, 0), "multiply(p2, b2)", "multiply(p2, b1)");
  EXPECT_FALSE(IsProved(Prove(Rolling(20000, 1, 0), reversed)));
}

// Two loops, one after the other, and one inside another: sums taken in each turn, or behind.
std::string Nested(const std::string& inner, const std::string& outer, const std::string& second) {
  std::string text = R"(
sum {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}
less {
  t = (s32[], (s32[4], s32[4])) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(20000)
  ROOT r = pred[] compare(i, n), direction=LT
}
inner {
  t = (s32[], (s32[4], s32[4])) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  u = (s32[4], s32[4]) get-tuple-element(t), index=1
  acc = s32[4] get-tuple-element(u), index=0
  x = s32[4] get-tuple-element(u), index=1
  y = s32[4] INNER
  new = s32[4] add(acc, y)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  v = (s32[4], s32[4]) tuple(new, x)
  ROOT r = (s32[], (s32[4], s32[4])) tuple(next, v)
}
outer {
  t = (s32[], (s32[4], s32[4])) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  u = (s32[4], s32[4]) get-tuple-element(t), index=1
  acc = s32[4] get-tuple-element(u), index=0
  x = s32[4] get-tuple-element(u), index=1
  zero = s32[] constant(0)
  none = s32[4] broadcast(zero), dimensions={}
  c = (s32[4], s32[4]) tuple(none, acc)
  state = (s32[], (s32[4], s32[4])) tuple(zero, c)
  loop = (s32[], (s32[4], s32[4])) while(state), condition=less, body=inner
  d = (s32[4], s32[4]) get-tuple-element(loop), index=1
  part = s32[4] get-tuple-element(d), index=0
  y = s32[4] OUTER
  new = s32[4] subtract(y, x)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  v = (s32[4], s32[4]) tuple(new, x)
  ROOT r = (s32[], (s32[4], s32[4])) tuple(next, v)
}
ENTRY main {
  a = s32[4] parameter(0)
  b = s32[4] parameter(1)
  zero = s32[] constant(0)
  u = (s32[4], s32[4]) tuple(a, b)
  state = (s32[], (s32[4], s32[4])) tuple(zero, u)
  first = (s32[], (s32[4], s32[4])) while(state), condition=less, body=outer
  v = (s32[4], s32[4]) get-tuple-element(first), index=1
  x = s32[4] get-tuple-element(v), index=0
  none = s32[4] broadcast(zero), dimensions={}
  w = (s32[4], s32[4]) tuple(none, x)
  again = (s32[], (s32[4], s32[4])) tuple(zero, w)
  second = (s32[], (s32[4], s32[4])) while(again), condition=less, body=inner
  z = (s32[4], s32[4]) get-tuple-element(second), index=1
  part = s32[4] get-tuple-element(z), index=0
  ROOT r = s32[4] SECOND
}
)";
  const std::string reduce =
      "all-reduce(@), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, "
      "to_apply=sum";
  text = With(text, "INNER", With(inner == "sum" ? reduce : "copy(@)", "@", "x"));
  text = With(text, "OUTER", With(outer == "sum" ? reduce : "copy(@)", "@", "part"));
  return With(text, "SECOND", With(second == "sum" ? reduce : "copy(@)", "@", "part"));
}

TEST(LoopPipeline, SeveralLoopsAndLoopsInLoops) {
  const ProofResult proof = Prove(Nested("sum", "", ""), Nested("", "sum", "sum"));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_TRUE(proof.by_induction);
  EXPECT_FALSE(IsProved(Prove(Nested("sum", "", ""), Nested("", "sum", ""))));
  EXPECT_FALSE(IsProved(Prove(Nested("sum", "", ""), Nested("", "", "sum"))));
  EXPECT_FALSE(IsProved(Prove(Nested("sum", "", ""), Nested("sum", "sum", ""))));
}

// Neighbours swap what they hold, by one permute or by messages.
std::string Swapping(bool messages, bool across = false) {
  const std::string swap = messages ? R"(
  after-all = token[] after-all()
  sent = (f32[4], u32[], token[]) send(x, after-all), channel_id=5, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}
  got = (f32[4], u32[], token[]) recv(after-all), channel_id=5, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"}, control-predecessors={sent}
  gone = token[] send-done(sent), channel_id=5
  come = (f32[4], token[]) recv-done(got), channel_id=5, control-predecessors={gone}
  y = f32[4] get-tuple-element(come), index=0
)"
                                    : R"(
  y = f32[4] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
)";
  return R"(
more {
  t = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(20000)
  ROOT r = pred[] compare(i, n), direction=LT
}
step {
  t = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  c = f32[4] get-tuple-element(t), index=2
)" + swap + R"(
  z = f32[4] multiply(y, c)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[4], f32[4]) tuple(next, z, c)
}
ENTRY main {
  x = f32[4] parameter(0)
  c = f32[4] parameter(1)
  i = s32[] constant(0)
)" + (across ? swap : "  y = f32[4] copy(x)\n") + R"(
  state = (s32[], f32[4], f32[4]) tuple(i, y, c)
  loop = (s32[], f32[4], f32[4]) while(state), condition=more, body=step
  ROOT r = f32[4] get-tuple-element(loop), index=1
}
)";
}

TEST(LoopPipeline, MessagesInsideOneTurn) {
  const ProofResult proof = Prove(Swapping(false), Swapping(true));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  const ProofResult ahead = Prove(Swapping(false, true), Swapping(true, true));
  EXPECT_TRUE(IsProved(ahead)) << ahead.reason;
  EXPECT_FALSE(IsProved(Prove(Swapping(false), Swapping(true, true))));
  const std::string wrong = "{{0,1},{1,0}}";
  EXPECT_FALSE(IsProved(
      Prove(Swapping(false), Everywhere(Swapping(true), wrong, "{{0,0},{1,1}}"))));
}

// Random pairs with loops, right and with another constant in one of them: what induction proves, the
// loops being run proves too.
TEST(LoopPipeline, InductionProvesNothingThatRunsDoNot) {
  int pairs = 0, by_induction = 0;
  const auto check = [&](const std::string& before, const std::string& after, const Mesh& mesh) {
    auto b = ParseModule("before", before), a = ParseModule("after", after);
    if (!b || !a || !Validate(*b) || !Validate(*a)) return;
    ProofOptions never;
    never.most_loop_steps = 1;
    const ProofResult proof = ProvePair(*b, *a, mesh, never);
    ++pairs;
    if (!IsProved(proof) || !proof.by_induction) return;
    ++by_induction;
    EXPECT_TRUE(IsProved(ProvePair(*b, *a, mesh, {}))) << before << after;
  };
  for (uint64_t seed = 0; seed < 24; ++seed) {
    const SketchPair pair = RandomPair(seed);
    const std::string before = pair.before.Text(), after = pair.after.Text();
    if (before.find(" while(") == std::string::npos) continue;
    if (after.find(" while(") == std::string::npos) continue;
    check(before, after, pair.before.mesh);
    for (const std::string from : {"constant(0)", "constant(1)", "constant(2)", "constant(3)"}) {
      const size_t first = after.find(from), last = after.rfind(from);
      for (const size_t at : {first, last}) {
        if (at == std::string::npos || (at == last && first == last && at != first)) continue;
        for (const char digit : {'0', '1', '2', '3'}) {
          std::string spoilt = after;
          spoilt[at + 9] = digit;
          if (spoilt != after) check(before, spoilt, pair.before.mesh);
        }
      }
    }
  }
  EXPECT_GT(pairs, 5);
  EXPECT_GT(by_induction, 0);
}

// What a loop hands on unchanged need not be gathered in every turn.
TEST(LoopPipeline, AnInvariantGatherLeavesTheLoop) {
  const auto text = [](bool outside, const std::string& group) {
    const std::string gather = "s32[4] all-gather(w), channel_id=1, replica_groups={{" + group +
                               "}}, use_global_device_ids=true, dimensions={0}\n";
    const std::string held = outside ? "s32[4]" : "s32[2]";
    return Everywhere(R"(
more {
  t = (s32[], s32[4], HELD) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(20000)
  ROOT r = pred[] compare(i, n), direction=LT
}
step {
  t = (s32[], s32[4], HELD) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = s32[4] get-tuple-element(t), index=1
  w = HELD get-tuple-element(t), index=2
  g = )" + (outside ? "s32[4] copy(w)\n" : gather) + R"(
  m = s32[4] multiply(x, g)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], s32[4], HELD) tuple(next, m, w)
}
ENTRY main {
  x = s32[4] parameter(0)
  w = s32[2] parameter(1)
  i = s32[] constant(0)
  g = )" + (outside ? gather : "s32[2] copy(w)\n") + R"(
  state = (s32[], s32[4], HELD) tuple(i, x, g)
  loop = (s32[], s32[4], HELD) while(state), condition=more, body=step
  ROOT r = s32[4] get-tuple-element(loop), index=1
}
)", "HELD", held);
  };
  EXPECT_TRUE(IsProved(Prove(text(false, "0,1"), text(true, "0,1"))));
  EXPECT_TRUE(IsProved(Prove(text(true, "1,0"), text(false, "1,0"))));
  EXPECT_FALSE(IsProved(Prove(text(false, "0,1"), text(true, "1,0"))));
}

// Identical loops are equal whether they end or not; that they do is said to be assumed.
TEST(LoopPipeline, EndlessLoopsAreEqualByAssumption) {
  const std::string text = R"(
more {
  t = (s32[], s32[4]) parameter(0)
  ROOT r = pred[] constant(true)
}
step {
  t = (s32[], s32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = s32[4] get-tuple-element(t), index=1
  y = s32[4] NEGATE(x)
  ROOT r = (s32[], s32[4]) tuple(i, y)
}
ENTRY main {
  x = s32[4] parameter(0)
  i = s32[] constant(0)
  state = (s32[], s32[4]) tuple(i, x)
  loop = (s32[], s32[4]) while(state), condition=more, body=step
  ROOT r = s32[4] get-tuple-element(loop), index=1
}
)";
  const ProofResult proof =
      Prove(With(text, "NEGATE", "negate"), With(text, "NEGATE", "negate"));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_TRUE(proof.assumes_end);
  EXPECT_FALSE(IsProved(Prove(With(text, "NEGATE", "negate"), With(text, "NEGATE", "not"))));
}

}  // namespace
}  // namespace hv
