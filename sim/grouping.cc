#include "sim/grouping.h"

#include <numeric>
#include <utility>

#include "hlo/op.h"

namespace hv {
namespace {

bool GoesByPairs(Opcode opcode) {
  return opcode == Opcode::kCollectivePermute || opcode == Opcode::kSend || opcode == Opcode::kRecv;
}

void FillPositions(Grouping* grouping) {
  for (size_t g = 0; g < grouping->groups.size(); ++g) {
    for (size_t k = 0; k < grouping->groups[g].size(); ++k) {
      const size_t device = static_cast<size_t>(grouping->groups[g][k].value);
      grouping->group_of[device] = static_cast<int32_t>(g);
      grouping->position_of[device] = static_cast<int32_t>(k);
    }
  }
}

// Devices linked by pairs meet together: union-find with the smallest device as representative.
void LinkPairs(const std::vector<DevicePair>& pairs, Grouping* grouping) {
  std::vector<size_t> parent(grouping->group_of.size());
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto find = [&parent](size_t d) {
    while (parent[d] != d) d = parent[d] = parent[parent[d]];
    return d;
  };
  for (const DevicePair& pair : pairs) {
    const size_t s = static_cast<size_t>(pair.source.value);
    const size_t t = static_cast<size_t>(pair.target.value);
    grouping->target_of[s] = pair.target.value;
    grouping->source_of[t] = pair.source.value;
    const size_t a = find(s), b = find(t);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<size_t> group_of_root(parent.size());
  for (size_t d = 0; d < parent.size(); ++d) {
    const size_t root = find(d);
    if (root == d) {
      group_of_root[d] = grouping->groups.size();
      grouping->groups.emplace_back();
    }
    grouping->groups[group_of_root[root]].push_back(DeviceId(static_cast<int64_t>(d)));
  }
}

std::string KeyOf(const Instruction& instruction) {
  std::string key(ToString(GroupModeOf(instruction)));
  if (const DeviceList* list = instruction.Object<DeviceList>(Attr::kReplicaGroups)) {
    AppendDeviceList(*list, &key);
  }
  return key;
}

std::string KeyOf(const std::vector<DevicePair>& pairs) {
  std::string key = "pairs";
  for (const DevicePair& pair : pairs) {
    key += ' ' + std::to_string(pair.source.value) + '>' + std::to_string(pair.target.value);
  }
  return key;
}

}  // namespace

std::shared_ptr<const Grouping> GroupingTable::Of(const Instruction& instruction) {
  const bool by_pairs = GoesByPairs(PlainOpcode(instruction.opcode));
  std::vector<DevicePair> pairs;
  if (by_pairs) pairs = EffectivePairs(instruction, mesh_.replicas, mesh_.partitions);
  std::shared_ptr<const Grouping>& known = known_[by_pairs ? KeyOf(pairs) : KeyOf(instruction)];
  if (known != nullptr) return known;
  auto grouping = std::make_shared<Grouping>();
  const size_t devices = static_cast<size_t>(mesh_.devices());
  grouping->group_of.assign(devices, -1);
  grouping->position_of.assign(devices, -1);
  if (by_pairs) {
    grouping->source_of.assign(devices, -1);
    grouping->target_of.assign(devices, -1);
    LinkPairs(pairs, grouping.get());
  } else {
    grouping->groups = EffectiveGroups(instruction, mesh_.replicas, mesh_.partitions);
  }
  FillPositions(grouping.get());
  known = std::move(grouping);
  return known;
}

}  // namespace hv
