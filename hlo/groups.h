// Who takes part in a collective: the group mode follows from the opcode, channel_id and
// use_global_device_ids; the effective groups are lists of devices. Source: hlo_text.md section 13.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/strong_id.h"
#include "hlo/module.h"

namespace hv {

enum class GroupMode : uint8_t {
  kCrossReplica, kCrossPartition, kCrossReplicaAndPartition, kFlattenedId
};
std::string_view ToString(GroupMode mode);

// Mode of a collective, send or recv (its -start and async-wrapped forms alike).
GroupMode GroupModeOf(const Instruction& instruction);

// Effective groups of devices in group order for an R x P mesh: every device of every group, for each
// partition (cross-replica) or replica (cross-partition) separately. Ids out of range are dropped
// (Validate refuses them). Devices = r*P + p.
std::vector<std::vector<DeviceId>> EffectiveGroups(const Instruction& instruction,
                                                   int64_t replicas, int64_t partitions);

// Is the opcode a collective whose participants are listed in replica_groups (absent: all)?
bool HasReplicaGroups(Opcode opcode);
// Does it name its participants in pairs: collective-permute, send, recv?
bool HasPairs(Opcode opcode);

// How many ids the mode distinguishes on an R x P mesh, and how many devices one id stands for in a
// group (P in cross-replica-and-partition mode, else 1).
int64_t IdCountOf(GroupMode mode, int64_t replicas, int64_t partitions);
inline int64_t DevicesPerId(GroupMode mode, int64_t partitions) {
  return mode == GroupMode::kCrossReplicaAndPartition ? partitions : 1;
}

// The pairs as listed: source_target_pairs, or the frontend attribute of send and recv. Nothing if
// that text is no list of pairs.
std::optional<std::vector<SourceTarget>> ListedPairs(const Instruction& instruction);

// Source/target pairs of collective-permute, send and recv as devices, each replica or partition.
struct DevicePair {
  DeviceId source, target;
};
std::vector<DevicePair> EffectivePairs(const Instruction& instruction, int64_t replicas,
                                       int64_t partitions);

}  // namespace hv
