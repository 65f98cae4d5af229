// The three passes under test: every reason in its words, every check in its order, and the
// emitter.
#include "passes/faithful.h"

#include "tests/unit/passes/pass_runs.h"

namespace hv {
namespace {

constexpr char kSingle[] = "aws_neuron_rewrite_all_reduce_dynamic_slice";
constexpr char kMultiple[] = "aws_neuron_rewrite_all_reduce_dynamic_slice_multiple_groups";
constexpr char kFired[] = "fired: replaced by reduce-scatter reduce-scatter";

// `offset` defines %start, a scalar of whatever integer type, from %id.
std::string OneGroup(const std::string& offset, const std::string& groups = "{{0,1,2,3}}") {
  return R"(HloModule m, num_partitions=4
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY main {
  x = f32[8,3]{1,0} parameter(0)
  sum = f32[8,3]{1,0} all-reduce(x), channel_id=3, replica_groups=)" +
         groups + R"(, use_global_device_ids=true, to_apply=add
  id = u32[] partition-id()
)" + offset +
         R"(
  zero = s32[] constant(0)
  ROOT shard = f32[2,3]{1,0} dynamic-slice(sum, start, zero), dynamic_slice_sizes={2,3}
}
)";
}

std::string Typed(const std::string& body) {  // starts must have one type
  return With(body, "zero = s32[] constant(0)", "zero = u32[] constant(0)");
}

constexpr char kProduct[] = "  two = u32[] constant(2)\n  start = u32[] multiply(id, two)";

TEST(SingleGroup, FiresOnPartitionIdTimesSliceSize) {
  const PipelineResult result = RunOn(Typed(OneGroup(kProduct)), kSingle);
  EXPECT_EQ(ReasonFor(result, "shard"), kFired);
  const Instruction& scatter = result.module.Entry().Root();
  EXPECT_EQ(
      PrintInstruction(result.module, result.module.Entry(), result.module.Entry().root),
      "%reduce-scatter = f32[2,3]{1,0} reduce-scatter(%x), channel_id=4, "
      "replica_groups={{0,1,2,3}}, use_global_device_ids=true, dimensions={0}, to_apply=%add");
  EXPECT_EQ(scatter.offset, result.decisions.back().offset) << "it has the slice's place";
  EXPECT_EQ(result.module.Entry().instructions.size(), 2u)
      << "all-reduce and offset chain are dead";
  ExpectReadsBack(result);
}

TEST(SingleGroup, TakesTheProductInAnyOrderAndOneConvert) {
  const char* const offsets[] = {
      "  two = u32[] constant(2)\n  start = u32[] multiply(two, id)",
      "  two = u32[] constant(2)\n  p = u32[] multiply(id, two)\n  start = s32[] convert(p)",
      "  two = s32[] constant(2)\n  i = s32[] convert(id)\n  start = s32[] multiply(i, two)",
      "  two = s64[] constant(2)\n  i = s64[] convert(id)\n  p = s64[] multiply(i, two)\n"
      "  start = s32[] convert(p)",
  };
  EXPECT_EQ(ReasonFor(RunOn(Typed(OneGroup(offsets[0])), kSingle), "shard"), kFired);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(ReasonFor(RunOn(OneGroup(offsets[i]), kSingle), "shard"), kFired) << offsets[i];
  }
}

TEST(SingleGroup, SaysWhyNot) {
  const std::string start = "Start index is not partition-id times the slice size.";
  const struct {
    std::string text, reason;
  } cases[] = {
      {With(OneGroup(kProduct), "dynamic-slice(sum", "dynamic-slice(x"),
       "Dynamic slice operand is not an all-reduce."},
      {With(With(OneGroup(kProduct), "[2,3]{1,0} dynamic", "[2,1]{1,0} dynamic"), "sizes={2,3}",
            "sizes={2,1}"),
       "Dynamic slice is not 1D."},
      {With(With(OneGroup(kProduct), "[2,3]{1,0} dynamic", "[8,3]{1,0} dynamic"), "sizes={2,3}",
            "sizes={8,3}"),
       "Dynamic slice is not 1D."},
      {OneGroup(kProduct, "{{0,1},{2,3}}"), "Not exactly one replica group."},
      {With(OneGroup(kProduct, "{}"), ", use_global_device_ids=true", ""),
       "Not exactly one replica group."},
      {With(With(OneGroup(kProduct), "[2,3]{1,0} dynamic", "[1,3]{1,0} dynamic"), "sizes={2,3}",
            "sizes={1,3}"),
       "Dynamic slice size does not match operand size."},
      {With(OneGroup(kProduct), "u32[] constant(2)", "u32[] constant(3)"), start},
      {With(OneGroup(kProduct), "multiply(", "add("), start},
      {With(OneGroup(kProduct), "partition-id()", "replica-id()"), start},
      {OneGroup("  start = u32[] copy(id)"), start},
  };
  for (const auto& [text, reason] : cases) {
    EXPECT_EQ(ReasonFor(RunOn(Typed(text), kSingle), "shard"), reason) << text;
  }
}

