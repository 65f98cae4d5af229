// all_reduce_dynamic_slice_to_reduce_scatter: every spelling of the own shard, and every refusal.
#include "passes/all_reduce_dynamic_slice_to_reduce_scatter.h"
#include "tests/unit/passes/pass_runs.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

constexpr char kPass[] = "all_reduce_dynamic_slice_to_reduce_scatter";
constexpr char kDearer[] = "all_reduce_dynamic_slice_to_reduce_scatter{allow_dearer=true}";
constexpr char kFired[] = "fired: replaced by reduce-scatter reduce-scatter";

struct Parts {
  std::string mesh = "replica_count=1, num_partitions=4";
  std::string collective = "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true";
  std::string start = "two = u32[] constant(2)\n  start = u32[] multiply(p, two)";
  std::string between = "";  // defines %cut_from of f32[8,3] if not empty
  std::string after = "";    // more users; the root is %shard unless it says ROOT
  std::string type = "u32";  // of the starts
};

std::string Text(const Parts& parts) {
  const std::string from = parts.between.empty() ? "sum" : "cut_from";
  const bool root = parts.after.find("ROOT") == std::string::npos;
  return "HloModule m, " + parts.mesh + R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[8,3]{1,0} parameter(0)
  sum = f32[8,3]{1,0} all-reduce(x), )" +
         parts.collective + R"(, to_apply=add
  p = u32[] partition-id()
  r = u32[] replica-id()
  )" + parts.start +
         "\n  " + parts.between + "\n  zero = " + parts.type + "[] constant(0)\n  " +
         (root ? "ROOT " : "") + "shard = f32[2,3]{1,0} dynamic-slice(" + from +
         ", start, zero), dynamic_slice_sizes={2,3}\n  " + parts.after + "\n}\n";
}

std::string Reason(const Parts& parts, std::string_view passes = kPass) {
  const PipelineResult result = RunOn(Text(parts), passes);
  ExpectReadsBack(result);
  return ReasonFor(result, "shard");
}

TEST(GuardedReduceScatter, FiresOnAnySpellingOfTheOffset) {
  const char* const starts[] = {
      "two = u32[] constant(2)\n  start = u32[] multiply(p, two)",
      "one = u32[] constant(1)\n  start = u32[] shift-left(p, one)",
      "start = u32[] add(p, p)",
      "pool = u32[4]{0} constant({0, 2, 4, 6})\n"
      "  e = u32[1]{0} dynamic-slice(pool, p), dynamic_slice_sizes={1}\n"
      "  start = u32[] reshape(e)",
      // A table of tables, a copy, and a last entry that the clamp repairs.
      "inner = s32[4]{0} constant({3, 2, 1, 0})\n"
      "  i = s32[1]{0} dynamic-slice(inner, p), dynamic_slice_sizes={1}\n"
      "  j = s32[] reshape(i)\n"
      "  outer = u32[4]{0} constant({99, 4, 2, 0})\n"
      "  c = u32[4]{0} copy(outer)\n"
      "  e = u32[1]{0} dynamic-slice(c, j), dynamic_slice_sizes={1}\n"
      "  start = u32[] bitcast(e)",
      "i = u32[4]{0} iota(), iota_dimension=0\n"
      "  e = u32[1]{0} dynamic-slice(i, p), dynamic_slice_sizes={1}\n"
      "  f = u32[] reshape(e)\n"
      "  two = u32[] constant(2)\n  start = u32[] multiply(f, two)",
  };
  for (const char* start : starts) EXPECT_EQ(Reason({.start = start}), kFired) << start;
}

TEST(GuardedReduceScatter, FollowsTheOrderOfTheGroup) {
  const std::string shuffled =
      "channel_id=1, replica_groups={{3,1,0,2}}, use_global_device_ids=true";
  EXPECT_EQ(Reason({.collective = shuffled}),
            "Replica 0, partition 0 is member 2 of its group but slices from 0, not from 4.");
  EXPECT_EQ(Reason({.collective = shuffled,
                    .start = "pool = u32[4]{0} constant({4, 2, 6, 0})\n"
                             "  e = u32[1]{0} dynamic-slice(pool, p), dynamic_slice_sizes={1}\n"
                             "  start = u32[] reshape(e)"}),
            kFired);
}

