#include "passes/same_on_members.h"

#include <algorithm>

#include "hlo/groups.h"
#include "hlo/op.h"

namespace hv {
namespace {

bool IsDeterministic(const Module& module, const Instruction& instruction);

bool BodyIsDeterministic(const Module& module, ComputationIndex body) {
  return std::ranges::all_of(module.At(body).instructions, [&](const Instruction& i) {
    return i.opcode == Opcode::kParameter || IsDeterministic(module, i);
  });
}

// Equal operands give equal results, on whatever device.
bool IsDeterministic(const Module& module, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kParameter:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
      return false;
    default:
      break;
  }
  const OpDef& definition = Definition(instruction);
  switch (definition.kernel) {
    case KernelKind::kCollective:
    case KernelKind::kDone:
    case KernelKind::kHidden:
    case KernelKind::kRefused:
      return false;
    default:
      break;
  }
  if (definition.exactness == Exactness::kNone || HasSideEffect(instruction)) return false;
  return std::ranges::all_of(CalledComputations(instruction), [&](ComputationIndex body) {
    return BodyIsDeterministic(module, body);
  });
}

// Every member of a group gets the same result.
bool GivesAllTheSame(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllGather:
      return true;
    case Opcode::kCollectiveBroadcast:
      return !instruction.Bool(Attr::kHasDynamicRoot);
    default:
      return false;
  }
}

}  // namespace

SameOnMembers::SameOnMembers(const Module& module, ComputationIndex computation,
                             DeviceCounts counts, std::vector<std::vector<DeviceId>> groups)
    : module_(module),
      computation_(module.At(computation)),
      counts_(counts),
      groups_(std::move(groups)),
      control_(module, computation) {}

bool SameOnMembers::Holds(InstructionIndex instruction) {
  while (same_.size() <= static_cast<size_t>(instruction)) {
    const InstructionIndex next = static_cast<InstructionIndex>(same_.size());
    same_.push_back(Compute(computation_.At(next), next));
  }
  return same_[static_cast<size_t>(instruction)];
}

bool SameOnMembers::Compute(const Instruction& instruction, InstructionIndex index) {
  if (GivesAllTheSame(instruction)) return GroupsContainMembers(instruction);
  const bool operands_agree = std::ranges::all_of(
      instruction.operands, [&](InstructionIndex o) { return same_[static_cast<size_t>(o)]; });
  if (instruction.opcode == Opcode::kAllReduceDone) return operands_agree;
  if (operands_agree && IsDeterministic(module_, instruction)) return true;
  return ControlAgrees(index);
}

bool SameOnMembers::GroupsContainMembers(const Instruction& collective) const {
  std::vector<size_t> group_of(static_cast<size_t>(counts_.replicas * counts_.partitions));
  size_t number = 0;
  for (const auto& group : EffectiveGroups(collective, counts_.replicas, counts_.partitions)) {
    ++number;
    for (const DeviceId device : group) group_of[static_cast<size_t>(device.value)] = number;
  }
  return std::ranges::all_of(groups_, [&](const std::vector<DeviceId>& members) {
    const auto at = [&](DeviceId d) { return group_of[static_cast<size_t>(d.value)]; };
    return at(members[0]) != 0 &&
           std::ranges::all_of(members, [&](DeviceId d) { return at(d) == at(members[0]); });
  });
}

bool SameOnMembers::ControlAgrees(InstructionIndex index) {
  const auto value = [&](DeviceId d) -> const Value& {
    return control_
        .Evaluate(index, ReplicaId(d.value / counts_.partitions),
                  PartitionId(d.value % counts_.partitions))
        .value;
  };
  if (value(DeviceId(0)).empty()) return false;
  return std::ranges::all_of(groups_, [&](const std::vector<DeviceId>& members) {
    return std::ranges::all_of(members, [&](DeviceId d) {
      return !value(d).empty() && SameBits(value(members[0]), value(d));
    });
  });
}

}  // namespace hv