// Faithful: the order of the group and the mode it is read in play no part.
TEST(SingleGroup, FiresUnsoundly) {
  EXPECT_EQ(ReasonFor(RunOn(Typed(OneGroup(kProduct, "{{3,1,0,2}}")), kSingle), "shard"), kFired);
  EXPECT_EQ(ReasonFor(RunOn(Typed(OneGroup(kProduct, "[1,4]<=[4]")), kSingle), "shard"), kFired)
      << "one iota group";
}

// G groups of g over one pool; slice size s of a dimension of g*s.
struct Pool {
  std::string groups = "{{0,1},{2,3}}";
  std::string entries = "{0, 1, 2, 3}";
  int64_t size = 3, full = 6;
};

std::string ManyGroups(const Pool& pool) {
  const std::string size = std::to_string(pool.size), full = std::to_string(pool.full);
  return R"(HloModule m, num_partitions=4
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}
ENTRY main {
  x = s32[5,)" +
         full + R"(]{1,0} parameter(0)
  sum = s32[5,)" +
         full + R"(]{1,0} all-reduce(x), channel_id=1, replica_groups=)" + pool.groups +
         R"(, use_global_device_ids=true, to_apply=add
  id = u32[] partition-id()
  pool = s32[4]{0} constant()" +
         pool.entries + R"()
  entry = s32[1]{0} dynamic-slice(pool, id), dynamic_slice_sizes={1}
  size = s32[1]{0} constant({)" +
         size + R"(})
  scaled = s32[1]{0} multiply(size, entry)
  start = s32[] reshape(scaled)
  zero = s32[] constant(0)
  ROOT shard = s32[5,)" +
         size + R"(]{1,0} dynamic-slice(sum, zero, start), dynamic_slice_sizes={5,)" + size + R"(}
}
)";
}

TEST(MultipleGroups, FiresOnEachRamp) {
  const Pool pools[] = {
      {},                                           // identity
      {"{{0,1},{2,3}}", "{0, 3, 0, 3}"},            // multiplied
      {"{{0,2},{1,3}}", "{0, 0, 1, 1}"},            // repeated
      {"{{0,1,2,3}}", "{0, 1, 2, 3}", 2, 8},        // one group
      {"[2,2]<=[2,2]T(1,0)", "{0, 0, 1, 1}"},       // iota groups
      {"mesh['a'=2,'b'=2] {'b'}", "{0, 1, 2, 3}"},  // mesh groups
  };
  for (const Pool& pool : pools) {
    const PipelineResult result = RunOn(ManyGroups(pool), kMultiple);
    EXPECT_EQ(ReasonFor(result, "shard"), kFired) << pool.entries;
    EXPECT_EQ(result.module.Entry().Root().Ints(Attr::kDimensions)[0], 1);
    EXPECT_EQ(result.module.Entry().Root().Int(Attr::kChannelId, 0), 2);
    ExpectReadsBack(result);
  }
}

TEST(MultipleGroups, BothReadingsOfTheRepeatedPool) {
  // Two groups of four: by position entry p is p/2, by group it is p/4.
  const auto text = [](const std::string& entries) {
    const std::string t = ManyGroups({"{{0,2,4,6},{1,3,5,7}}", entries, 3, 12});
    return With(With(t, "num_partitions=4", "num_partitions=8"), "s32[4]{0}", "s32[8]{0}");
  };
  const std::string by_position = text("{0, 0, 1, 1, 2, 2, 3, 3}");
  const std::string by_group = text("{0, 0, 0, 0, 1, 1, 1, 1}");
  const std::string position = std::string(kMultiple) + "{pool_repeated=position}";
  const std::string group = std::string(kMultiple) + "{pool_repeated=group}";
  const std::string no = "Slice pool does not match.";
  EXPECT_EQ(ReasonFor(RunOn(by_position, kMultiple), "shard"), kFired) << "the default";
  EXPECT_EQ(ReasonFor(RunOn(by_position, position), "shard"), kFired);
  EXPECT_EQ(ReasonFor(RunOn(by_position, group), "shard"), no);
  EXPECT_EQ(ReasonFor(RunOn(by_group, position), "shard"), no);
  EXPECT_EQ(ReasonFor(RunOn(by_group, group), "shard"), kFired);
}

