// Control that is data: windows, branches and scatters that follow parameters. Beside each proof
// stands a pair that looks alike and must not be proved.
#include <gtest/gtest.h>

#include "proof_text.h"

namespace hv {
namespace {

std::string Entry(const std::string& body) { return "ENTRY main {\n" + body + "}\n"; }

TEST(DataSlice, WindowOfAWindowIsAWindow) {
  const std::string before = Entry(R"(
  p = f32[7] parameter(0)
  s = s32[] parameter(1)
  two = s32[] constant(2)
  w = f32[5] dynamic-slice(p, s), dynamic_slice_sizes={5}
  ROOT r = f32[2] dynamic-slice(w, two), dynamic_slice_sizes={2}
)");
  const auto after = [](const std::string& last) {
    return Entry(R"(
  p = f32[7] parameter(0)
  s = s32[] parameter(1)
  zero = s32[] constant(0)
  last = s32[] constant()" +
                 last + R"()
  two = s32[] constant(2)
  c = s32[] clamp(zero, s, last)
  b = s32[] add(c, two)
  ROOT r = f32[2] dynamic-slice(p, b), dynamic_slice_sizes={2}
)");
  };
  EXPECT_TRUE(IsProved(ProveText(before, after("2"))));
  EXPECT_FALSE(IsProved(ProveText(before, after("3"))));
  EXPECT_FALSE(IsProved(ProveText(before, after("1"))));
}

// Starts of 8 bits wrap where those of 32 bits do not.
TEST(DataSlice, NarrowStartsWrap) {
  const auto module = [](const std::string& type) {
    return Entry("  p = s32[3] parameter(0)\n  s = u8[] parameter(1)\n  n = " + type +
                 "[] convert(s)\n  k = " + type + "[] constant(200)\n  b = " + type +
                 "[] add(n, k)\n  ROOT r = s32[1] dynamic-slice(p, b), dynamic_slice_sizes={1}\n");
  };
  EXPECT_TRUE(IsProved(ProveText(module("u8"), module("u8"))));
  EXPECT_TRUE(IsProved(ProveText(module("u32"), module("s64"))));
  EXPECT_FALSE(IsProved(ProveText(module("u8"), module("u32"))));
}

TEST(DataSlice, UpdateThenSliceOfTheSameWindow) {
  const auto module = [](const std::string& root) {
    return Entry(R"(
  p = s32[4] parameter(0)
  u = s32[2] parameter(1)
  s = u32[] parameter(2)
  t = u32[] parameter(3)
  d = s32[4] dynamic-update-slice(p, u, s)
  )" + root);
  };
  const std::string copy = "ROOT r = s32[2] copy(u)\n";
  const std::string same = "ROOT r = s32[2] dynamic-slice(d, s), dynamic_slice_sizes={2}\n";
  const std::string other = "ROOT r = s32[2] dynamic-slice(d, t), dynamic_slice_sizes={2}\n";
  EXPECT_TRUE(IsProved(ProveText(module(copy), module(same))));
  EXPECT_FALSE(IsProved(ProveText(module(copy), module(other))));
}

constexpr char kSum[] =
    "sum {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n"
    "  ROOT r = s32[] add(a, b)\n}\n\n";

TEST(DataBranch, OfOneDeviceIsASelect) {
  const std::string branches = R"(
twice {
  x = s32[4] parameter(0)
  ROOT r = s32[4] add(x, x)
}
none {
  x = s32[4] parameter(0)
  ROOT r = s32[4] subtract(x, x)
}
)";
  const std::string before = branches + Entry(R"(
  p = s32[4] parameter(0)
  c = pred[] parameter(1)
  ROOT r = s32[4] conditional(c, p, p), true_computation=twice, false_computation=none
)");
  const auto after = [&](const std::string& operands) {
    return Entry(R"(
  p = s32[4] parameter(0)
  c = pred[] parameter(1)
  cs = pred[4] broadcast(c), dimensions={}
  two = s32[] constant(2)
  twos = s32[4] broadcast(two), dimensions={}
  d = s32[4] multiply(p, twos)
  zero = s32[] constant(0)
  z = s32[4] broadcast(zero), dimensions={}
  ROOT r = s32[4] select(cs, )" +
                 operands + ")\n");
  };
  EXPECT_TRUE(IsProved(ProveText(before, after("d, z"))));
  EXPECT_FALSE(IsProved(ProveText(before, after("z, d"))));
}

// An index out of range picks the last branch.
TEST(DataBranch, IndexOutOfRange) {
  const std::string branches = R"(
one {
  x = s32[] parameter(0)
  c = s32[] constant(1)
  ROOT r = s32[] add(x, c)
}
two {
  x = s32[] parameter(0)
  c = s32[] constant(2)
  ROOT r = s32[] add(x, c)
}
)";
  const auto module = [&](const std::string& selector) {
    return branches + Entry("  i = s32[] parameter(0)\n  x = s32[] parameter(1)\n" + selector +
                            "  ROOT r = s32[] conditional(k, x, x), "
                            "branch_computations={one, two}\n");
  };
  const std::string plain = module("  k = s32[] copy(i)\n");
  EXPECT_TRUE(IsProved(ProveText(
      plain, Entry("  i = s32[] parameter(0)\n  x = s32[] parameter(1)\n  z = s32[] constant(0)\n"
                   "  t = s32[] constant(2)\n  o = s32[] constant(1)\n"
                   "  c = pred[] compare(i, z), direction=EQ\n  m = s32[] select(c, o, t)\n"
                   "  ROOT r = s32[] add(x, m)\n"))));
  const std::string clamped =
      module("  z = s32[] constant(0)\n  o = s32[] constant(1)\n  k = s32[] clamp(z, i, o)\n");
  EXPECT_FALSE(IsProved(ProveText(plain, clamped)));  // -1 picks the last, not the first
}

