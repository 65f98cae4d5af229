// Participants of collectives. Source: xla/service/collective_ops_utils.cc.
#include "hlo/groups.h"

#include <algorithm>
#include <charconv>

#include "hlo/op.h"

namespace hv {
namespace {

bool TakesReplicasByDefault(Opcode plain) {
  return plain == Opcode::kAllReduce || plain == Opcode::kAllGather ||
         plain == Opcode::kReduceScatter;
}

bool IsSendOrReceive(Opcode op) {
  return op == Opcode::kSend || op == Opcode::kRecv || op == Opcode::kSendDone ||
         op == Opcode::kRecvDone;
}

bool HasChannel(const Instruction& instruction) {
  if (IsSendOrReceive(instruction.opcode)) return instruction.Int(Attr::kChannelId, 0) > 0;
  return instruction.Has(Attr::kChannelId);
}

// The listed groups, or one group of all `count` ids.
Groups ListedGroups(const Instruction& instruction, int64_t count) {
  const DeviceList* list = instruction.Object<DeviceList>(Attr::kReplicaGroups);
  Groups groups;
  if (list != nullptr) groups = Expand(*list);
  if (groups.empty()) {
    groups.emplace_back();
    for (int64_t id = 0; id < count; ++id) groups[0].push_back(id);
  }
  for (std::vector<int64_t>& group : groups) {
    std::erase_if(group, [count](int64_t id) { return id < 0 || id >= count; });
  }
  return groups;
}

// Takes `token` after blanks.
bool Take(std::string_view* text, char token) {
  text->remove_prefix(std::min(text->find_first_not_of(' '), text->size()));
  if (text->empty() || text->front() != token) return false;
  text->remove_prefix(1);
  return true;
}

bool TakeNumber(std::string_view* text, int64_t* number) {
  text->remove_prefix(std::min(text->find_first_not_of(' '), text->size()));
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return error == std::errc();
}

// The pairs in the frontend attribute of send and recv: "{{0,1},{1,2}}".
std::optional<std::vector<SourceTarget>> PairsInText(std::string_view text) {
  std::vector<SourceTarget> pairs;
  if (!Take(&text, '{')) return std::nullopt;
  if (Take(&text, '}')) return pairs;
  do {
    SourceTarget pair;
    if (!Take(&text, '{') || !TakeNumber(&text, &pair.source) || !Take(&text, ',') ||
        !TakeNumber(&text, &pair.target) || !Take(&text, '}')) {
      return std::nullopt;
    }
    pairs.push_back(pair);
  } while (Take(&text, ','));
  if (!Take(&text, '}')) return std::nullopt;
  return pairs;
}

}  // namespace

std::optional<std::vector<SourceTarget>> ListedPairs(const Instruction& instruction) {
  if (!IsSendOrReceive(instruction.opcode)) {
    const auto pairs = instruction.List<SourceTarget>(Attr::kSourceTargetPairs);
    return std::vector<SourceTarget>(pairs.begin(), pairs.end());
  }
  for (const DictionaryEntry& entry :
       instruction.List<DictionaryEntry>(Attr::kFrontendAttributes)) {
    if (entry.key == "_xla_send_recv_source_target_pairs") return PairsInText(entry.value);
  }
  return std::vector<SourceTarget>();
}

bool HasReplicaGroups(Opcode opcode) { return IsCollective(opcode) && !HasPairs(opcode); }

bool HasPairs(Opcode opcode) {
  return opcode == Opcode::kSend || opcode == Opcode::kRecv ||
         PlainOpcode(opcode) == Opcode::kCollectivePermute;
}

int64_t IdCountOf(GroupMode mode, int64_t replicas, int64_t partitions) {
  switch (mode) {
    case GroupMode::kCrossReplica:
    case GroupMode::kCrossReplicaAndPartition: return replicas;
    case GroupMode::kCrossPartition: return partitions;
    case GroupMode::kFlattenedId: return replicas * partitions;
  }
  return 0;
}

std::string_view ToString(GroupMode mode) {
  switch (mode) {
    case GroupMode::kCrossReplica: return "cross_replica";
    case GroupMode::kCrossPartition: return "cross_partition";
    case GroupMode::kCrossReplicaAndPartition: return "cross_replica_and_partition";
    case GroupMode::kFlattenedId: return "flattened_id";
  }
  return "";
}

GroupMode GroupModeOf(const Instruction& instruction) {
  if (!HasChannel(instruction)) return GroupMode::kCrossReplica;
  if (!TakesReplicasByDefault(PlainOpcode(instruction.opcode))) return GroupMode::kCrossPartition;
  return instruction.Bool(Attr::kUseGlobalDeviceIds) ? GroupMode::kFlattenedId
                                                     : GroupMode::kCrossReplicaAndPartition;
}

std::vector<std::vector<DeviceId>> EffectiveGroups(const Instruction& instruction,
                                                   int64_t replicas, int64_t partitions) {
  const GroupMode mode = GroupModeOf(instruction);
  const int64_t id_count = IdCountOf(mode, replicas, partitions);
  const int64_t copies = mode == GroupMode::kCrossReplica     ? partitions
                         : mode == GroupMode::kCrossPartition ? replicas
                                                              : 1;
  std::vector<std::vector<DeviceId>> result;
  for (const std::vector<int64_t>& group : ListedGroups(instruction, id_count)) {
    for (int64_t copy = 0; copy < copies; ++copy) {
      std::vector<DeviceId> devices;
      for (const int64_t id : group) {
        switch (mode) {
          case GroupMode::kCrossReplica: devices.emplace_back(id * partitions + copy); break;
          case GroupMode::kCrossPartition: devices.emplace_back(copy * partitions + id); break;
          case GroupMode::kFlattenedId: devices.emplace_back(id); break;
          case GroupMode::kCrossReplicaAndPartition:
            for (int64_t p = 0; p < partitions; ++p) devices.emplace_back(id * partitions + p);
            break;
        }
      }
      if (!devices.empty()) result.push_back(std::move(devices));
    }
  }
  return result;
}

std::vector<DevicePair> EffectivePairs(const Instruction& instruction, int64_t replicas,
                                       int64_t partitions) {
  const bool by_partition = GroupModeOf(instruction) == GroupMode::kCrossPartition;
  const int64_t ids = by_partition ? partitions : replicas;
  const int64_t copies = by_partition ? replicas : partitions;
  std::vector<DevicePair> result;
  for (const SourceTarget& pair : ListedPairs(instruction).value_or(std::vector<SourceTarget>())) {
    if (std::min(pair.source, pair.target) < 0 || std::max(pair.source, pair.target) >= ids) continue;
    for (int64_t copy = 0; copy < copies; ++copy) {
      const auto device = [&](int64_t id) {
        return DeviceId(by_partition ? copy * partitions + id : id * partitions + copy);
      };
      result.push_back({device(pair.source), device(pair.target)});
    }
  }
  return result;
}

}  // namespace hv
