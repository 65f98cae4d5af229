// Rules about who takes part in a collective, against a mesh of R replicas x P partitions: every id
// exists and appears once, groups are of one size, shapes fit the group size. An id that the counts
// do not provide is refused even where the count is 1. Source: xla/service/hlo_verifier.cc.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hlo/checked.h"
#include "hlo/findings.h"
#include "hlo/groups.h"
#include "hlo/rules.h"

namespace hv {
namespace {

class DeviceRules {
 public:
  DeviceRules(const Computation& computation, const Instruction& instruction, DeviceCounts counts,
              RuleFindings* findings)
      : computation_(computation),
        instruction_(instruction),
        counts_(counts),
        mode_(GroupModeOf(instruction)),
        ids_(IdCountOf(mode_, counts.replicas, counts.partitions)),
        findings_(findings) {}

  void Check() {
    if (!CheckChannel()) return;
    if (HasPairs(instruction_.opcode)) return CheckPairs();
    if (CheckGroups()) CheckSizes();
  }

 private:
  // Both kinds of id, as diagnostics call them.
  std::string_view IdName() const {
    if (mode_ == GroupMode::kFlattenedId) return "device";
    return mode_ == GroupMode::kCrossPartition ? "partition" : "replica";
  }
  bool Fail(Attr key, std::string_view id, const std::string& message) {
    findings_->Add(instruction_, key, id, message);
    return false;
  }

  bool CheckChannel() {
    if (instruction_.Bool(Attr::kUseGlobalDeviceIds) && !instruction_.Has(Attr::kChannelId)) {
      return Fail(Attr::kUseGlobalDeviceIds, "global-ids",
                  "use_global_device_ids needs a channel_id");
    }
    const bool reduces = PlainOpcode(instruction_.opcode) == Opcode::kAllReduce;
    const int64_t least = reduces ? 1 : 0;
    if (instruction_.Int(Attr::kChannelId, least) < least) {
      return Fail(Attr::kChannelId, "channel-id",
                  fmt::format("channel_id must be at least {}", least));
    }
    return true;
  }

  // Ids 0 .. ids_-1, each once; some may miss in a collective-broadcast. Works on what is listed, not
  // on what the mesh has: counts may be huge.
  bool CheckIds(std::vector<int64_t> listed, bool some_may_miss) {
    std::sort(listed.begin(), listed.end());
    for (const int64_t id : {listed.front(), listed.back()}) {
      if (id >= 0 && id < ids_) continue;
      return Fail(Attr::kReplicaGroups, "device-unknown",
                  fmt::format("there is no {} {}, only {} of them", IdName(), id, ids_));
    }
    const auto twice = std::adjacent_find(listed.begin(), listed.end());
    if (twice != listed.end()) {
      return Fail(Attr::kReplicaGroups, "device-twice",
                  fmt::format("{} {} is listed twice", IdName(), *twice));
    }
    if (some_may_miss || static_cast<int64_t>(listed.size()) == ids_) return true;
    int64_t missing = 0;
    while (missing < static_cast<int64_t>(listed.size()) &&
           listed[static_cast<size_t>(missing)] == missing) {
      ++missing;
    }
    return Fail(Attr::kReplicaGroups, "device-missing",
                fmt::format("{} {} is in no group", IdName(), missing));
  }

  bool CheckGroups() {
    const DeviceList* list = instruction_.Object<DeviceList>(Attr::kReplicaGroups);
    if (list != nullptr) groups_ = Expand(*list);
    if (groups_.empty()) {
      if (mode_ != GroupMode::kFlattenedId) return true;
      return Fail(Attr::kUseGlobalDeviceIds, "groups-missing",
                  "use_global_device_ids needs replica_groups");
    }
    const bool broadcast = instruction_.opcode == Opcode::kCollectiveBroadcast;
    const bool any_size = broadcast || PlainOpcode(instruction_.opcode) == Opcode::kAllReduce;
    std::vector<int64_t> listed;
    for (const std::vector<int64_t>& group : groups_) {
      if (group.empty()) {
        return Fail(Attr::kReplicaGroups, "group-empty", "a group without members");
      }
      if (group.size() != groups_[0].size() && !any_size) {
        return Fail(Attr::kReplicaGroups, "group-sizes",
                    fmt::format("groups of {} and of {} members", groups_[0].size(),
                                group.size()));
      }
      listed.insert(listed.end(), group.begin(), group.end());
    }
    return CheckIds(std::move(listed), broadcast);
  }

  int64_t GroupSize() const {
    const int64_t listed = groups_.empty() ? ids_ : static_cast<int64_t>(groups_[0].size());
    return listed * DevicesPerId(mode_, counts_.partitions);
  }

  const Shape& Operand(size_t i) const { return *computation_.At(instruction_.operands[i]).shape; }

