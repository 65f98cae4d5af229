// What the groups and pairs of a module tell about its mesh, for modules whose header does not.
// Source: hlo_text.md section 13.
#include <algorithm>

#include "hlo/groups.h"
#include "hlo/op.h"
#include "hlo/validator.h"

namespace hv {
namespace {

// Lower bounds found so far; flattened ids bound the product.
struct Bounds {
  int64_t replicas = 1, partitions = 1, devices = 1;

  void Raise(GroupMode mode, int64_t ids) {
    if (ids > kMaxDeviceIds) return;  // no mesh is that large
    if (mode == GroupMode::kCrossPartition) {
      partitions = std::max(partitions, ids);
    } else if (mode == GroupMode::kFlattenedId) {
      devices = std::max(devices, ids);
    } else {
      replicas = std::max(replicas, ids);
    }
  }
};

int64_t SizeAlong(const Shape& shape, int64_t d) {
  const Shape* array = &shape;
  while (array->IsTuple() && !array->elements.empty()) array = array->elements[0];
  return d >= 0 && d < array->rank() ? array->dims[static_cast<size_t>(d)] : 0;
}

// With empty groups, the members that the shapes imply; 0 if they say nothing.
int64_t ImpliedMembers(const Computation& computation, const Instruction& instruction) {
  const std::span<const int64_t> dimensions = instruction.Ints(Attr::kDimensions);
  if (instruction.operands.empty()) return 0;
  if (dimensions.empty()) {
    const bool tuple = instruction.opcode == Opcode::kAllToAll;
    return tuple ? static_cast<int64_t>(instruction.operands.size()) : 0;
  }
  const bool starts = instruction.opcode == Opcode::kAllGatherStart;
  const Shape* result = instruction.shape;
  if (starts && result->elements.size() >= 2) result = result->elements[1];
  const int64_t before = SizeAlong(*computation.At(instruction.operands[0]).shape, dimensions[0]);
  const int64_t after = SizeAlong(*result, dimensions[0]);
  const int64_t small = std::min(before, after), large = std::max(before, after);
  return small > 0 && large % small == 0 && large > small ? large / small : 0;
}

void Look(const Computation& computation, const Instruction& instruction, Bounds* bounds) {
  const GroupMode mode = GroupModeOf(instruction);
  if (HasPairs(instruction.opcode)) {
    for (const SourceTarget& pair :
         ListedPairs(instruction).value_or(std::vector<SourceTarget>())) {
      bounds->Raise(mode, std::max(pair.source, pair.target) + 1);
    }
    return;
  }
  const DeviceList* list = instruction.Object<DeviceList>(Attr::kReplicaGroups);
  if (list != nullptr && list->form != DeviceList::Form::kEmpty) {
    for (const std::vector<int64_t>& group : Expand(*list)) {
      for (const int64_t id : group) bounds->Raise(mode, id + 1);
    }
  } else if (const int64_t members = ImpliedMembers(computation, instruction); members > 0) {
    const bool product = mode == GroupMode::kCrossReplicaAndPartition;
    bounds->Raise(product ? GroupMode::kFlattenedId : mode, members);
  }
}

}  // namespace

DeviceCounts DeduceCounts(const Module& module) {
  if (module.replica_count || module.num_partitions) {
    return {module.replicas(), module.partitions()};
  }
  Bounds bounds;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (IsCollective(instruction.opcode)) Look(computation, instruction, &bounds);
    }
  }
  DeviceCounts counts{bounds.replicas, bounds.partitions};
  // Flattened ids beyond R * P: more partitions if replicas divide them, else more replicas.
  if (counts.replicas * counts.partitions < bounds.devices) {
    if (bounds.devices % counts.replicas == 0 && counts.partitions == 1) {
      counts.partitions = bounds.devices / counts.replicas;
    } else if (bounds.devices % counts.partitions == 0) {
      counts.replicas = bounds.devices / counts.partitions;
    }
  }
  return counts;
}

}  // namespace hv
