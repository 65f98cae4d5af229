#include "passes/delete_identity_collectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/registry.h"
#include "passes/same_on_members.h"

namespace hv {
namespace {

bool SameLayout(const Shape& a, const Shape& b) {
  return (HasDefaultLayout(a) && HasDefaultLayout(b)) ||
         std::ranges::equal(a.minor_to_major, b.minor_to_major);
}

}  // namespace

bool DeleteIdentityCollectives::IsCandidate(const Instruction& instruction) const {
  switch (instruction.opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kReduceScatter:
      return true;
    default:
      return false;
  }
}

std::vector<std::vector<DeviceId>> DeleteIdentityCollectives::GroupsOf(
    const Instruction& collective) const {
  return EffectiveGroups(collective, counts_.replicas, counts_.partitions);
}

std::optional<std::string> DeleteIdentityCollectives::WhyNot(const Site& site) {
  const Instruction& collective = site.instruction();
  if (collective.Has(Attr::kSliceSizes)) return "Moves slices into another operand.";
  if (collective.opcode == Opcode::kCollectivePermute) return WhyNotOwnSource(collective);
  if (collective.Bool(Attr::kHasDynamicRoot)) return "The root is chosen at run time.";
  return WhyNotAlone(site);
}

std::optional<std::string> DeleteIdentityCollectives::WhyNotOwnSource(
    const Instruction& permute) const {
  std::vector<int64_t> source(static_cast<size_t>(counts_.replicas * counts_.partitions), -1);
  for (const DevicePair& pair : EffectivePairs(permute, counts_.replicas, counts_.partitions)) {
    source[static_cast<size_t>(pair.target.value)] = pair.source.value;
  }
  for (size_t device = 0; device < source.size(); ++device) {
    if (source[device] < 0) return fmt::format("Device {} has no source, it gets zeros.", device);
    if (source[device] != static_cast<int64_t>(device)) {
      return fmt::format("Device {} receives from device {}.", device, source[device]);
    }
  }
  return std::nullopt;
}

std::optional<std::string> DeleteIdentityCollectives::WhyNotAlone(const Site& site) {
  const Instruction& collective = site.instruction();
  const std::vector<std::vector<DeviceId>> groups = GroupsOf(collective);
  std::vector<bool> member(static_cast<size_t>(counts_.replicas * counts_.partitions));
  size_t largest = 0;
  for (const std::vector<DeviceId>& group : groups) {
    largest = std::max(largest, group.size());
    for (const DeviceId device : group) member[static_cast<size_t>(device.value)] = true;
  }
  const auto outside = std::ranges::find(member, false);
  if (outside != member.end()) {
    return fmt::format("Device {} is in no replica group.", outside - member.begin());
  }
  if (largest == 1) return std::nullopt;
  const bool broadcast = collective.opcode == Opcode::kCollectiveBroadcast;
  if (collective.opcode != Opcode::kAllReduce && !broadcast) {
    return fmt::format("A group has {} devices.", largest);
  }
  if (!broadcast &&
      !IsIdempotent(RecognizeReducer(site.module, collective.Computation(Attr::kToApply)))) {
    return fmt::format("A group has {} devices and the reducer is not idempotent.", largest);
  }
  if (!AgreesOnMembers(site, groups)) {
    return fmt::format("A group has {} devices and the operand is not provably the same on all.",
                       largest);
  }
  return std::nullopt;
}

bool DeleteIdentityCollectives::IsIdempotent(const Reducer& reducer) const {
  switch (reducer.fn) {
    case ScalarFn::kMaximum:
    case ScalarFn::kMinimum:
    case ScalarFn::kAnd:
    case ScalarFn::kOr:
      return true;
    case ScalarFn::kAdd:  // on pred: or, and
    case ScalarFn::kMultiply:
      return IsPred(reducer.element);
    default:
      return false;
  }
}

bool DeleteIdentityCollectives::AgreesOnMembers(const Site& site,
                                                const std::vector<std::vector<DeviceId>>& groups) {
  SameOnMembers same(site.module, site.computation_index, counts_, groups);
  return std::ranges::all_of(site.instruction().operands,
                             [&](InstructionIndex o) { return same.Holds(o); });
}

Result<InstructionIndex> DeleteIdentityCollectives::Expand(const Site& site, Rebuild* rebuild) {
  const Instruction& collective = site.instruction();
  // The operand in the layout of the result, which readers may rely on.
  const auto in_layout_of = [&](const Shape* shape, InstructionIndex old) {
    const InstructionIndex operand = rebuild->Mapped(old);
    if (SameLayout(*rebuild->At(operand).shape, *shape)) return operand;
    InstructionBuilder copy(&rebuild->module(), Opcode::kCopy, shape);
    return rebuild->Add(copy.Operands(std::span(&operand, 1)).Build());
  };
  if (!collective.shape->IsTuple()) return in_layout_of(collective.shape, collective.operands[0]);
  std::vector<InstructionIndex> elements;
  for (size_t i = 0; i < collective.operands.size(); ++i) {
    elements.push_back(in_layout_of(collective.shape->elements[i], collective.operands[i]));
  }
  InstructionBuilder tuple(&rebuild->module(), Opcode::kTuple, collective.shape);
  return rebuild->Add(tuple.Operands(elements).Build());
}

std::string DeleteIdentityCollectives::Describe(const Instruction& replacement) const {
  return fmt::format("deleted, {} stands in its place", replacement.name);
}

std::unique_ptr<OpExpander> MakeDeleteIdentityCollectives(const PassContext& context) {
  return std::make_unique<DeleteIdentityCollectives>(context.counts);
}

}  // namespace hv
