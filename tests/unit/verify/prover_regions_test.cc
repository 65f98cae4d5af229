// Value numbering and proofs of regions: what is the same is found at once, and no fact about the
// border of a region, no loop, group or effect makes different modules equal. Here modules are
// never run as a whole.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "bench/training_step.h"
#include "hlo/parser.h"
#include "hlo/printer.h"
#include "passes/registry.h"
#include "tests/unit/verify/verdict_of.h"
#include "verify/prover.h"

namespace hv {
namespace {

constexpr char kHead[] =
    "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
    "big { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n";

Module Parse(const std::string& text) {
  auto module = ParseModule("test", text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().Message()) << "\n" << text;
  return module ? std::move(*module) : Module{};
}

ProofResult Regions(const Module& before, const Module& after) {
  ProofOptions options;
  options.most_work = 0;
  return ProvePair(before, after, {before.replicas(), before.partitions()}, options);
}

ProofResult Regions(const std::string& before, const std::string& after, int devices = 4) {
  const std::string header =
      "HloModule m, num_partitions=" + std::to_string(devices) + "\n" + kHead;
  const Module b = Parse(header + before), a = Parse(header + after);
  return Regions(b, a);
}

void ExpectSame(const std::string& before, const std::string& after, ProofLevel level) {
  const ProofResult result = Regions(before, after);
  EXPECT_EQ(result.outcome, ProofOutcome::kProved) << result.reason << "\n" << before << after;
  EXPECT_EQ(result.level, level) << before << after;
}

void ExpectOpen(const std::string& before, const std::string& after) {
  const ProofResult result = Regions(before, after);
  EXPECT_NE(result.outcome, ProofOutcome::kProved) << result.method << "\n" << before << after;
}

TEST(ValueNumbering, SeesThroughCallsTuplesLayoutsAndStarts) {
  const std::string plain =
      "ENTRY e {\n  x = f32[4,6] parameter(0)\n  t = f32[6,4] transpose(x), dimensions={1,0}\n"
      "  g = f32[24,4] all-gather(t), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, "
      "use_global_device_ids=true\n  ROOT r = f32[24,4] negate(g)\n}\n";
  const std::string dressed =
      "inner { p = f32[4,6] parameter(0) ROOT q = f32[6,4] transpose(p), dimensions={1,0} }\n"
      "ENTRY e {\n  x = f32[4,6]{0,1} parameter(0)\n  c = f32[4,6]{1,0} copy(x)\n"
      "  f = f32[6,4] fusion(c), kind=kLoop, calls=inner\n"
      "  u = (f32[6,4], f32[4,6]) tuple(f, x)\n"
      "  v = f32[6,4] get-tuple-element(u), index=0\n"
      "  s = (f32[6,4], f32[24,4]) all-gather-start(v), channel_id=7, "
      "replica_groups=[1,4]<=[4], dimensions={0}, use_global_device_ids=true\n"
      "  d = f32[24,4] all-gather-done(s)\n  ROOT r = f32[24,4] negate(d)\n}\n";
  ExpectSame(plain, dressed, ProofLevel::kBitwise);
  EXPECT_EQ(Regions(plain, dressed).method, "value numbering");
}

TEST(ValueNumbering, OrderOfAGroupAndOfOperandsCount) {
  const auto gather = [](const std::string& groups) {
    return "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT g = f32[8] all-gather(x), channel_id=1, "
           "replica_groups=" +
           groups + ", dimensions={0}, use_global_device_ids=true\n}\n";
  };
  ExpectOpen(gather("{{0,1,2,3}}"), gather("{{0,1,3,2}}"));
  const auto subtract = [](const std::string& operands) {
    return "ENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] parameter(1)\n"
           "  ROOT g = f32[2] subtract(" +
           operands + ")\n}\n";
  };
  ExpectOpen(subtract("x, y"), subtract("y, x"));
  const auto max = [](const std::string& computation) {
    return "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT g = f32[2] all-reduce(x), channel_id=1, "
           "replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=" +
           computation + "\n}\n";
  };
  ExpectOpen(max("sum"), max("big"));
}

// The order of a bitcast's bytes follows from layouts, which nothing else looks at.
TEST(ValueNumbering, LayoutsCountForBitcasts) {
  const auto cast = [](const std::string& layout) {
    return "ENTRY e {\n  x = f32[2,3]" + layout + " parameter(0)\n  c = f32[2,3]" + layout +
           " copy(x)\n  ROOT b = f32[6]{0} bitcast(c)\n}\n";
  };
  ExpectSame(cast("{1,0}"), cast("{1,0}"), ProofLevel::kBitwise);
  ExpectOpen(cast("{1,0}"), cast("{0,1}"));
}

TEST(ValueNumbering, RandomNumbersAndEffectsKeepTheirOrder) {
  const auto draw = [](const std::string& result) {
    return "ENTRY e {\n  l = f32[] constant(0)\n  h = f32[] constant(1)\n"
           "  a = f32[2] rng(l, h), distribution=rng_uniform\n"
           "  b = f32[2] rng(l, h), distribution=rng_uniform\n"
           "  ROOT r = f32[2] subtract(" +
           result + ")\n}\n";
  };
  ExpectSame(draw("a, b"), draw("a, b"), ProofLevel::kBitwise);
  ExpectOpen(draw("a, b"), draw("a, a"));
  ExpectOpen(draw("a, b"), draw("b, a"));
  const auto effects = [](const std::string& first, const std::string& second) {
    const std::string tail = "\"), custom_call_has_side_effect=true\n";
    const auto call = [&](const std::string& name, const std::string& target) {
      return "  " + name + " = f32[2] custom-call(x), custom_call_target=\"" + target +
             "\", custom_call_has_side_effect=true\n";
    };
    return "ENTRY e {\n  x = f32[2] parameter(0)\n" + call("a", first) +
           (second.empty() ? "" : call("b", second)) + "  ROOT r = f32[2] negate(x)\n}\n";
  };
  ExpectSame(effects("log", "store"), effects("log", "store"), ProofLevel::kBitwise);
  ExpectOpen(effects("log", "store"), effects("store", "log"));
  ExpectOpen(effects("log", "log"), effects("log", ""));
}

std::string ScatterStep(const std::string& before_scatter, const std::string& scatter) {
  return "ENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n"
         "  p = u32[] partition-id()\n  s = u32[] constant(2)\n  o = u32[] multiply(p, s)\n"
         "  m = f32[8] exponential(x)\n" +
         before_scatter + scatter + "  n = f32[2] cosine(d)\n  ROOT r = f32[2] add(n, n)\n}\n";
}

constexpr char kReduceSlice[] =
    "  ar = f32[8] all-reduce(m), channel_id=1, replica_groups={{0,1,2,3}}, "
    "use_global_device_ids=true, to_apply=sum\n"
    "  d = f32[2] dynamic-slice(ar, o), dynamic_slice_sizes={2}\n";

TEST(ProverRegions, OnlyTheDifferenceIsProved) {
  const std::string scatter =
      "  d = f32[2] reduce-scatter(m), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={0}, "
      "use_global_device_ids=true, to_apply=sum\n";
  const ProofResult result = Regions(ScatterStep("", kReduceSlice), ScatterStep("", scatter));
  EXPECT_EQ(result.outcome, ProofOutcome::kProved) << result.reason;
  EXPECT_EQ(result.level, ProofLevel::kReassociation);
  EXPECT_EQ(result.method, "symbolic terms");
}

TEST(ProverRegions, AFaultIsNamed) {
  const std::string wrong =
      "  d = f32[2] reduce-scatter(m), channel_id=2, replica_groups={{0,1,3,2}}, dimensions={0}, "
      "use_global_device_ids=true, to_apply=sum\n";
  const ProofResult result = Regions(ScatterStep("", kReduceSlice), ScatterStep("", wrong));
  EXPECT_EQ(result.outcome, ProofOutcome::kNotProved);
  ASSERT_TRUE(result.suspect.has_value());
  EXPECT_EQ(result.suspect->before_name, "d");
  EXPECT_EQ(result.suspect->after_name, "d");
  EXPECT_EQ(result.suspect->before.Entry().parameters.size(), 1u);
  EXPECT_EQ(result.suspect->before.Entry().At(0).name, "m");
  ASSERT_TRUE(result.difference.has_value());
  EXPECT_EQ(result.difference->device.value, 2);
}

// A permute inside of groups that hold one value is the identity; across groups it is not.
TEST(ProverRegions, SamenessOfTheBorderIsUsedAsFarAsItGoes) {
  const auto step = [](const std::string& use, const std::string& pairs) {
    return "ENTRY e {\n  x = f32[2] parameter(0)\n"
           "  ar = f32[2] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, "
           "use_global_device_ids=true, to_apply=big\n  t = f32[2] cosine(ar)\n"
           "  u = f32[2] sine(t)\n"
           "  p = f32[2] collective-permute(u), channel_id=2, source_target_pairs=" +
           pairs + "\n  ROOT r = f32[2] negate(" + use + ")\n}\n";
  };
  ExpectSame(step("p", "{{0,1},{1,0},{2,3},{3,2}}"), step("u", "{{0,1},{1,0},{2,3},{3,2}}"),
             ProofLevel::kBitwise);
  ExpectOpen(step("p", "{{0,2},{2,0},{1,3},{3,1}}"), step("u", "{{0,2},{2,0},{1,3},{3,1}}"));
  ExpectOpen(step("p", "{{0,1},{1,0},{2,3}}"), step("u", "{{0,1},{1,0},{2,3}}"));
}

// Replicas that held one sum each add in an order of their own after.
TEST(ProverRegions, DriftIsNotProved) {
  const std::string before =
      "ENTRY e {\n  x = f32[2] parameter(0)\n  c = f32[2] cosine(x)\n"
      "  s = f32[2] all-reduce(c), channel_id=1, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=sum\n  ROOT r = f32[2] negate(s)\n}\n";
  std::string after = "ENTRY e {\n  x = f32[2] parameter(0)\n  c = f32[2] cosine(x)\n";
  std::string last = "c";
  for (int hop = 1; hop < 4; ++hop) {
    const std::string n = std::to_string(hop);
    after += "  p" + n + " = f32[2] collective-permute(" +
             (hop == 1 ? "c" : "p" + std::to_string(hop - 1)) + "), channel_id=" + n +
             ", source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n"
             "  a" +
             n + " = f32[2] add(" + last + ", p" + n + ")\n";
    last = "a" + n;
  }
  after += "  ROOT r = f32[2] negate(" + last + ")\n}\n";
  ExpectOpen(before, after);
}

std::string Loop(const std::string& limit, const std::string& body) {
  return "cond { s = (s32[], f32[8], f32[2]) parameter(0)\n"
         "  i = s32[] get-tuple-element(s), index=0\n" +
         limit +
         "  ROOT c = pred[] compare(i, n), direction=LT }\n"
         "body { s = (s32[], f32[8], f32[2]) parameter(0)\n"
         "  i = s32[] get-tuple-element(s), index=0\n  x = f32[8] get-tuple-element(s), index=1\n"
         "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  p = u32[] partition-id()\n"
         "  w = u32[] constant(2)\n  o = u32[] multiply(p, w)\n" +
         body +
         "  ROOT t = (s32[], f32[8], f32[2]) tuple(j, x, d) }\n"
         "ENTRY e {\n  z = s32[] constant(0)\n  x = f32[8] parameter(0)\n"
         "  y = f32[2] parameter(1)\n  init = (s32[], f32[8], f32[2]) tuple(z, x, y)\n"
         "  loop = (s32[], f32[8], f32[2]) while(init), condition=cond, body=body\n"
         "  ROOT r = f32[2] get-tuple-element(loop), index=2\n}\n";
}

std::string SliceInLoop(const std::string& groups) {
  return "  ar = f32[8] all-reduce(x), channel_id=1, replica_groups=" + groups +
         ", use_global_device_ids=true, to_apply=sum\n"
         "  d = f32[2] dynamic-slice(ar, o), dynamic_slice_sizes={2}\n";
}

std::string ScatterInLoop(const std::string& groups) {
  return "  d = f32[2] reduce-scatter(x), channel_id=1, replica_groups=" + groups +
         ", dimensions={0}, use_global_device_ids=true, to_apply=sum\n";
}

TEST(ProverRegions, LoopBodiesAreProvedForAllStates) {
  const std::string turns = "  n = s32[] constant(1000000)\n";
  const std::string all = "{{0,1,2,3}}";
  ExpectSame(Loop(turns, SliceInLoop(all)), Loop(turns, ScatterInLoop(all)),
             ProofLevel::kReassociation);
  ExpectOpen(Loop(turns, SliceInLoop(all)), Loop(turns, ScatterInLoop("{{1,0,2,3}}")));
  ExpectOpen(Loop(turns, SliceInLoop(all)),
             Loop("  n = s32[] constant(1000001)\n", SliceInLoop(all)));
}

// Devices that turn a different number of times never all meet: no proof may hide that.
TEST(ProverRegions, LoopsThatTurnDifferentlyAreRunAsAWhole) {
  const std::string turns = "  q = u32[] partition-id()\n  n = s32[] convert(q)\n";
  const std::string all = "{{0,1,2,3}}";
  ExpectOpen(Loop(turns, SliceInLoop(all)), Loop(turns, ScatterInLoop(all)));
  ExpectOpen(Loop(turns, SliceInLoop(all)), Loop(turns, SliceInLoop(all)));
}

TEST(ProverRegions, BranchesTakenByDataStayWhatTheyAre) {
  const auto branch = [](const std::string& first, const std::string& second) {
    return "one { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }\n"
           "two { p = f32[2] parameter(0) ROOT n = f32[2] cosine(p) }\n"
           "ENTRY e {\n  x = f32[2] parameter(0)\n  c = pred[] parameter(1)\n"
           "  ROOT r = f32[2] conditional(c, x, x), true_computation=" +
           first + ", false_computation=" + second + "\n}\n";
  };
  ExpectSame(branch("one", "two"), branch("one", "two"), ProofLevel::kBitwise);
  ExpectOpen(branch("one", "two"), branch("two", "one"));
}

TEST(ProverRegions, MessagesAreNotNumbered) {
  const std::string module =
      "ENTRY e {\n  x = f32[2] parameter(0)\n  k = token[] after-all()\n"
      "  s = (f32[2], u32[], token[]) send(x, k), channel_id=1, "
      "frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}\n"
      "  t = token[] send-done(s), channel_id=1\n"
      "  v = (f32[2], u32[], token[]) recv(k), channel_id=1, "
      "frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}\n"
      "  w = (f32[2], token[]) recv-done(v), channel_id=1\n"
      "  ROOT r = f32[2] get-tuple-element(w), index=0\n}\n";
  const ProofResult result = Regions(module, module);
  EXPECT_EQ(result.method, "symbolic terms");  // run as a whole
}

// A tensor-parallel training step, small; its size is a matter of bench_proof.
TEST(ProverRegions, TrainingStep) {
  TrainingStepSizes sizes;
  sizes.layers = 2;
  sizes.tensor = sizes.data = 2;
  sizes.tokens = sizes.hidden = 8;
  sizes.heads = 1;
  sizes.head = sizes.inner = 4;
  const Module before = Parse(TrainingStep(sizes).Write());
  const auto calls = ParsePasses("all_reduce_dynamic_slice_to_reduce_scatter");
  ASSERT_TRUE(calls.has_value());
  const Module after = RunPasses(*calls, before, {1, 4}).module;
  const ProofResult result = Regions(before, after);
  EXPECT_EQ(result.outcome, ProofOutcome::kProved) << result.reason;
  EXPECT_EQ(result.level, ProofLevel::kReassociation);

  Module faulty = after;
  for (Instruction& i : faulty.computations[static_cast<size_t>(faulty.entry)].instructions) {
    if (i.opcode != Opcode::kLogistic) continue;
    i.opcode = Opcode::kTanh;
    const ProofResult found = Regions(before, faulty);
    EXPECT_EQ(found.outcome, ProofOutcome::kNotProved);
    ASSERT_TRUE(found.suspect.has_value());
    EXPECT_EQ(found.suspect->after_name, i.name);
    break;
  }
}

// One wrong group in a training step that is too large to be run: the verdict is open, and its
// reason names the instructions, a device, and the summands that are missing and in excess.
TEST(ProverRegions, AFaultInALargeModuleIsLocated) {
  TrainingStepSizes sizes;
  sizes.layers = 12;
  Scenario s = PairOf(TrainingStep(sizes).Write(), "");
  const Module before = *ParseModule("before", s.before.text);
  const auto calls = ParsePasses("all_reduce_dynamic_slice_to_reduce_scatter");
  ASSERT_TRUE(calls);
  s.after.text = PrintModule(RunPasses(*calls, before, {1, 512}).module);
  const std::string right = "replica_groups=[8,64]<=[64,8]T(1,0)";
  const size_t scatter = s.after.text.find("reduce-scatter(", s.after.text.size() / 2);
  const size_t groups = s.after.text.find(right, scatter);
  ASSERT_NE(groups, std::string::npos);
  s.after.text.replace(groups, right.size(), "replica_groups=[8,64]<=[512]");
  const size_t line = s.after.text.rfind('%', scatter);
  const std::string name = s.after.text.substr(line + 1, s.after.text.find(' ', line) - line - 1);
  const CaseReport c = VerdictOf(s);
  EXPECT_EQ(c.verdict, Verdict::kUnknown);
  ASSERT_TRUE(c.suspect);
  EXPECT_THAT(c.reason,
              ::testing::StartsWith(name + " after is not proved to be what dynamic-slice."));
  EXPECT_THAT(c.reason,
              ::testing::ContainsRegex(
                  "on device 0,0 it misses dot.[0-9]+.i. of devices 0,64 0,72 0,80 0,88 "
                  "and 52 more; has dot.[0-9]+.i. of devices 0,1 0,2 0,3 0,4 and 52 more in "
                  "excess"));
}

// Where the device of a fault depends on few others, these are run by themselves: what they compute
// is what they compute among all.
TEST(ProverRegions, AFaultAmongFewDevicesOfManyIsRefuted) {
  const auto program = [](bool crossed) {
    std::string groups;
    for (int64_t d = 0; d < 1024; d += 2) {
      const int64_t next = crossed && (d == 10 || d == 12) ? 23 - d : d + 1;
      groups += fmt::format("{}{{{},{}}}", d == 0 ? "" : ",", d, next);
    }
    std::string entry =
        "x = s32[4] parameter(0)\n one = s32[] constant(1)\n"
        "ones = s32[4] broadcast(one), dimensions={}\n v0 = s32[4] add(x, ones)\n";
    for (int i = 1; i < 2100; ++i) {
      entry += fmt::format("v{} = s32[4] add(v{}, ones)\n", i, i - 1);
    }
    return ModuleOf("num_partitions=1024",
                    entry + "ROOT s = s32[4] all-reduce(v2099), channel_id=1, replica_groups={" +
                        groups + "}, use_global_device_ids=true, to_apply=plus\n",
                    "plus { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) "
                    "}\n");
  };
  const CaseReport c = VerdictOf(PairOf(program(false), program(true)));
  EXPECT_EQ(c.verdict, Verdict::kRefuted) << c.reason;
  ASSERT_TRUE(c.smaller && c.counterexample);
  EXPECT_EQ(c.smaller->devices, (std::vector<std::string>{"0,10", "0,11", "0,12", "0,13"}));
  EXPECT_TRUE(c.smaller->closed);
  EXPECT_THAT(c.smaller->devices, ::testing::Contains(c.counterexample->device));
  ASSERT_FALSE(c.counterexample->elements.empty());
  EXPECT_THAT(c.smaller->devices, ::testing::Contains(c.counterexample->elements[0].device));
}

}  // namespace
}  // namespace hv