std::string Meeting(const std::string& selector) {
  return std::string(kSum) + R"(
meet {
  x = s32[4] parameter(0)
  ROOT r = s32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
}
alone {
  x = s32[4] parameter(0)
  ROOT r = s32[4] copy(x)
}
)" +
         Entry("  p = s32[4] parameter(0)\n  c = s32[] parameter(1)\n" + selector +
               "  zero = s32[] constant(0)\n  k = pred[] compare(s, zero), direction=GT\n"
               "  ROOT r = s32[4] conditional(k, p, p), true_computation=meet, "
               "false_computation=alone\n");
}

constexpr char kAgreed[] =
    "  s = s32[] all-reduce(c), channel_id=2, replica_groups={{0,1}}, "
    "use_global_device_ids=true, to_apply=sum\n";

TEST(DataBranch, DevicesThatMeetInsideMustAgree) {
  const std::string agreed = Meeting(kAgreed);
  const std::string hoisted = std::string(kSum) + Entry(R"(
  p = s32[4] parameter(0)
  c = s32[] parameter(1)
  s = s32[] all-reduce(c), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
  zero = s32[] constant(0)
  k = pred[] compare(s, zero), direction=GT
  ks = pred[4] broadcast(k), dimensions={}
  a = s32[4] all-reduce(p), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
  ROOT r = s32[4] select(ks, a, p)
)");
  EXPECT_TRUE(IsProved(ProveText(agreed, hoisted)));
  const ProofResult alone = ProveText(Meeting("  s = s32[] copy(c)\n"), hoisted);
  EXPECT_EQ(alone.outcome, ProofOutcome::kUnsupported);
  EXPECT_NE(alone.reason.find("not known to be the same data"), std::string::npos) << alone.reason;
}

// Two devices agree, the two of the other group do not.
TEST(DataBranch, AgreementIsJudgedByGroup) {
  std::string text = Meeting(
      "  s = s32[] all-reduce(c), channel_id=2, replica_groups={{0,1},{2},{3}}, "
      "use_global_device_ids=true, to_apply=sum\n");
  text.replace(text.find("{{0,1}}"), 7, "{{0,1},{2,3}}");
  EXPECT_EQ(ProveText(text, text, {1, 4}).outcome, ProofOutcome::kUnsupported);
  text.replace(text.find("{{0,1},{2},{3}}"), 15, "{{0,1},{2,3}}");
  EXPECT_TRUE(IsProved(ProveText(text, text, {1, 4})));
}