  // Part i of a shape that stands for the operands one by one.
  const Shape& Part(const Shape& shape, size_t i) const {
    return instruction_.operands.size() == 1 ? shape : *shape.elements[i];
  }

  // Sizes along `dimensions` against the group size. The op's own rule has checked the shapes' form.
  void CheckSizes() {
    const Dims dimensions = instruction_.Ints(Attr::kDimensions);
    switch (PlainOpcode(instruction_.opcode)) {
      case Opcode::kAllGather: return CheckFactor(dimensions[0], /*grows=*/true);
      case Opcode::kReduceScatter: return CheckFactor(dimensions[0], /*grows=*/false);
      case Opcode::kAllToAll: return CheckAllToAll(dimensions);
      case Opcode::kRaggedAllToAll: return CheckRagged();
      default: return;
    }
  }

  void CheckFactor(int64_t dimension, bool grows) {
    const bool starts = instruction_.opcode == Opcode::kAllGatherStart;
    const Shape& result = starts ? *instruction_.shape->elements[1] : *instruction_.shape;
    for (size_t i = 0; i < instruction_.operands.size(); ++i) {
      const int64_t before = Operand(i).dims[static_cast<size_t>(dimension)];
      const int64_t after = Part(result, i).dims[static_cast<size_t>(dimension)];
      const int64_t small = grows ? before : after, large = grows ? after : before;
      if (Wide(small) * GroupSize() == large) continue;
      Fail(Attr::kReplicaGroups, "group-size-shape",
           fmt::format("dimension {} goes from {} to {}, which a group of {} members does not give",
                       dimension, before, after, GroupSize()));
      return;
    }
  }

  void CheckAllToAll(Dims dimensions) {
    if (dimensions.empty()) {
      const auto count = static_cast<int64_t>(instruction_.operands.size());
      if (count == GroupSize()) return;
      Fail(Attr::kReplicaGroups, "group-size-operands",
           fmt::format("{} operands for a group of {} members", count, GroupSize()));
    } else if (const int64_t size = Operand(0).dims[static_cast<size_t>(dimensions[0])];
               size % GroupSize() != 0) {
      Fail(Attr::kDimensions, "group-size-shape",
           fmt::format("dimension {} of size {} does not divide among {} members", dimensions[0],
                       size, GroupSize()));
    }
  }

  // Offsets are [members], [members, updates], or that flattened.
  void CheckRagged() {
    const int64_t entries = Operand(2).dims[0];
    const bool flat = Operand(2).rank() == 1;
    if (flat ? entries % GroupSize() == 0 : entries == GroupSize()) return;
    Fail(Attr::kReplicaGroups, "group-size-operands",
         fmt::format("offsets for {} members in a group of {}", entries, GroupSize()));
  }

  // Every id exists; nobody sends or receives twice (per slice, in the in-place form).
  void CheckPairs() {
    const bool listed = instruction_.Has(Attr::kSourceTargetPairs);
    const Attr key = listed ? Attr::kSourceTargetPairs : Attr::kFrontendAttributes;
    const auto pairs = ListedPairs(instruction_);
    if (!pairs) {
      Fail(key, "pairs-text", "_xla_send_recv_source_target_pairs is no list of pairs");
      return;
    }
    const size_t slices = std::max<size_t>(
        1, instruction_.List<std::span<const int64_t>>(Attr::kSliceSizes).size());
    std::vector<int64_t> sources, targets;
    for (const SourceTarget& pair : *pairs) {
      for (const int64_t id : {pair.source, pair.target}) {
        if (id >= 0 && id < ids_) continue;
        Fail(key, "device-unknown",
             fmt::format("there is no {} {}, only {} of them", IdName(), id, ids_));
        return;
      }
      sources.push_back(pair.source);
      targets.push_back(pair.target);
    }
    if (const auto id = MoreOftenThan(slices, &sources)) {
      Fail(key, "source-twice", fmt::format("{} {} sends twice", IdName(), *id));
    } else if (const auto target = MoreOftenThan(slices, &targets)) {
      Fail(key, "target-twice", fmt::format("{} {} receives twice", IdName(), *target));
    }
  }

  // An id that appears more than `most` times.
  static std::optional<int64_t> MoreOftenThan(size_t most, std::vector<int64_t>* ids) {
    std::sort(ids->begin(), ids->end());
    for (size_t i = most; i < ids->size(); ++i) {
      if ((*ids)[i] == (*ids)[i - most]) return (*ids)[i];
    }
    return std::nullopt;
  }

  const Computation& computation_;
  const Instruction& instruction_;
  const DeviceCounts counts_;
  const GroupMode mode_;
  const int64_t ids_;
  RuleFindings* findings_;
  Groups groups_;
};

}  // namespace

void CheckDevices(const Computation& computation, const Instruction& instruction,
                  DeviceCounts counts, RuleFindings* findings) {
  DeviceRules(computation, instruction, counts, findings).Check();
}

}  // namespace hv
