// Wrong twins of all_reduce_dynamic_slice_to_reduce_scatter: each overrides one step.
#include <algorithm>

#include "passes/all_reduce_dynamic_slice_to_reduce_scatter.h"
#include "passes/combined_all_reduce.h"
#include "passes/registry.h"

namespace hv {
namespace {

class Scatter : public AllReduceDynamicSliceToReduceScatter {
 public:
  explicit Scatter(const PassContext& context)
      : AllReduceDynamicSliceToReduceScatter(context.counts,
                                             context.options.at("allow_dearer") == "true") {}

 protected:
  // Emits as if `key` of the all-reduce were `changed`, or absent.
  InstructionIndex EmitWith(ScatterPlan plan, Attr key, const Attribute* changed,
                            Rebuild* rebuild) {
    Instruction altered = *plan.all_reduce;
    std::vector<Attribute> attributes(altered.attributes.begin(), altered.attributes.end());
    std::erase_if(attributes, [key](const Attribute& a) { return a.key == key; });
    if (changed != nullptr) attributes.push_back(*changed);
    altered.attributes = rebuild->module().context->arena.Copy(attributes);
    plan.all_reduce = &altered;
    return EmitReduceScatter(plan, rebuild);
  }
};

class ScatterUncheckedStart : public Scatter {
  using Scatter::Scatter;
  bool IsOwnShard(int64_t, int64_t, int64_t, int64_t) const override { return true; }
};

class ScatterSortedGroups : public Scatter {
  using Scatter::Scatter;
  std::vector<std::vector<DeviceId>> GroupsOf(const Instruction& all_reduce) const override {
    auto groups = Scatter::GroupsOf(all_reduce);
    for (std::vector<DeviceId>& group : groups) std::ranges::sort(group);
    return groups;
  }
};

class ScatterWrappedStart : public Scatter {
  using Scatter::Scatter;
  bool IsOwnShard(int64_t start, int64_t position, int64_t size, int64_t full) const override {
    return start % full == position * size;
  }
};

class ScatterOtherDimension : public Scatter {
  using Scatter::Scatter;
  InstructionIndex Emit(const ScatterPlan& plan, Rebuild* rebuild) override {
    const Shape& whole = *rebuild->At(plan.operand).shape;
    const size_t right = static_cast<size_t>(plan.dimension);
    const int64_t width = whole.dims[right] / plan.shape->dims[right];
    std::vector<int64_t> dims(whole.dims.begin(), whole.dims.end());
    const auto divides = [&](int64_t dim) { return &dim != &dims[right] && dim % width == 0; };
    const auto wrong = std::find_if(dims.begin(), dims.end(), divides);
    if (wrong == dims.end()) return Scatter::Emit(plan, rebuild);
    *wrong /= width;
    ScatterPlan changed = plan;
    changed.dimension = wrong - dims.begin();
    changed.shape = rebuild->module().context->shapes.Array(whole.type, dims);
    const InstructionIndex scatter = Scatter::Emit(changed, rebuild);
    InstructionBuilder reshape(&rebuild->module(), Opcode::kReshape, plan.shape);
    return rebuild->Add(reshape.Operands(std::span(&scatter, 1)).Build());
  }
};

class ScatterDroppedChannel : public Scatter {
  using Scatter::Scatter;
  InstructionIndex Emit(const ScatterPlan& plan, Rebuild* rebuild) override {
    ScatterPlan changed = plan;
    changed.channel_id = 0;
    return EmitWith(changed, Attr::kUseGlobalDeviceIds, nullptr, rebuild);
  }
};

class ScatterReversedGroups : public Scatter {
  using Scatter::Scatter;
  InstructionIndex Emit(const ScatterPlan& plan, Rebuild* rebuild) override {
    const Attribute* groups = plan.all_reduce->Find(Attr::kReplicaGroups);
    if (groups == nullptr) return Scatter::Emit(plan, rebuild);
    Arena& arena = rebuild->module().context->arena;
    std::vector<std::span<const int64_t>> lists;
    for (std::vector<int64_t>& group : hv::Expand(*static_cast<const DeviceList*>(groups->data))) {
      std::ranges::reverse(group);
      lists.push_back(arena.Copy(group));
    }
    DeviceList* reversed = arena.New<DeviceList>();
    reversed->form = lists.empty() ? DeviceList::Form::kEmpty : DeviceList::Form::kLists;
    reversed->lists = arena.Copy(lists);
    Attribute changed = *groups;
    changed.data = reversed;
    return EmitWith(plan, Attr::kReplicaGroups, &changed, rebuild);
  }
};

class ScatterSwappedReducer : public Scatter {
  using Scatter::Scatter;
  void Finish(Module* module, const std::vector<RewriteDecision>& decisions) override {
    Scatter::Finish(module, decisions);
    for (const Computation& computation : module->computations) {
      for (const Instruction& instruction : computation.instructions) {
        if (instruction.opcode != Opcode::kReduceScatter) continue;
        Computation& reducer =
            module->computations[static_cast<size_t>(instruction.Computation(Attr::kToApply))];
        Opcode& op = reducer.instructions[static_cast<size_t>(reducer.root)].opcode;
        op = op == Opcode::kMaximum ? Opcode::kAdd : Opcode::kMaximum;
        return;
      }
    }
  }
};

class ScatterDroppedScale : public Scatter {
  using Scatter::Scatter;
  InstructionIndex ApplyToShard(const Site& site, const ChainLink& link, InstructionIndex shard,
                                Rebuild* rebuild) override {
    const bool same_type = site.At(link.instruction).shape->type == rebuild->At(shard).shape->type;
    return same_type ? shard : Scatter::ApplyToShard(site, link, shard, rebuild);
  }
};

class ScatterIgnoredTranspose : public Scatter {
  using Scatter::Scatter;
  InstructionIndex Emit(const ScatterPlan& plan, Rebuild* rebuild) override {
    const Instruction view = rebuild->At(plan.operand);
    if (view.opcode != Opcode::kTranspose) return Scatter::Emit(plan, rebuild);
    InstructionBuilder reshape(&rebuild->module(), Opcode::kReshape, view.shape);
    ScatterPlan changed = plan;
    changed.operand = rebuild->Add(reshape.Operands(view.operands).Build());
    return Scatter::Emit(changed, rebuild);
  }
};

class ScatterSwappedElements : public Scatter {
  using Scatter::Scatter;
  void Finish(Module* module, const std::vector<RewriteDecision>& decisions) override {
    Scatter::Finish(module, decisions);
    for (Computation& computation : module->computations) {
      for (Instruction& instruction : computation.instructions) {
        if (instruction.opcode != Opcode::kAllReduce || !instruction.shape->IsTuple()) continue;
        std::vector<InstructionIndex> operands(instruction.operands.rbegin(),
                                               instruction.operands.rend());
        instruction.operands = module->context->arena.Copy(operands);
      }
    }
  }
};

class ScatterUnreducedReader : public AllReduceDynamicSliceToReduceScatter {
 public:
  explicit ScatterUnreducedReader(const PassContext& context)
      : AllReduceDynamicSliceToReduceScatter(context.counts, true) {}

