// Group modes, effective groups in their order, and effective pairs. Source of the expectations:
// xla/service/collective_ops_utils.cc and its test.
#include "hlo/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/parser.h"

namespace hv {
namespace {

using testing::ElementsAre;
using Lists = std::vector<std::vector<int64_t>>;

Module ParseRoot(const std::string& root) {
  auto module = ParseModule("m.hlo", "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] "
                                     "parameter(1)  ROOT r = f32[] add(a, b) }\nENTRY e {\n  x = "
                                     "f32[4] parameter(0)\n  t = token[] after-all()\n  ROOT r = " +
                                     root + "\n}\n");
  EXPECT_TRUE(module) << FormatError(module.error());
  return std::move(*module);
}

GroupMode ModeOf(const std::string& root) { return GroupModeOf(ParseRoot(root).Entry().Root()); }

Lists GroupsOf(const std::string& root, int64_t replicas, int64_t partitions) {
  const Module module = ParseRoot(root);
  Lists lists;
  for (const auto& group : EffectiveGroups(module.Entry().Root(), replicas, partitions)) {
    lists.emplace_back();
    for (const DeviceId device : group) lists.back().push_back(device.value);
  }
  return lists;
}

Lists PairsOf(const std::string& root, int64_t replicas, int64_t partitions) {
  const Module module = ParseRoot(root);
  Lists lists;
  for (const DevicePair& pair : EffectivePairs(module.Entry().Root(), replicas, partitions)) {
    lists.push_back({pair.source.value, pair.target.value});
  }
  return lists;
}

TEST(GroupModeTest, FollowsOpcodeChannelAndGlobalIds) {
  const std::string reduce = "f32[4] all-reduce(x), to_apply=add, ";
  EXPECT_EQ(ModeOf(reduce + "replica_groups={{0}}"), GroupMode::kCrossReplica);
  EXPECT_EQ(ModeOf(reduce + "channel_id=1"), GroupMode::kCrossReplicaAndPartition);
  EXPECT_EQ(ModeOf(reduce + "channel_id=1, replica_groups={{0}}, use_global_device_ids=true"),
            GroupMode::kFlattenedId);
  EXPECT_EQ(ModeOf("f32[4] all-to-all(x), dimensions={0}"), GroupMode::kCrossReplica);
  EXPECT_EQ(ModeOf("f32[4] all-to-all(x), channel_id=1, dimensions={0}"),
            GroupMode::kCrossPartition);
  EXPECT_EQ(ModeOf("f32[4] collective-permute(x), channel_id=2, source_target_pairs={{0,1}}"),
            GroupMode::kCrossPartition);
  EXPECT_EQ(ModeOf("f32[4] collective-broadcast(x), channel_id=2"), GroupMode::kCrossPartition);
  EXPECT_EQ(ModeOf("(f32[4], u32[], token[]) recv(t), channel_id=0"), GroupMode::kCrossReplica);
  EXPECT_EQ(ModeOf("(f32[4], u32[], token[]) recv(t), channel_id=1"), GroupMode::kCrossPartition);
  EXPECT_EQ(ModeOf("(f32[4], f32[8]) all-gather-start(x), channel_id=1, dimensions={0}"),
            GroupMode::kCrossReplicaAndPartition);
}

TEST(EffectiveGroupsTest, CrossReplicaRepeatsForEveryPartition) {
  EXPECT_THAT(GroupsOf("f32[4] all-reduce(x), replica_groups={{2,0},{1}}, to_apply=add", 3, 2),
              ElementsAre(ElementsAre(4, 0), ElementsAre(5, 1), ElementsAre(2), ElementsAre(3)));
}

TEST(EffectiveGroupsTest, CrossPartitionRepeatsForEveryReplica) {
  EXPECT_THAT(GroupsOf("f32[4] all-to-all(x), channel_id=1, replica_groups={{1,0}}, dimensions={0}",
                       2, 2),
              ElementsAre(ElementsAre(1, 0), ElementsAre(3, 2)));
}

TEST(EffectiveGroupsTest, ReplicasBringAllTheirPartitions) {
  EXPECT_THAT(GroupsOf("f32[4] all-reduce(x), channel_id=1, replica_groups={{1,0},{2}}, "
                       "to_apply=add",
                       3, 2),
              ElementsAre(ElementsAre(2, 3, 0, 1), ElementsAre(4, 5)));
}

TEST(EffectiveGroupsTest, FlattenedIdsAreDevices) {
  EXPECT_THAT(GroupsOf("f32[4] all-reduce(x), channel_id=1, replica_groups=[2,2]<=[2,2]T(1,0), "
                       "use_global_device_ids=true, to_apply=add",
                       2, 2),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(EffectiveGroupsTest, NoGroupsMeanEverybody) {
  EXPECT_THAT(GroupsOf("f32[4] all-reduce(x), to_apply=add", 2, 2),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(GroupsOf("f32[4] all-reduce(x), channel_id=1, to_apply=add", 2, 2),
              ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(GroupsOf("f32[4] all-to-all(x), channel_id=1, dimensions={0}", 2, 2),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(EffectivePairsTest, PerPartitionOrPerReplica) {
  const std::string permute = "f32[4] collective-permute(x), source_target_pairs={{0,1}}";
  EXPECT_THAT(PairsOf(permute, 2, 2), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(PairsOf(permute + ", channel_id=1", 2, 2),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(EffectivePairsTest, OfSendAndRecvStandInTheFrontendAttribute) {
  const std::string recv = "(f32[4], u32[], token[]) recv(t), channel_id=1, frontend_attributes={";
  EXPECT_THAT(PairsOf(recv + "_xla_send_recv_source_target_pairs={{0,1}, {1,0}}}", 1, 2),
              ElementsAre(ElementsAre(0, 1), ElementsAre(1, 0)));
  EXPECT_THAT(PairsOf(recv + "_xla_send_recv_source_target_pairs=\"{{1,0}}\"}", 1, 2),
              ElementsAre(ElementsAre(1, 0)));
  EXPECT_THAT(PairsOf(recv + "other=\"1\"}", 1, 2), ElementsAre());
}

TEST(ListedPairsTest, RefusesOtherText) {
  for (const char* text : {"{{0,1}", "{{0}}", "{0,1}", "{{0,1}{1,0}}", "{{0,x}}"}) {
    const Module module = ParseRoot(std::string("(f32[4], u32[], token[]) recv(t), channel_id=1, "
                                                "frontend_attributes={"
                                                "_xla_send_recv_source_target_pairs=\"") +
                                    text + "\"}");
    EXPECT_FALSE(ListedPairs(module.Entry().Root())) << text;
  }
}

}  // namespace
}  // namespace hv
