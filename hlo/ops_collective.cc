// Rows of the collectives and of their native start and done forms. Source: XLA operation semantics,
// AllGather, AllReduce, AllToAll, CollectiveBroadcast, CollectivePermute, RaggedAllToAll,
// ReduceScatter.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kAllGatherAttrs[] = {{Attr::kChannelId},
                                        {Attr::kReplicaGroups},
                                        {Attr::kConstrainLayout},
                                        {Attr::kDimensions, kRequired},
                                        {Attr::kUseGlobalDeviceIds}};
constexpr AttrSpec kAllReduceAttrs[] = {{Attr::kChannelId},
                                        {Attr::kReplicaGroups},
                                        {Attr::kConstrainLayout},
                                        {Attr::kUseGlobalDeviceIds},
                                        {Attr::kMode},
                                        {Attr::kToApply, kRequired}};
constexpr AttrSpec kReduceScatterAttrs[] = {
    {Attr::kChannelId},          {Attr::kReplicaGroups},         {Attr::kConstrainLayout},
    {Attr::kUseGlobalDeviceIds}, {Attr::kDimensions, kRequired}, {Attr::kMode},
    {Attr::kToApply, kRequired}};
constexpr AttrSpec kAllToAllAttrs[] = {
    {Attr::kChannelId}, {Attr::kReplicaGroups}, {Attr::kConstrainLayout}, {Attr::kDimensions}};
constexpr AttrSpec kRaggedAllToAllAttrs[] = {
    {Attr::kChannelId}, {Attr::kReplicaGroups}, {Attr::kDimensions}};
constexpr AttrSpec kBroadcastAttrs[] = {
    {Attr::kChannelId}, {Attr::kReplicaGroups}, {Attr::kHasDynamicRoot}};
constexpr AttrSpec kPermuteAttrs[] = {
    {Attr::kChannelId}, {Attr::kSourceTargetPairs, kRequired}, {Attr::kSliceSizes}};

constexpr OpDef Collective(Opcode opcode, int min_operands, int max_operands,
                           std::span<const AttrSpec> attributes, std::string_view doc,
                           Exactness exactness = Exactness::kExact) {
  return {.opcode = opcode,
          .min_operands = min_operands,
          .max_operands = max_operands,
          .attributes = attributes,
          .shape_required = true,
          .kernel = KernelKind::kCollective,
          .exactness = exactness,
          .types = "any array",
          .doc = doc};
}

constexpr OpDef Done(Opcode opcode, std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = 1,
          .max_operands = 1,
          .shape_required = true,
          .kernel = KernelKind::kDone,
          .types = "a start",
          .doc = doc};
}

}  // namespace

constinit const OpDef kAllGatherOp =
    Collective(Opcode::kAllGather, 1, kAnyNumber, kAllGatherAttrs,
               "Operands of the group one after another along a dimension. (AllGather)");
constinit const OpDef kAllGatherStartOp =
    Collective(Opcode::kAllGatherStart, 1, kAnyNumber, kAllGatherAttrs,
               "Begins an all-gather: (operands, results). (AllGather)");
constinit const OpDef kAllGatherDoneOp =
    Done(Opcode::kAllGatherDone, "Ends an all-gather: element 1 of the start. (AllGather)");
constinit const OpDef kAllReduceOp =
    Collective(Opcode::kAllReduce, 1, kAnyNumber, kAllReduceAttrs,
               "Element-wise reduction over the group, to every member. (AllReduce)",
               Exactness::kOrder);
constinit const OpDef kAllReduceStartOp =
    Collective(Opcode::kAllReduceStart, 1, kAnyNumber, kAllReduceAttrs,
               "Begins an all-reduce; has its result's shape. (AllReduce)", Exactness::kOrder);
constinit const OpDef kAllReduceDoneOp =
    Done(Opcode::kAllReduceDone, "Ends an all-reduce: the start's value. (AllReduce)");
constinit const OpDef kAllToAllOp =
    Collective(Opcode::kAllToAll, 1, kAnyNumber, kAllToAllAttrs,
               "Block j goes to member j; blocks of a dimension, or one operand each. (AllToAll)");
constinit const OpDef kCollectiveBroadcastOp =
    Collective(Opcode::kCollectiveBroadcast, 1, kAnyNumber, kBroadcastAttrs,
               "The value of the group's root; zeros outside the groups. (CollectiveBroadcast)");
constinit const OpDef kCollectivePermuteOp =
    Collective(Opcode::kCollectivePermute, 1, kAnyNumber, kPermuteAttrs,
               "Copies along source-target pairs; zeros for who is no target. "
               "(CollectivePermute)");
constinit const OpDef kCollectivePermuteStartOp =
    Collective(Opcode::kCollectivePermuteStart, 1, kAnyNumber, kPermuteAttrs,
               "Begins a collective-permute: (operands, results, contexts). (CollectivePermute)");
constinit const OpDef kCollectivePermuteDoneOp =
    Done(Opcode::kCollectivePermuteDone,
         "Ends a collective-permute: element 1 of the start. (CollectivePermute)");
constinit const OpDef kRaggedAllToAllOp =
    Collective(Opcode::kRaggedAllToAll, 6, 6, kRaggedAllToAllAttrs,
               "Rows of run-time counts to every member, at offsets the sender names. "
               "(RaggedAllToAll)");
constinit const OpDef kReduceScatterOp =
    Collective(Opcode::kReduceScatter, 1, kAnyNumber, kReduceScatterAttrs,
               "Element-wise reduction over the group, block k to member k. (ReduceScatter)",
               Exactness::kOrder);

}  // namespace hv
