// delete_identity_collectives: what is the identity on every device, and what is not.
#include "passes/delete_identity_collectives.h"

#include "tests/unit/passes/pass_runs.h"

namespace hv {
namespace {

constexpr char kPass[] = "delete_identity_collectives";

// `body` defines %y from %x (f32[4]); the mesh is replica_count R, num_partitions P.
std::string Text(const std::string& body, const std::string& mesh = "num_partitions=2") {
  return "HloModule m, " + mesh + R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}
or {
  a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT s = pred[] add(a, b)
}
ENTRY main {
  x = f32[4]{0} parameter(0)
  )" + body +
         R"(
  ROOT out = f32[4]{0} negate(y)
}
)";
}

std::string Reason(const std::string& body, const std::string& mesh = "num_partitions=2") {
  const PipelineResult result = RunOn(Text(body, mesh), kPass);
  ExpectReadsBack(result);
  return ReasonFor(result, "y");
}

constexpr char kFired[] = "fired: deleted, x stands in its place";
constexpr char kFlat[] = ", use_global_device_ids=true";

TEST(DeleteIdentity, DevicesAloneInTheirGroups) {
  const std::string groups = "channel_id=1, replica_groups={{0},{1}}";
  EXPECT_EQ(Reason("y = f32[4]{0} all-reduce(x), " + groups + kFlat + ", to_apply=add"), kFired);
  EXPECT_EQ(Reason("y = f32[4]{0} all-gather(x), dimensions={0}, " + groups + kFlat), kFired);
  EXPECT_EQ(
      Reason("y = f32[4]{0} reduce-scatter(x), dimensions={0}, to_apply=add, " + groups + kFlat),
      kFired);
  EXPECT_EQ(Reason("y = f32[4]{0} all-to-all(x), dimensions={0}, " + groups), kFired);
  EXPECT_EQ(Reason("y = f32[4]{0} collective-broadcast(x), " + groups), kFired);
  EXPECT_EQ(Reason("y = f32[4]{0} all-reduce(x), replica_groups={}, to_apply=add"), kFired)
      << "one replica, all partitions for themselves";
  EXPECT_EQ(Reason("y = f32[4]{0} all-reduce(x), replica_groups={{0},{1}}, to_apply=add",
                   "replica_count=2, num_partitions=2"),
            kFired);
}

TEST(DeleteIdentity, GroupsAreCountedInDevices) {
  EXPECT_EQ(Reason("y = f32[4]{0} all-reduce(x), channel_id=1, replica_groups={{0}}, to_apply=add"),
            "A group has 2 devices and the reducer is not idempotent.")
      << "one replica, but all its partitions take part";
  EXPECT_EQ(Reason("y = f32[4]{0} all-to-all(x), channel_id=1, dimensions={0}, "
                   "replica_groups={{0,1}}"),
            "A group has 2 devices.");
}

TEST(DeleteIdentity, PermutesOfEveryDeviceToItself) {
  const std::string permute =
      "y = f32[4]{0} collective-permute(x), channel_id=1, source_target_pairs=";
  EXPECT_EQ(Reason(permute + "{{0,0},{1,1}}"), kFired);
  EXPECT_EQ(Reason(permute + "{{0,0}}"), "Device 1 has no source, it gets zeros.");
  EXPECT_EQ(Reason(permute + "{{0,1},{1,0}}"), "Device 0 receives from device 1.");
  EXPECT_EQ(Reason(permute + "{{0,0},{1,1}}", "replica_count=2, num_partitions=2"), kFired)
      << "each replica for itself";
  EXPECT_EQ(Reason("y = f32[4]{0} collective-permute(x), source_target_pairs={{0,0}}"), kFired)
      << "cross-replica, one replica";
}

// %m is a value; the all-reduce over both partitions of its maximum.
std::string MaxOf(const std::string& value) {
  return value + "\n  y = f32[4]{0} all-reduce(m), channel_id=9, replica_groups={{0,1}}" + kFlat +
         ", to_apply=max";
}