// The data is the same, the iteration in which it decides is not.
TEST(DataBranch, AgreementIsJudgedByMeeting) {
  const std::string text = std::string(kSum) + R"(
meet {
  x = s32[] parameter(0)
  ROOT r = s32[] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
}
alone {
  x = s32[] parameter(0)
  ROOT r = s32[] copy(x)
}
more {
  t = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(2)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = s32[] get-tuple-element(t), index=1
  d = s32[] get-tuple-element(t), index=2
  id = u32[] partition-id()
  me = s32[] convert(id)
  mine = pred[] compare(i, me), direction=EQ
  one = s32[] constant(1)
  k = s32[] select(mine, d, one)
  zero = s32[] constant(0)
  go = pred[] compare(k, zero), direction=GT
  y = s32[] conditional(go, x, x), true_computation=meet, false_computation=alone
  j = s32[] add(i, one)
  ROOT r = (s32[], s32[], s32[]) tuple(j, y, d)
}
)" + Entry(R"(
  p = s32[] parameter(0)
  c = s32[] parameter(1)
  d = s32[] all-reduce(c), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum
  z = s32[] constant(0)
  t = (s32[], s32[], s32[]) tuple(z, p, d)
  w = (s32[], s32[], s32[]) while(t), condition=more, body=body
  ROOT r = s32[] get-tuple-element(w), index=1
)");
  EXPECT_EQ(ProveText(text, text).outcome, ProofOutcome::kUnsupported);
}

// Messages pair by channel, whichever computation they stand in.
TEST(DataBranch, NoMessagesInside) {
  const std::string pairs =
      "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1},{1,0}}\"}";
  const std::string text =
      std::string(kSum) + R"(
swap {
  x = s32[4] parameter(0)
  t = token[] after-all()
  s = (s32[4], u32[], token[]) send(x, t), channel_id=1, )" +
      pairs + R"(
  v = (s32[4], u32[], token[]) recv(t), channel_id=1, )" +
      pairs + R"(
  sd = token[] send-done(s), channel_id=1
  vd = (s32[4], token[]) recv-done(v), channel_id=1
  ROOT r = s32[4] get-tuple-element(vd), index=0
}
alone {
  x = s32[4] parameter(0)
  ROOT r = s32[4] copy(x)
}
)" +
      Entry("  p = s32[4] parameter(0)\n  c = s32[] parameter(1)\n" + std::string(kAgreed) +
            "  zero = s32[] constant(0)\n  k = pred[] compare(s, zero), direction=GT\n"
            "  ROOT r = s32[4] conditional(k, p, p), true_computation=swap, "
            "false_computation=alone\n");
  EXPECT_EQ(ProveText(text, text).outcome, ProofOutcome::kUnsupported);
}

std::string Scatter(const std::string& type, const std::string& reducer, const std::string& body) {
  return "f {\n  a = " + type + "[] parameter(0)\n  b = " + type +
         "[] parameter(1)\n  ROOT r = " + type + "[] " + reducer + "(a, b)\n}\n\n" +
         Entry("  p = " + type + "[4] parameter(0)\n  i = s32[2,1] parameter(1)\n  u = " + type +
               "[2] parameter(2)\n  q = " + type + "[4] parameter(3)\n  zero = " + type +
               "[] constant(0)\n  none = " + type + "[4] broadcast(zero), dimensions={}\n" + body);
}

std::string ScatterOf(const std::string& name, const std::string& type,
                      const std::string& operand) {
  return "  " + name + " = " + type + "[4] scatter(" + operand +
         ", i, u), update_window_dims={}, inserted_window_dims={0}, "
         "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f\n";
}

TEST(DataScatter, AddsWhatItAddsToNothing) {
  const auto pair = [](const std::string& type, const std::string& reducer) {
    const std::string before = Scatter(
        type, reducer, ScatterOf("s", type, "p") + "  ROOT r = " + type + "[4] add(s, q)\n");
    const std::string after = Scatter(type, reducer,
                                      ScatterOf("s", type, "none") + "  t = " + type +
                                          "[4] add(p, q)\n  ROOT r = " + type + "[4] add(s, t)\n");
    return ProveText(before, after);
  };
  EXPECT_TRUE(IsProved(pair("s32", "add")));
  const ProofResult floats = pair("f32", "add");
  EXPECT_TRUE(IsProved(floats));
  EXPECT_EQ(floats.sub_class, "nested sums");
  EXPECT_FALSE(IsProved(pair("s32", "maximum")));
  EXPECT_FALSE(IsProved(pair("s32", "subtract")));
}

TEST(DataScatter, OtherIndicesAreOtherPlaces) {
  const std::string before =
      Scatter("s32", "add", ScatterOf("s", "s32", "p") + "  ROOT r = s32[4] copy(s)\n");
  std::string after = before;
  after.replace(after.find(", i, u)"), 7, ", j, u)");
  after.insert(after.find("  s = "), "  j = s32[2,1] reverse(i), dimensions={0}\n");
  EXPECT_FALSE(IsProved(ProveText(before, after)));
}

