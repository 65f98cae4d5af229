// Loops of other shapes: unrolled and peeled ones, several loops and loops in loops, messages, what
// a loop hands on. Most are not run; beside each proof stand pairs that must not be proved.
#include "loop_text.h"
#include "tests/fuzz/random_pair.h"

namespace hv {
namespace {

// x becomes f(x, i, its neighbour's), `n` times in turns of `each`, `peeled` more ahead of the
// loop.
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

TEST(LoopShapes, UnrolledAndPeeled) {
  EXPECT_TRUE(IsProved(ProveLoops(Rolling(20000, 1, 0), Rolling(20000, 2, 0))));
  EXPECT_TRUE(IsProved(ProveLoops(Rolling(20001, 1, 0), Rolling(20001, 2, 1))));
  EXPECT_TRUE(IsProved(ProveLoops(Rolling(20002, 3, 1), Rolling(20002, 1, 0))));
  EXPECT_TRUE(IsProved(ProveLoops(Rolling(20000, 1, 0), Rolling(20000, 1, 2))));
}

TEST(LoopShapes, NotUnrolledToTheWrongCount) {
  EXPECT_FALSE(IsProved(ProveLoops(Rolling(20001, 1, 0), Rolling(20001, 2, 0))));
  EXPECT_FALSE(IsProved(ProveLoops(Rolling(20000, 1, 0), Rolling(20000, 2, 1))));
  EXPECT_FALSE(IsProved(ProveLoops(Rolling(20000, 1, 0), Rolling(20001, 1, 1))));
  const std::string reversed = With(Rolling(20000, 2, 0), "multiply(p2, b2)", "multiply(p2, b1)");
  EXPECT_FALSE(IsProved(ProveLoops(Rolling(20000, 1, 0), reversed)));
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

TEST(LoopShapes, SeveralLoopsAndLoopsInLoops) {
  const ProofResult proof = ProveLoops(Nested("sum", "", ""), Nested("", "sum", "sum"));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_TRUE(proof.by_induction);
  EXPECT_FALSE(IsProved(ProveLoops(Nested("sum", "", ""), Nested("", "sum", ""))));
  EXPECT_FALSE(IsProved(ProveLoops(Nested("sum", "", ""), Nested("", "", "sum"))));
  EXPECT_FALSE(IsProved(ProveLoops(Nested("sum", "", ""), Nested("sum", "sum", ""))));
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
)" + swap +
         R"(
  z = f32[4] multiply(y, c)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[4], f32[4]) tuple(next, z, c)
}
ENTRY main {
  x = f32[4] parameter(0)
  c = f32[4] parameter(1)
  i = s32[] constant(0)
)" + (across ? swap : "  y = f32[4] copy(x)\n") +
         R"(
  state = (s32[], f32[4], f32[4]) tuple(i, y, c)
  loop = (s32[], f32[4], f32[4]) while(state), condition=more, body=step
  ROOT r = f32[4] get-tuple-element(loop), index=1
}
)";
}

TEST(LoopShapes, MessagesInsideOneTurn) {
  const ProofResult proof = ProveLoops(Swapping(false), Swapping(true));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  const ProofResult ahead = ProveLoops(Swapping(false, true), Swapping(true, true));
  EXPECT_TRUE(IsProved(ahead)) << ahead.reason;
  EXPECT_FALSE(IsProved(ProveLoops(Swapping(false), Swapping(true, true))));
  const std::string wrong = "{{0,1},{1,0}}";
  EXPECT_FALSE(
      IsProved(ProveLoops(Swapping(false), Everywhere(Swapping(true), wrong, "{{0,0},{1,1}}"))));
}

// Random pairs with loops, right and with another constant in one of them: what induction proves,
// the loops being run proves too.
TEST(LoopShapes, InductionProvesNothingThatRunsDoNot) {
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
TEST(LoopShapes, AnInvariantGatherLeavesTheLoop) {
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
  g = )" + (outside ? "s32[4] copy(w)\n" : gather) +
                          R"(
  m = s32[4] multiply(x, g)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], s32[4], HELD) tuple(next, m, w)
}
ENTRY main {
  x = s32[4] parameter(0)
  w = s32[2] parameter(1)
  i = s32[] constant(0)
  g = )" + (outside ? gather : "s32[2] copy(w)\n") +
                          R"(
  state = (s32[], s32[4], HELD) tuple(i, x, g)
  loop = (s32[], s32[4], HELD) while(state), condition=more, body=step
  ROOT r = s32[4] get-tuple-element(loop), index=1
}
)",
                      "HELD", held);
  };
  EXPECT_TRUE(IsProved(ProveLoops(text(false, "0,1"), text(true, "0,1"))));
  EXPECT_TRUE(IsProved(ProveLoops(text(true, "1,0"), text(false, "1,0"))));
  EXPECT_FALSE(IsProved(ProveLoops(text(false, "0,1"), text(true, "1,0"))));
}

// Identical loops are equal whether they end or not; that they do is said to be assumed.
TEST(LoopShapes, EndlessLoopsAreEqualByAssumption) {
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
      ProveLoops(With(text, "NEGATE", "negate"), With(text, "NEGATE", "negate"));
  EXPECT_TRUE(IsProved(proof)) << proof.reason;
  EXPECT_TRUE(proof.assumes_end);
  EXPECT_FALSE(IsProved(ProveLoops(With(text, "NEGATE", "negate"), With(text, "NEGATE", "not"))));
}

}  // namespace
}  // namespace hv
