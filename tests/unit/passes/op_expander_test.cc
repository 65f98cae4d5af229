// The driver: snapshot, order, trails, control dependencies, what it leaves alone.
#include "passes/op_expander.h"

#include "tests/unit/passes/pass_runs.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

constexpr char kDelete[] = "aws_neuron_delete_permute";

constexpr char kSwapTwice[] = R"(HloModule swap_twice, num_partitions=2
ENTRY main {
  x = f32[4]{0} parameter(0)
  swap = f32[4]{0} collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  back = f32[4]{0} collective-permute(swap), channel_id=2, source_target_pairs={{0,1},{1,0}}
  ROOT out = f32[4]{0} negate(back)
}
)";

TEST(OpExpander, MatchesOnTheModuleAsItWas) {
  const Module before = ParseOrDie(kSwapTwice);
  const std::string text = PrintModule(before);
  const PipelineResult result = RunOn(before, kDelete);
  EXPECT_EQ(PrintModule(before), text) << "the original stays as it is";
  EXPECT_EQ(CountOf(result.module, Opcode::kCollectivePermute), 0);
  ASSERT_EQ(result.decisions.size(), 2u);
  EXPECT_EQ(result.decisions[0].instruction, "swap") << "operands first";
  EXPECT_EQ(result.decisions[1].instruction, "back");
  EXPECT_EQ(result.decisions[1].replacement, "x") << "through the replacement of the first";
  EXPECT_EQ(result.module.Entry().Root().operands[0], 0);
  ExpectReadsBack(result);
}

TEST(OpExpander, DecisionsKnowTheirPlace) {
  const PipelineResult result = RunOn(std::string(kSwapTwice), kDelete);
  const Module module = ParseOrDie(kSwapTwice);
  EXPECT_EQ(module.PlaceOf(result.decisions[1].offset).line, 5);
  EXPECT_EQ(result.decisions[0].computation, "main");
  EXPECT_EQ(result.decisions[0].opcode, "collective-permute");
  EXPECT_EQ(result.decisions[0].pass, kDelete);
}

TEST(OpExpander, NothingToDoChangesNothing) {
  const std::string text = R"(HloModule m
ENTRY main {
  x = f32[4]{0} parameter(0)
  ROOT out = f32[4]{0} negate(x)
}
)";
  const PipelineResult result = RunOn(text, kDelete);
  EXPECT_FALSE(result.changed);
  EXPECT_TRUE(result.decisions.empty());
}

// A replaced root, in a computation that is not ENTRY.
TEST(OpExpander, VisitsCalledComputations) {
  const std::string text = R"(HloModule m, num_partitions=2
body {
  a = f32[4]{0} parameter(0)
  ROOT swap = f32[4]{0} collective-permute(a), channel_id=1, source_target_pairs={{0,1},{1,0}}
}
ENTRY main {
  x = f32[4]{0} parameter(0)
  ROOT out = f32[4]{0} call(x), to_apply=body
}
)";
  const PipelineResult result = RunOn(text, kDelete);
  EXPECT_EQ(ReasonFor(result, "swap"), "fired: deleted, a stands in its place");
  EXPECT_EQ(result.decisions[0].computation, "body");
  ExpectReadsBack(result);
}

constexpr char kTrail[] = R"(HloModule m, num_partitions=2
ENTRY main {
  x = f32[4]{0} parameter(0)
  y = f32[4]{0} negate(x)METADATA
  ROOT swap = f32[4]{0} collective-permute(y), channel_id=1, source_target_pairs={{0,1},{1,0}}, sharding={replicated}, frontend_attributes={hint="1"}, metadata={op_name="shuffle" source_line=7}
}
)";

TEST(OpExpander, TrailGoesToAReplacementWithoutOne) {
  const PipelineResult result = RunOn(With(kTrail, "METADATA", ""), kDelete);
  const Instruction& y = *Named(result.module, "y");
  EXPECT_THAT(y.Text(Attr::kMetadata), HasSubstr("op_name=\"shuffle\" source_line=7"));
  EXPECT_EQ(y.List<DictionaryEntry>(Attr::kFrontendAttributes).size(), 1u);
  EXPECT_TRUE(y.Has(Attr::kSharding));
  ExpectReadsBack(result);
}

TEST(OpExpander, TrailOverwritesNoOperationName) {
  const std::string own =
      ", sharding={maximal device=1}, frontend_attributes={own=\"2\"}, metadata={op_name=\"mine\"}";
  const PipelineResult result = RunOn(With(kTrail, "METADATA", own), kDelete);
  const Instruction& y = *Named(result.module, "y");
  EXPECT_THAT(y.Text(Attr::kMetadata), HasSubstr("mine"));
  EXPECT_EQ(y.List<DictionaryEntry>(Attr::kFrontendAttributes)[0].key, "own");
  EXPECT_THAT(y.Text(Attr::kSharding), HasSubstr("maximal"));
}