TEST(DataSplit, SelectionsThatTogetherAreOne) {
  const auto module = [](const std::string& root) {
    return Entry(R"(
  x = s32[4] parameter(0)
  y = s32[4] parameter(1)
  p = pred[4] parameter(2)
  q = pred[4] parameter(3)
  a = s32[4] select(p, x, y)
  b = s32[4] select(p, y, x)
  c = s32[4] select(q, y, x)
  np = pred[4] not(p)
  pr = pred[4] reverse(p), dimensions={0}
  d = s32[4] select(np, y, x)
  e = s32[4] select(pr, y, x)
  xy = s32[4] add(x, y)
  )" + root);
  };
  const std::string sum = module("ROOT r = s32[4] copy(xy)\n");
  EXPECT_TRUE(IsProved(ProveText(sum, module("ROOT r = s32[4] add(a, b)\n"))));
  EXPECT_FALSE(IsProved(ProveText(sum, module("ROOT r = s32[4] add(a, c)\n"))));
  EXPECT_FALSE(IsProved(ProveText(sum, module("ROOT r = s32[4] add(a, e)\n"))));
  EXPECT_TRUE(IsProved(
      ProveText(module("ROOT r = s32[4] copy(a)\n"), module("ROOT r = s32[4] copy(d)\n"))));
  EXPECT_FALSE(IsProved(
      ProveText(module("ROOT r = s32[4] copy(a)\n"), module("ROOT r = s32[4] copy(b)\n"))));
}

TEST(DataSplit, RangesDecideComparisons) {
  const auto module = [](const std::string& root) {
    return Entry(
        "  x = u8[4] parameter(0)\n  m = u8[] constant(3)\n"
        "  ms = u8[4] broadcast(m), dimensions={}\n  f = u8[] constant(4)\n"
        "  fs = u8[4] broadcast(f), dimensions={}\n  a = u8[4] and(x, ms)\n"
        "  b = u8[4] add(x, ms)\n  t = pred[] constant(true)\n"
        "  ts = pred[4] broadcast(t), dimensions={}\n  " +
        root);
  };
  const std::string holds = module("ROOT r = pred[4] copy(ts)\n");
  const auto compare = [&](const std::string& text) {
    return IsProved(ProveText(holds, module("ROOT r = pred[4] compare" + text + "\n")));
  };
  EXPECT_TRUE(compare("(a, fs), direction=LT"));
  EXPECT_TRUE(compare("(a, ms), direction=LE"));
  EXPECT_FALSE(compare("(a, ms), direction=LT"));
  EXPECT_FALSE(compare("(b, x), direction=GE"));   // wraps
  EXPECT_FALSE(compare("(b, ms), direction=GE"));  // wraps
}

// A hash reaches its input on 2^60 ways, and none of them is an integer of few values.
TEST(DataSelect, DecidedByAHash) {
  const auto module = [](const std::string& chosen) {
    std::string rounds = "  x0 = u32[] parameter(0)\n  seven = u32[] constant(7)\n";
    for (int i = 0; i < 60; ++i) {
      const std::string x = "x" + std::to_string(i), left = "l" + std::to_string(i);
      rounds += "  " + left + " = u32[] shift-left(" + x + ", seven)\n  x" + std::to_string(i + 1) +
                " = u32[] xor(" + x + ", " + left + ")\n";
    }
    return Entry(rounds + R"(
  a = f32[] parameter(1)
  b = f32[] parameter(2)
  k = pred[] compare(x60, seven), direction=LT
  n = pred[] not(k)
  s = f32[] add(a, b)
  ROOT r = f32[] select()" +
                 chosen + ")\n");
  };
  EXPECT_TRUE(IsProved(ProveText(module("k, s, b"), module("n, b, s"))));
  EXPECT_FALSE(IsProved(ProveText(module("k, s, b"), module("n, s, b"))));
}

