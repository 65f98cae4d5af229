// Control values: what depends on constants and device ids alone, per device, through calls, tuples
// and loops; and the name of what stands in the way otherwise.
#include "eval/control.h"

#include <gtest/gtest.h>

#include "eval/domain.h"
#include "tests/unit/eval/evaluate_text.h"

namespace hv::test {
namespace {

// The root's integer on a device, or "depends on ..".
std::string RootOn(const Module& module, int64_t replica, int64_t partition) {
  ControlEvaluator control(module, module.entry);
  const ControlValue& value =
      control.Evaluate(module.Entry().root, ReplicaId(replica), PartitionId(partition));
  return value.value.empty() ? "depends on " + value.depends_on : TextOf(value.value);
}

TEST(Control, TablesByPartition) {
  const Module module = Parse(
      "  t = s32[4] constant({0, 8, 16, 24})\n  p = u32[] partition-id()\n"
      "  s = s32[1] dynamic-slice(t, p), dynamic_slice_sizes={1}\n"
      "  r = u32[] replica-id()\n  c = s32[] convert(r)\n  q = s32[] reshape(s)\n"
      "  ROOT a = s32[] add(q, c)");
  EXPECT_EQ(RootOn(module, 0, 2), "16");
  EXPECT_EQ(RootOn(module, 5, 3), "29");
  EXPECT_EQ(RootOn(module, 0, 9), "24");  // the slice clamps
}

TEST(Control, FollowsCallsAndTuplesByElement) {
  const Module module = Parse(
      "  x = f32[] parameter(0)\n  p = u32[] partition-id()\n"
      "  t = (f32[], u32[]) tuple(x, p)\n  c = (f32[], u32[]) call(t), to_apply=f\n"
      "  ROOT r = u32[] get-tuple-element(c), index=1",
      "f { t = (f32[], u32[]) parameter(0)\n  x = f32[] get-tuple-element(t), index=0\n"
      "  i = u32[] get-tuple-element(t), index=1\n  two = u32[] constant(2)\n"
      "  m = u32[] multiply(i, two)\n  ROOT r = (f32[], u32[]) tuple(x, m) }");
  EXPECT_EQ(RootOn(module, 0, 21), "42");
}

TEST(Control, FollowsLoopsWhoseDataIsUnknown) {
  const Module module = Parse(
      "  x = f32[] parameter(0)\n  z = s32[] constant(0)\n  p = u32[] partition-id()\n"
      "  n = s32[] convert(p)\n  t = (s32[], s32[], f32[]) tuple(z, n, x)\n"
      "  w = (s32[], s32[], f32[]) while(t), condition=cond, body=body\n"
      "  ROOT r = s32[] get-tuple-element(w), index=0",
      "cond { t = (s32[], s32[], f32[]) parameter(0)\n"
      "  i = s32[] get-tuple-element(t), index=0\n  n = s32[] get-tuple-element(t), index=1\n"
      "  ROOT r = pred[] compare(i, n), direction=LT }\n"
      "body { t = (s32[], s32[], f32[]) parameter(0)\n"
      "  i = s32[] get-tuple-element(t), index=0\n  n = s32[] get-tuple-element(t), index=1\n"
      "  x = f32[] get-tuple-element(t), index=2\n  three = s32[] constant(3)\n"
      "  j = s32[] add(i, three)\n  y = f32[] add(x, x)\n"
      "  ROOT r = (s32[], s32[], f32[]) tuple(j, n, y) }");
  EXPECT_EQ(RootOn(module, 0, 7), "9");
  EXPECT_EQ(RootOn(module, 0, 0), "0");
}

TEST(Control, NamesTheDataItMeets) {
  EXPECT_EQ(RootOn(Parse("  x = s32[] parameter(0)\n  c = s32[] constant(1)\n"
                         "  ROOT r = s32[] add(c, x)"),
                   0, 0),
            "depends on parameter");
  EXPECT_EQ(RootOn(Parse("  c = s32[4] constant({1, 2, 3, 4})\n"
                         "  ROOT r = s32[4] all-reduce(c), replica_groups={}, to_apply=add",
                         "add { a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
                         " ROOT r = s32[] add(a, b) }"),
                   0, 0),
            "depends on all-reduce");
  EXPECT_EQ(RootOn(Parse("  ROOT c = f32[2] constant({...})"), 0, 0), "depends on constant");
}

}  // namespace
}  // namespace hv::test