TEST(MultipleGroups, SaysWhyNot) {
  const std::string good = ManyGroups({});
  const auto swap = [&](std::string_view from, std::string_view to) {
    return With(good, from, to);
  };
  const std::string no_groups = With(swap("replica_groups={{0,1},{2,3}}", "replica_groups={}"),
                                     ", use_global_device_ids=true", "");
  const struct {
    std::string text, reason;
  } cases[] = {
      {swap("dynamic-slice(sum", "dynamic-slice(x"), "Dynamic slice operand is not an all-reduce."},
      {With(swap("s32[5,3]{1,0} dynamic", "s32[2,3]{1,0} dynamic"), "sizes={5,3}", "sizes={2,3}"),
       "Dynamic slice is not 1D."},
      {swap("{{0,1},{2,3}}", "{{0,1,2},{3}}"), "Replica group sizes are not consistent."},
      {no_groups, "Replica group sizes are not consistent."},
      {ManyGroups({"{{0,1},{2,3}}", "{0, 1, 2, 3}", 2, 6}),
       "Dynamic slice size does not match operand size."},
      {With(swap("s32[] reshape(scaled)", "s32[] copy(flat)"), "  start",
            "  flat = s32[] reshape(scaled)\n  start"),
       "Index operand is not a reshape."},
      {swap("multiply(size", "add(size"), "Reshape operand is not a multiply."},
      {swap("size = s32[1]{0} constant({3})", "size = s32[1]{0} constant({4})"),
       "Multiply operand is not an effective scalar constant."},
      {swap("multiply(size, entry)", "multiply(entry, size)"),
       "Multiply operand is not a dynamic slice."},
      {swap("multiply(size, entry)", "multiply(size, size)"),
       "Multiply operand is not a dynamic slice."},
      {swap("partition-id()", "replica-id()"), "Slice pool operand is not a partition ID."},
      {With(swap("dynamic-slice(pool", "dynamic-slice(table"), "  entry",
            "  table = s32[4]{0} copy(pool)\n  entry"),
       "Slice pool operand is not a constant."},
      {swap("{0, 1, 2, 3}", "{0, 1, 2, 2}"), "Slice pool does not match."},
      {swap("s32[4]{0} constant({0, 1, 2, 3})", "s32[5]{0} constant({0, 1, 2, 3, 4})"),
       "Slice pool does not match."},
      {swap("constant({0, 1, 2, 3})", "constant({...})"), "Slice pool does not match."},
  };
  for (const auto& [text, reason] : cases) {
    EXPECT_EQ(ReasonFor(RunOn(text, kMultiple), "shard"), reason) << text;
  }
}

// Slices of one element, but of an array that is no vector.
TEST(MultipleGroups, PoolOfTwoDimensions) {
  std::string text = ManyGroups({});
  text = With(text, "pool = s32[4]{0} constant({0, 1, 2, 3})",
              "none = u32[] constant(0)\n  pool = s32[4,1]{1,0} constant({{0}, {1}, {2}, {3}})");
  text = With(text, "entry = s32[1]{0} dynamic-slice(pool, id), dynamic_slice_sizes={1}",
              "entry = s32[1,1]{1,0} dynamic-slice(pool, id, none), dynamic_slice_sizes={1,1}");
  text = With(text, "size = s32[1]{0} constant({3})", "size = s32[1,1]{1,0} constant({{3}})");
  text = With(text, "scaled = s32[1]{0}", "scaled = s32[1,1]{1,0}");
  EXPECT_EQ(ReasonFor(RunOn(text, kMultiple), "shard"), "Pool slice sizes are not 1D.");
}

// Two elements multiplied are no scalar's reshape, so this module is not valid HLO: the matcher
// alone is asked.
TEST(MultipleGroups, PoolSliceOfTwo) {
  std::string text = ManyGroups({});
  text = With(text, "entry = s32[1]{0} dynamic-slice(pool, id), dynamic_slice_sizes={1}",
              "entry = s32[2]{0} dynamic-slice(pool, id), dynamic_slice_sizes={2}");
  text = With(text, "scaled = s32[1]{0}", "scaled = s32[2]{0}");
  const Module module = ParseOrDie(text);
  RewriteAllReduceDynamicSliceMultipleGroups pass(RepeatedPool::kPosition);
  EXPECT_EQ(pass.WhyNot({module, module.entry, module.Entry().root}), "Pool slice size is not 1.");
}