TEST(DeleteIdentity, IdempotentReducersOfValuesThatAgree) {
  const std::string yes = "fired: deleted, m stands in its place";
  const std::string reduce = "m = f32[4]{0} all-reduce(x), channel_id=1, replica_groups={{0,1}}";
  EXPECT_EQ(Reason(MaxOf("m = f32[4]{0} constant({1, 2, 3, 4})")), yes);
  EXPECT_EQ(Reason(MaxOf("m = f32[4]{0} iota(), iota_dimension=0")), yes);
  EXPECT_EQ(Reason(MaxOf(reduce + kFlat + ", to_apply=add")), yes);
  EXPECT_EQ(Reason(MaxOf("g = f32[8]{0} all-gather(x), channel_id=1, replica_groups={{0,1}}, "
                         "dimensions={0}, use_global_device_ids=true\n"
                         "  m = f32[4]{0} slice(g), slice={[2:6]}")),
            yes);
  EXPECT_EQ(Reason(MaxOf("h = f32[4]{0} all-reduce(x), channel_id=1, replica_groups={{0,1}}" +
                         std::string(kFlat) +
                         ", to_apply=add\n  e = f32[4]{0} exponential(h)\n"
                         "  t = (f32[4]{0}, f32[4]{0}) tuple(e, h)\n"
                         "  m = f32[4]{0} get-tuple-element(t), index=0")),
            yes)
      << "through ops that are functions of their operands";
}

TEST(DeleteIdentity, ControlValuesThatAgree) {
  const std::string half =
      "p = u32[] partition-id()\n  two = u32[] constant(2)\n"
      "  h = u32[] divide(p, two)\n  f = f32[] convert(h)\n"
      "  m = f32[4]{0} broadcast(f), dimensions={}\n"
      "  y = f32[4]{0} all-reduce(m), channel_id=9, "
      "replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=max";
  EXPECT_EQ(Reason(half, "num_partitions=4"), "fired: deleted, m stands in its place");
  EXPECT_EQ(Reason(With(half, "{{0,1},{2,3}}", "{{0,2},{1,3}}"), "num_partitions=4"),
            "A group has 2 devices and the operand is not provably the same on all.");
}

TEST(DeleteIdentity, ValuesThatMayDiffer) {
  const std::string no = "A group has 2 devices and the operand is not provably the same on all.";
  EXPECT_EQ(Reason(MaxOf("m = f32[4]{0} negate(x)")), no);
  EXPECT_EQ(Reason(MaxOf("s = f32[] constant(0)\n  t = f32[] constant(1)\n"
                         "  m = f32[4]{0} rng(s, t), distribution=rng_uniform")),
            no);
  const std::string rows =
      "m = f32[4]{0} all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, "
      "use_global_device_ids=true, to_apply=add\n"
      "  y = f32[4]{0} all-reduce(m), channel_id=9, replica_groups={{0,2},{1,3}}, "
      "use_global_device_ids=true, to_apply=max";
  EXPECT_EQ(Reason(rows, "num_partitions=4"), no) << "the groups do not contain the members";
  EXPECT_EQ(Reason(With(rows, "{{0,2},{1,3}}", "{{1,0},{3,2}}"), "num_partitions=4"),
            "fired: deleted, m stands in its place");
  EXPECT_EQ(
      Reason(With(MaxOf("m = f32[4]{0} iota(), iota_dimension=0"), "to_apply=max", "to_apply=add")),
      "A group has 2 devices and the reducer is not idempotent.");
}

TEST(DeleteIdentity, AddOfPredIsOr) {
  const std::string body =
      "m = pred[4]{0} constant({1, 0, 1, 0})\n"
      "  o = pred[4]{0} all-reduce(m), channel_id=9, replica_groups={{0,1}}, "
      "use_global_device_ids=true, to_apply=or\n"
      "  y = f32[4]{0} convert(o)";
  EXPECT_EQ(ReasonFor(RunOn(Text(body), kPass), "o"), "fired: deleted, m stands in its place");
}

TEST(DeleteIdentity, CombinedCollectivesBecomeTuples) {
  const std::string body =
      "both = (f32[4]{0}, f32[4]{0}) all-reduce(x, x), channel_id=9, replica_groups={{0},{1}}, "
      "use_global_device_ids=true, to_apply=add\n"
      "  y = f32[4]{0} get-tuple-element(both), index=1";
  const PipelineResult result = RunOn(Text(body), kPass);
  EXPECT_EQ(ReasonFor(result, "both"), "fired: deleted, tuple stands in its place");
  ExpectReadsBack(result);
}

TEST(DeleteIdentity, KeepsTheLayoutThatReadersSee) {
  const std::string body =
      "z = f32[2,2]{1,0} reshape(x)\n"
      "  w = f32[2,2]{0,1} all-reduce(z), channel_id=9, replica_groups={{0},{1}}, "
      "use_global_device_ids=true, to_apply=add\n"
      "  y = f32[4]{0} reshape(w)";
  const PipelineResult result = RunOn(Text(body), kPass);
  EXPECT_EQ(ReasonFor(result, "w"), "fired: deleted, copy stands in its place");
  EXPECT_EQ(ToString(*Named(result.module, "copy")->shape), "f32[2,2]{0,1}");
}

}  // namespace
}  // namespace hv