// Which id counts, and what a channel means: {mode} x {the offset that fits it}.
TEST(GuardedReduceScatter, KnowsTheGroupModes) {
  const std::string by_partition = "two = u32[] constant(2)\n  start = u32[] multiply(p, two)";
  const std::string by_replica = "two = u32[] constant(2)\n  start = u32[] multiply(r, two)";
  const std::string flat =
      "two = u32[] constant(2)\n  r2 = u32[] multiply(r, two)\n  id = u32[] add(r2, p)\n"
      "  start = u32[] multiply(id, two)";
  const std::string replicas = "replica_count=4, num_partitions=2";
  const std::string square = "replica_count=2, num_partitions=2";
  // Cross-replica, with groups and without; the reduce-scatter gets no channel.
  for (const char* groups : {"replica_groups={{0,1,2,3}}", "replica_groups={}"}) {
    const Parts parts{.mesh = replicas, .collective = groups, .start = by_replica};
    EXPECT_EQ(Reason(parts), kFired) << groups;
    const PipelineResult result = RunOn(Text(parts), kPass);
    EXPECT_FALSE(Named(result.module, "reduce-scatter")->Has(Attr::kChannelId));
  }
  EXPECT_EQ(Reason({.mesh = replicas, .collective = "replica_groups={}", .start = by_partition}),
            "Replica 0, partition 1 is member 0 of its group but slices from 2, not from 0.");
  // A channel without global ids: replicas times partitions, also for `{}`.
  for (const char* groups :
       {"channel_id=7, replica_groups={{0,1}}", "channel_id=7, replica_groups={}"}) {
    EXPECT_EQ(Reason({.mesh = square, .collective = groups, .start = flat}), kFired) << groups;
  }
  // Flattened ids of several replicas.
  const Parts flattened{
      .mesh = square,
      .collective = "channel_id=7, replica_groups={{0,1,2,3}}, use_global_device_ids=true",
      .start = flat};
  EXPECT_EQ(Reason(flattened), kFired);
  const PipelineResult result = RunOn(Text(flattened), kPass);
  EXPECT_EQ(Named(result.module, "reduce-scatter")->Int(Attr::kChannelId, 0), 8);
}

TEST(GuardedReduceScatter, SaysWhyNot) {
  EXPECT_EQ(Reason({.collective = "channel_id=1, replica_groups={{0,1,2},{3}}, "
                                  "use_global_device_ids=true"}),
            "Slice size 2 times group size 3 is not 8, the extent of dimension 0.");
  EXPECT_EQ(Reason({.mesh = "replica_count=1, num_partitions=6",
                    .collective = "channel_id=1, replica_groups={{0,1,2,3},{4,5}}, "
                                  "use_global_device_ids=true"}),
            "Replica groups differ in size.");
  EXPECT_EQ(Reason({.start = "one = u32[] constant(1)\n  q = u32[] add(p, one)\n"
                             "  two = u32[] constant(2)\n  start = u32[] multiply(q, two)"}),
            "Replica 0, partition 0 is member 0 of its group but slices from 2, not from 0.");
  const std::string two_cuts =
      With(With(Text({}), "f32[2,3]{1,0} dyn", "f32[2,1]{1,0} dyn"), "sizes={2,3}", "sizes={2,1}");
  EXPECT_EQ(ReasonFor(RunOn(two_cuts, kPass), "shard"),
            "Dynamic slice is not 1D: it cuts 2 dimensions.");
  const std::string no_cut =
      With(With(Text({}), "f32[2,3]{1,0} dyn", "f32[8,3]{1,0} dyn"), "sizes={2,3}", "sizes={8,3}");
  EXPECT_EQ(ReasonFor(RunOn(no_cut, kPass), "shard"), "Dynamic slice takes the whole array.");
  EXPECT_EQ(Reason({.start = "start = u32[] parameter(1)"}),
            "Start index depends on data (parameter).");
}