 private:
  InstructionIndex Emit(const ScatterPlan& plan, Rebuild* rebuild) override {
    reduced_.insert(plan.all_reduce->name);
    return AllReduceDynamicSliceToReduceScatter::Emit(plan, rebuild);
  }
  void Finish(Module* module, const std::vector<RewriteDecision>& /*decisions*/) override {
    for (Computation& computation : module->computations) {
      for (size_t i = 0; i < computation.instructions.size(); ++i) {
        const Instruction& instruction = computation.instructions[i];
        if (reduced_.count(instruction.name) == 0 || instruction.shape->IsTuple()) continue;
        RedirectReaders(&computation, static_cast<InstructionIndex>(i), instruction.operands[0],
                        &module->context->arena);
      }
    }
    EliminateDeadCode(module);
  }

  std::set<std::string_view> reduced_;
};

}  // namespace

#define HV_MAKE(name)                                                  \
  std::unique_ptr<OpExpander> Make##name(const PassContext& context) { \
    return std::make_unique<name>(context);                            \
  }
HV_MAKE(ScatterUncheckedStart)
HV_MAKE(ScatterSortedGroups)
HV_MAKE(ScatterWrappedStart)
HV_MAKE(ScatterOtherDimension)
HV_MAKE(ScatterDroppedChannel)
HV_MAKE(ScatterReversedGroups)
HV_MAKE(ScatterSwappedReducer)
HV_MAKE(ScatterDroppedScale)
HV_MAKE(ScatterIgnoredTranspose)
HV_MAKE(ScatterSwappedElements)
HV_MAKE(ScatterUnreducedReader)
#undef HV_MAKE

}  // namespace hv