// The starts in one vector leave no operand for the second dimension.
TEST(MultipleGroups, StartsInOneVector) {
  std::string text = ManyGroups({});
  text = With(text, "start = s32[] reshape(scaled)",
              "none = s32[1]{0} constant({0})\n"
              "  start = s32[2]{0} concatenate(none, scaled), dimensions={0}");
  text = With(text, "dynamic-slice(sum, zero, start)", "dynamic-slice(sum, start)");
  EXPECT_EQ(ReasonFor(RunOn(text, kMultiple), "shard"), "Slice dimension is out of bounds.");
}

TEST(DeletePermute, HasNoGateButTheOpcode) {
  const std::string text = R"(HloModule m, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY main {
  x = f32[4]{0} parameter(0)
  sum = f32[4]{0} all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  swap = f32[4]{0} collective-permute(sum), channel_id=1, source_target_pairs={{0,1},{1,0}}
  ROOT all = f32[8]{0} all-gather(swap), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}
}
)";
  const PipelineResult result = RunOn(text, "aws_neuron_delete_permute");
  EXPECT_EQ(ReasonFor(result, "sum"), "fired: deleted, x stands in its place");
  EXPECT_EQ(ReasonFor(result, "swap"), "fired: deleted, x stands in its place");
  EXPECT_EQ(ReasonFor(result, "all"), "no candidate");
  EXPECT_EQ(result.module.computations.size(), 1u) << "the reducer is dead";
  ExpectReadsBack(result);
}

TEST(Emitter, ForwardsEverythingButTheChannel) {
  const std::string text =
      With(Typed(OneGroup(kProduct)), "channel_id=3,", "channel_id=3, constrain_layout=true,");
  const PipelineResult result = RunOn(text, kSingle);
  const Instruction& scatter = result.module.Entry().Root();
  EXPECT_TRUE(scatter.Bool(Attr::kConstrainLayout));
  EXPECT_TRUE(scatter.Bool(Attr::kUseGlobalDeviceIds));
  EXPECT_EQ(scatter.Int(Attr::kChannelId, 0), 4);
}

// Without a channel the fresh one changes the group mode: four partitions now take part together.
TEST(Emitter, FreshChannelCanBreakTheModule) {
  const std::string text =
      With(With(Typed(OneGroup(kProduct)), "num_partitions=4", "replica_count=4, num_partitions=2"),
           "channel_id=3, replica_groups={{0,1,2,3}}, use_global_device_ids=true",
           "replica_groups={{0,1,2,3}}");
  const PipelineResult result = RunOn(text, kSingle);
  EXPECT_EQ(ReasonFor(result, "shard"), kFired);
  EXPECT_EQ(result.broken_by, kSingle);
  EXPECT_THAT(FormatError(result.broken), ::testing::HasSubstr("reduce-scatter"));
  EXPECT_THAT(FormatError(result.broken), ::testing::HasSubstr("dynamic-slice 'shard' (test.hlo:"));
}

TEST(Emitter, EveryReduceScatterHasItsOwnChannel) {
  const std::string text =
      With(Typed(OneGroup(kProduct)), "  ROOT shard",
           "  again = f32[8,3]{1,0} all-reduce(x), channel_id=7, replica_groups={{0,1,2,3}}, "
           "use_global_device_ids=true, to_apply=add\n"
           "  other = f32[2,3]{1,0} dynamic-slice(again, start, zero), dynamic_slice_sizes={2,3}\n"
           "  ROOT both = (f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(other, shard)\n  shard");
  // `shard` must come before the tuple that reads it.
  const size_t at = text.find("  ROOT both");
  const size_t end = text.find('\n', at) + 1;
  std::string ordered = text.substr(0, at) + text.substr(end);
  ordered.insert(ordered.rfind('}'), text.substr(at, end - at));
  const PipelineResult result = RunOn(ordered, kSingle);
  EXPECT_EQ(Named(result.module, "reduce-scatter")->Int(Attr::kChannelId, 0), 8);
  EXPECT_EQ(Named(result.module, "reduce-scatter.1")->Int(Attr::kChannelId, 0), 9);
  ExpectReadsBack(result);
}

}  // namespace
}  // namespace hv
