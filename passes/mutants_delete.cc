// Wrong twins of delete_identity_collectives and of the three passes under test.
#include <algorithm>

#include "passes/delete_identity_collectives.h"
#include "passes/faithful.h"
#include "passes/registry.h"

namespace hv {
namespace {

class DeleteAnyReducer : public DeleteIdentityCollectives {
  using DeleteIdentityCollectives::DeleteIdentityCollectives;
  bool IsIdempotent(const Reducer&) const override { return true; }
};

class DeleteAnyOperand : public DeleteIdentityCollectives {
  using DeleteIdentityCollectives::DeleteIdentityCollectives;
  bool AgreesOnMembers(const Site&, const std::vector<std::vector<DeviceId>>&) override {
    return true;
  }
};

class DeleteListedSingletons : public DeleteIdentityCollectives {
  using DeleteIdentityCollectives::DeleteIdentityCollectives;
  std::vector<std::vector<DeviceId>> GroupsOf(const Instruction& collective) const override {
    const auto effective = DeleteIdentityCollectives::GroupsOf(collective);
    const DeviceList* list = collective.Object<DeviceList>(Attr::kReplicaGroups);
    const Groups listed = list == nullptr ? Groups() : hv::Expand(*list);
    const auto is_one = [](const std::vector<int64_t>& group) { return group.size() == 1; };
    if (listed.empty() || !std::ranges::all_of(listed, is_one)) return effective;
    std::vector<std::vector<DeviceId>> singletons;
    for (const std::vector<DeviceId>& group : effective) {
      for (const DeviceId device : group) singletons.push_back({device});
    }
    return singletons;
  }
};

class DeletePartialPermute : public DeleteIdentityCollectives {
  using DeleteIdentityCollectives::DeleteIdentityCollectives;
  std::optional<std::string> WhyNotOwnSource(const Instruction& permute) const override {
    for (const DevicePair& pair : EffectivePairs(permute, counts().replicas, counts().partitions)) {
      if (pair.source != pair.target) return "A pair leads from one device to another.";
    }
    return std::nullopt;
  }
};

class SingleGroupAnyStart : public RewriteAllReduceDynamicSlice {
  std::optional<std::string> WhyNot(const Site& site) override {
    std::optional<std::string> why_not = RewriteAllReduceDynamicSlice::WhyNot(site);
    if (why_not && why_not->starts_with("Start index")) return std::nullopt;
    return why_not;
  }
};

class MultipleGroupsFirstGroupPool : public RewriteAllReduceDynamicSliceMultipleGroups {
 public:
  MultipleGroupsFirstGroupPool()
      : RewriteAllReduceDynamicSliceMultipleGroups(RepeatedPool::kPosition) {}

 private:
  bool IsRamp(const Literal& pool, int64_t, int64_t width, int64_t) const override {
    if (pool.shape->element_count < width) return false;
    for (int64_t p = 0; p < width; ++p) {
      if (IntegerAt(pool, p) != p) return false;
    }
    return true;
  }
};

class DeletePermuteAllToAll : public DeletePermute {
  bool IsCandidate(const Instruction& instruction) const override {
    return DeletePermute::IsCandidate(instruction) || instruction.opcode == Opcode::kAllToAll;
  }
};

}  // namespace

#define HV_MAKE(name, ...)                                                              \
  std::unique_ptr<OpExpander> Make##name([[maybe_unused]] const PassContext& context) { \
    return std::make_unique<name>(__VA_ARGS__);                                         \
  }
HV_MAKE(DeleteAnyReducer, context.counts)
HV_MAKE(DeleteAnyOperand, context.counts)
HV_MAKE(DeleteListedSingletons, context.counts)
HV_MAKE(DeletePartialPermute, context.counts)
HV_MAKE(SingleGroupAnyStart)
HV_MAKE(MultipleGroupsFirstGroupPool)
HV_MAKE(DeletePermuteAllToAll)
#undef HV_MAKE

}  // namespace hv