TEST(GuardedReduceScatter, RefusesWhatItCannotKeep) {
  EXPECT_EQ(Reason({.after = "n = f32[2,3]{1,0} negate(shard), control-predecessors={sum}\n"
                             "  ROOT out = f32[2,3]{1,0} copy(n)"}),
            "Has control dependencies: a replacement would lose them.");
  const std::string layouts = With(
      Text({.collective = "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, "
                          "constrain_layout=true"}),
      "ROOT shard = f32[2,3]{1,0}", "ROOT shard = f32[2,3]{0,1}");
  EXPECT_EQ(ReasonFor(RunOn(layouts, kPass), "shard"), "The all-reduce constrains its layout.");
}

// Starts of dimensions taken whole are clamped to 0, whatever they are.
TEST(GuardedReduceScatter, WholeDimensionsDoNotMatter) {
  const std::string text = With(Text({}), "zero = u32[] constant(0)", "zero = u32[] parameter(1)");
  EXPECT_EQ(ReasonFor(RunOn(text, kPass), "shard"), kFired);
}

TEST(GuardedReduceScatter, ElementwiseOpsMoveBehindTheScatter) {
  const Parts mean{.between =
                       "four = f32[] constant(4)\n"
                       "  fours = f32[8,3]{1,0} broadcast(four), dimensions={}\n"
                       "  cut_from = f32[8,3]{1,0} divide(sum, fours)"};
  const PipelineResult result = RunOn(Text(mean), kPass);
  EXPECT_EQ(ReasonFor(result, "shard"), "fired: replaced by divide cut_from.1");
  const Computation& entry = result.module.Entry();
  EXPECT_EQ(PrintInstruction(result.module, entry, entry.root),
            "%cut_from.1 = f32[2,3]{1,0} divide(%reduce-scatter, %fours.1)");
  EXPECT_EQ(CountOf(result.module, Opcode::kAllReduce), 0);
  ExpectReadsBack(result);

  const Parts converted{.between =
                            "h = bf16[8,3]{1,0} convert(sum)\n"
                            "  cut_from = f32[8,3]{1,0} convert(h)"};
  const PipelineResult narrow = RunOn(Text(converted), kPass);
  EXPECT_EQ(ReasonFor(narrow, "shard"), "fired: replaced by convert cut_from.1");
  EXPECT_EQ(ToString(*Named(narrow.module, "h.1")->shape), "bf16[2,3]{1,0}");
  EXPECT_EQ(Named(narrow.module, "reduce-scatter")->shape->type, ElementType::kF32);
  ExpectReadsBack(narrow);
}

TEST(GuardedReduceScatter, ElementwiseWithAnotherArrayIsNoSlice) {
  EXPECT_EQ(Reason({.between = "y = f32[8,3]{1,0} parameter(1)\n"
                               "  cut_from = f32[8,3]{1,0} multiply(sum, y)"}),
            "Dynamic slice operand is not an all-reduce.");
}

// reshape(all-reduce(x)) = all-reduce(reshape(x)).
TEST(GuardedReduceScatter, ViewsMoveBeforeTheScatter) {
  const PipelineResult result =
      RunOn(Text({.between = "w = f32[3,8]{1,0} reshape(sum)\n"
                             "  cut_from = f32[8,3]{1,0} transpose(w), dimensions={1,0}"}),
            kPass);
  EXPECT_EQ(ReasonFor(result, "shard"), kFired);
  const Computation& entry = result.module.Entry();
  const Instruction& scatter = *Named(result.module, "reduce-scatter");
  const Instruction& transpose = entry.At(scatter.operands[0]);
  EXPECT_EQ(transpose.opcode, Opcode::kTranspose);
  EXPECT_EQ(entry.At(transpose.operands[0]).opcode, Opcode::kReshape);
  EXPECT_EQ(entry.At(entry.At(transpose.operands[0]).operands[0]).name, "x");
  ExpectReadsBack(result);
}