TEST(OpExpander, LeavesWhatHasControlDependencies) {
  const std::string text = R"(HloModule m, num_partitions=2
ENTRY main {
  x = f32[4]{0} parameter(0)
  first = f32[4]{0} collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  second = f32[4]{0} collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}, control-predecessors={first}
  third = f32[4]{0} collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  sum = f32[4]{0} add(first, second)
  ROOT out = f32[4]{0} add(sum, third)
}
)";
  const PipelineResult result = RunOn(text, kDelete);
  const std::string why = "Has control dependencies: a replacement would lose them.";
  EXPECT_EQ(ReasonFor(result, "first"), why) << "as a predecessor";
  EXPECT_EQ(ReasonFor(result, "second"), why) << "as a successor";
  EXPECT_EQ(ReasonFor(result, "third"), "fired: deleted, x stands in its place");
  ExpectReadsBack(result);
}

// Control edges of others are renumbered when instructions before them go.
TEST(OpExpander, KeepsControlEdgesOfOthers) {
  const std::string text = R"(HloModule m, num_partitions=2
ENTRY main {
  x = f32[4]{0} parameter(0)
  gone = f32[4]{0} collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  a = f32[4]{0} negate(gone)
  b = f32[4]{0} exponential(gone), control-predecessors={a}
  ROOT out = f32[4]{0} add(a, b)
}
)";
  const PipelineResult result = RunOn(text, kDelete);
  const Computation& entry = result.module.Entry();
  ASSERT_EQ(entry.instructions.size(), 4u);
  EXPECT_EQ(entry.At(entry.instructions[2].ControlPredecessors()[0]).name, "a");
  ExpectReadsBack(result);
}

TEST(OpExpander, FusionsAreClosed) {
  const std::string text = R"(HloModule m, num_partitions=2
fused {
  a = f32[4]{0} parameter(0)
  i = s32[] parameter(1)
  ROOT cut = f32[2]{0} dynamic-slice(a, i), dynamic_slice_sizes={2}
}
ENTRY main {
  x = f32[4]{0} parameter(0)
  i = s32[] parameter(1)
  ROOT out = f32[2]{0} fusion(x, i), kind=kLoop, calls=fused
}
)";
  const PipelineResult result = RunOn(text, "aws_neuron_rewrite_all_reduce_dynamic_slice");
  EXPECT_EQ(ReasonFor(result, "cut"),
            "Inside a fusion: passes see the instructions of non-fusion computations only.");
}

// The original replaces by operand 0 whatever the shape; XLA refuses such a replacement, so do we.
TEST(OpExpander, RefusesAReplacementOfAnotherShape) {
  const std::string text = R"(HloModule m, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY main {
  x = f32[4]{0} parameter(0)
  y = f32[2]{0} parameter(1)
  ROOT both = (f32[4]{0}, f32[2]{0}) all-reduce(x, y), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
}
)";
  const PipelineResult result = RunOn(text, kDelete);
  EXPECT_EQ(result.broken_by, kDelete);
  ASSERT_EQ(result.broken.diagnostics.size(), 1u);
  const Diagnostic& diagnostic = result.broken.diagnostics[0];
  EXPECT_EQ(diagnostic.id, "pass-replacement-shape");
  EXPECT_THAT(diagnostic.message, HasSubstr("all-reduce 'both'"));
  EXPECT_EQ(diagnostic.place.line, 10);
}

TEST(OpExpander, NewNamesAreFree) {
  const Module module = ParseOrDie(R"(HloModule m
ENTRY main {
  reduce-scatter = f32[] parameter(0)
  add.3 = f32[] negate(reduce-scatter)
  ROOT add.1 = f32[] negate(add.3)
}
)");
  UniqueNames names(module);
  Arena arena;
  EXPECT_EQ(names.Make("reduce-scatter", &arena), "reduce-scatter.1");
  EXPECT_EQ(names.Make("reduce-scatter", &arena), "reduce-scatter.2");
  EXPECT_EQ(names.Make("add.3", &arena), "add.2") << "a number gives way to the next free one";
  EXPECT_EQ(names.Make("copy", &arena), "copy");
  EXPECT_EQ(names.Make("copy", &arena), "copy.1");
}

}  // namespace
}  // namespace hv