// Bits read as another type are another function: what follows works in that type.
TEST(DataBits, ReadAsAnotherType) {
  const auto compared = [](const std::string& x, const std::string& y, const std::string& shape) {
    return Entry("  p = s32[" + shape + "] parameter(0)\n  q = s32[" + shape +
                 "] parameter(1)\n  x = " + x + "\n  y = " + y + "\n  ROOT r = pred[" + shape +
                 "] compare(x, y), direction=LT\n");
  };
  const std::string plain = compared("s32[4] copy(p)", "s32[4] copy(q)", "4");
  for (const std::string cast : {"bitcast", "bitcast-convert"}) {
    for (const std::string type : {"u32", "f32"}) {
      const std::string bits =
          compared(type + "[4] " + cast + "(p)", type + "[4] " + cast + "(q)", "4");
      EXPECT_FALSE(IsProved(ProveText(plain, bits, {1, 1}))) << cast << type;
      EXPECT_FALSE(IsProved(ProveText(plain, bits, {1, 128}))) << cast << type;
      EXPECT_TRUE(IsProved(
          ProveText(bits, compared(type + "[4] bitcast(p)", type + "[4] bitcast-convert(q)", "4"))))
          << cast << type;
    }
  }
  EXPECT_TRUE(IsProved(ProveText(compared("u32[4] bitcast(p)", "u32[4] bitcast(q)", "4"),
                                 compared("u32[4] convert(p)", "u32[4] convert(q)", "4"))));
}

TEST(DataBits, ThereAndBackMoveAndAll) {
  const auto module = [](const std::string& type, const std::string& back) {
    return Entry("  p = f32[2,3] parameter(0)\n  b = " + type + "[3,2]{0,1} bitcast(p)\n  r = " +
                 back + "[2,3] bitcast(b)\n  ROOT c = f32[2,3] convert(r)\n");
  };
  const std::string same = Entry("  ROOT p = f32[2,3] parameter(0)\n");
  EXPECT_TRUE(IsProved(ProveText(same, module("s32", "f32"))));
  EXPECT_TRUE(IsProved(ProveText(module("u32", "s32"), module("s32", "s32"))));
  EXPECT_FALSE(IsProved(ProveText(same, module("s32", "s32"))));
  EXPECT_FALSE(IsProved(ProveText(module("s32", "u32"), module("s32", "s32"))));
}

// inf - inf and 0 * inf are no zeros, over the reals neither.
TEST(DataInfinity, ObeysNoRing) {
  const auto module = [](const std::string& value, const std::string& root) {
    return Entry("  x = f32[4] parameter(0)\n  p = pred[4] parameter(1)\n  v = f32[] constant(" +
                 value +
                 ")\n  i = f32[4] broadcast(v), dimensions={}\n  h = f32[] constant(0)\n"
                 "  z = f32[4] broadcast(h), dimensions={}\n" +
                 root);
  };
  const std::string there = "a = f32[4] add(x, i)\nROOT r = f32[4] subtract(a, i)\n";
  const std::string twice = "a = f32[4] multiply(x, i)\nROOT r = f32[4] multiply(a, z)\n";
  const std::string picked = "s = f32[4] select(p, z, i)\nROOT r = f32[4] add(s, x)\n";
  const std::string counted =
      "n = pred[4] not(p)\nc = f32[4] convert(n)\nm = f32[4] multiply(c, i)\n"
      "ROOT r = f32[4] add(m, x)\n";
  const std::string x = "ROOT r = f32[4] copy(x)\n", zero = "ROOT r = f32[4] copy(z)\n";
  EXPECT_TRUE(IsProved(ProveText(module("9", there), module("9", x))));
  EXPECT_TRUE(IsProved(ProveText(module("9", twice), module("9", zero))));
  EXPECT_TRUE(IsProved(ProveText(module("9", picked), module("9", counted))));
  for (const std::string value : {"inf", "-inf", "nan"}) {
    EXPECT_FALSE(IsProved(ProveText(module(value, there), module(value, x)))) << value;
    EXPECT_FALSE(IsProved(ProveText(module(value, twice), module(value, zero)))) << value;
    EXPECT_FALSE(IsProved(ProveText(module(value, picked), module(value, counted)))) << value;
  }
}

// 2^24 + 1 - 2^24 is 1, whatever f32 makes of it.
TEST(DataConstants, CancelOverTheReals) {
  const std::string big = Entry(R"(
  x = f32[2] parameter(0)
  z = f32[] constant(16777216)
  o = f32[] constant(1)
  a = f32[] add(z, o)
  b = f32[] subtract(a, z)
  c = f32[2] broadcast(b), dimensions={}
  ROOT r = f32[2] multiply(c, x)
)");
  EXPECT_TRUE(IsProved(ProveText(big, Entry("  ROOT x = f32[2] parameter(0)\n"))));
  EXPECT_FALSE(IsProved(ProveText(big, Entry("  x = f32[2] parameter(0)\n  z = f32[] constant(0)\n"
                                             "  ROOT r = f32[2] broadcast(z), dimensions={}\n"))));
}

}  // namespace
}  // namespace hv