// A bitcast between layouts that differ permutes elements; only a reshape is looked through.
TEST(GuardedReduceScatter, BitcastsAcrossLayoutsAreNoViews) {
  EXPECT_EQ(Reason({.between = "cut_from = f32[8,3]{0,1} bitcast(sum)"}),
            "Dynamic slice operand is not an all-reduce.");
  EXPECT_EQ(Reason({.between = "cut_from = f32[8,3]{1,0} bitcast(sum)"}), kFired);
}

TEST(GuardedReduceScatter, OtherReadersKeepTheAllReduce) {
  const std::string keeps_sum =
      "Keeps the all-reduce, which {} reads too: dearer (allow_dearer overrides).";
  const Parts other{.after =
                        "n = f32[8,3]{1,0} negate(sum)\n"
                        "  ROOT out = (f32[2,3]{1,0}, f32[8,3]{1,0}) tuple(shard, n)"};
  EXPECT_EQ(Reason(other), With(keeps_sum, "{}", "out")) << "through the negation";
  EXPECT_EQ(Reason(other, kDearer), kFired);
  const PipelineResult both = RunOn(Text(other), kDearer);
  EXPECT_EQ(CountOf(both.module, Opcode::kAllReduce), 1);
  EXPECT_EQ(CountOf(both.module, Opcode::kReduceScatter), 1);
  const Parts root{.after = "ROOT out = f32[8,3]{1,0} copy(sum)"};
  EXPECT_EQ(Reason(root), With(keeps_sum, "{}", "the caller"))
      << "through the copy, which is the result";
  const Parts wrong_slice{
      .after =
          "late = f32[2,3]{1,0} dynamic-slice(sum, p, zero), dynamic_slice_sizes={2,3}\n"
          "  ROOT out = (f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(shard, late)"};
  EXPECT_EQ(Reason(wrong_slice), With(keeps_sum, "{}", "late"));
}

TEST(GuardedReduceScatter, SlicesOfOneAllReduceShareTheScatter) {
  const Parts twice{
      .between = "",
      .after =
          "q = u32[] add(p, p)\n"
          "  same = f32[2,3]{1,0} dynamic-slice(sum, q, zero), dynamic_slice_sizes={2,3}\n"
          "  ROOT out = (f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(shard, same)"};
  const PipelineResult result = RunOn(Text(twice), kPass);
  EXPECT_EQ(ReasonFor(result, "shard"), kFired);
  EXPECT_EQ(ReasonFor(result, "same"), kFired);
  EXPECT_EQ(CountOf(result.module, Opcode::kReduceScatter), 1);
  EXPECT_EQ(CountOf(result.module, Opcode::kAllReduce), 0);
  ExpectReadsBack(result);
}

constexpr char kCombined[] = R"(HloModule m, num_partitions=4
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[8,3]{1,0} parameter(0)
  y = f32[5]{0} parameter(1)
  z = f32[7]{0} parameter(2)
  sums = (f32[5]{0}, f32[8,3]{1,0}, f32[7]{0}) all-reduce(y, x, z), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
  sum_y = f32[5]{0} get-tuple-element(sums), index=0
  sum_x = f32[8,3]{1,0} get-tuple-element(sums), index=1
  sum_z = f32[7]{0} get-tuple-element(sums), index=2
  p = u32[] partition-id()
  start = u32[] add(p, p)
  zero = u32[] constant(0)
  shard = f32[2,3]{1,0} dynamic-slice(sum_x, start, zero), dynamic_slice_sizes={2,3}
  ROOT out = (f32[2,3]{1,0}, f32[5]{0}, f32[7]{0}) tuple(shard, sum_y, sum_z)
}
)";

TEST(GuardedReduceScatter, LeavesACombinedAllReduceWithoutTheSlicedPart) {
  const PipelineResult result = RunOn(std::string(kCombined), kPass);
  EXPECT_EQ(ReasonFor(result, "shard"), kFired);
  const Instruction& rest = *Named(result.module, "sums");
  EXPECT_EQ(ToString(*rest.shape), "(f32[5]{0}, f32[7]{0})");
  EXPECT_EQ(Named(result.module, "sum_z")->Int(Attr::kIndex, -1), 1);
  EXPECT_EQ(Named(result.module, "sum_x"), nullptr);
  ExpectReadsBack(result);
}

TEST(GuardedReduceScatter, OneLeftOverIsAnOrdinaryAllReduce) {
  const std::string text =
      With(With(kCombined, "(f32[2,3]{1,0}, f32[5]{0}, f32[7]{0}) tuple(shard, sum_y, sum_z)",
                "(f32[2,3]{1,0}, f32[7]{0}) tuple(shard, sum_z)"),
           "  sum_y = f32[5]{0} get-tuple-element(sums), index=0\n", "");
  const PipelineResult result = RunOn(text, kPass);
  const Instruction& rest = *Named(result.module, "sums");
  EXPECT_EQ(ToString(*rest.shape), "f32[7]{0}");
  EXPECT_EQ(CountOf(result.module, Opcode::kGetTupleElement), 0);
  ExpectReadsBack(result);
}

TEST(GuardedReduceScatter, TupleReadAsAWholeKeepsTheAllReduce) {
  const std::string text =
      With(With(kCombined, "ROOT out = (f32[2,3]{1,0}, f32[5]{0}, f32[7]{0})",
                "kept = (f32[5]{0}, f32[8,3]{1,0}, f32[7]{0}) opt-barrier(sums)\n  ROOT out = "
                "(f32[2,3]{1,0}, (f32[5]{0}, f32[8,3]{1,0}, f32[7]{0}))"),
           "tuple(shard, sum_y, sum_z)", "tuple(shard, kept)");
  EXPECT_EQ(ReasonFor(RunOn(text, kPass), "shard"),
            "Keeps the all-reduce, which kept reads too: dearer (allow_dearer overrides).");
}

TEST(GuardedReduceScatter, AsynchronousAllReduceStays) {
  const std::string text = With(Text({}), "sum = f32[8,3]{1,0} all-reduce(x)",
                                "begin = f32[8,3]{1,0} all-reduce-start(x)");
  EXPECT_EQ(ReasonFor(RunOn(With(text, "p = u32[]",
                                 "sum = f32[8,3]{1,0} all-reduce-done(begin)\n  p = u32[]"),
                            kPass),
                      "shard"),
            "Dynamic slice operand is an asynchronous all-reduce.");
}

TEST(GuardedReduceScatter, MetadataStaysWithWhatItNames) {
  std::string text =
      Text({.between = "cut_from = f32[8,3]{1,0} negate(sum), metadata={op_name=\"n\"}"});
  text = With(text, "to_apply=add", "to_apply=add, metadata={op_name=\"psum\"}");
  text = With(text, "sizes={2,3}", "sizes={2,3}, metadata={op_name=\"cut\"}");
  const PipelineResult result = RunOn(text, kPass);
  EXPECT_THAT(Named(result.module, "reduce-scatter")->Text(Attr::kMetadata), HasSubstr("psum"));
  EXPECT_THAT(Named(result.module, "cut_from.1")->Text(Attr::kMetadata), HasSubstr("\"n\""));
  const PipelineResult plain =
      RunOn(With(Text({}), "sizes={2,3}", "sizes={2,3}, metadata={op_name=\"cut\"}"), kPass);
  EXPECT_THAT(Named(plain.module, "reduce-scatter")->Text(Attr::kMetadata), HasSubstr("cut"));
}

}  // namespace
}  // namespace hv
