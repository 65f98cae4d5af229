// Dead-code elimination. An instruction lives if the root needs it, if it or a computation it calls
// has a side effect, or if it is a parameter. Control edges to what goes are replaced by edges to what
// it would have waited for, so the order among the survivors stays. Source:
// xla/hlo/transforms/simplifiers/hlo_dce.cc, which keeps anything with a control edge instead.
#include <algorithm>

#include "hlo/module.h"
#include "hlo/op.h"

namespace hv {
namespace {

constexpr int32_t kGone = -1;

// effects[c]: does computation c have a side effect, its callees included?
std::vector<bool> Effects(const Module& module) {
  std::vector<bool> effects(module.computations.size());
  for (size_t c = 0; c < effects.size(); ++c) {
    for (const Instruction& instruction : module.computations[c].instructions) {
      bool effect = HasSideEffect(instruction);
      for (const ComputationIndex callee : CalledComputations(instruction)) {
        effect = effect || effects[static_cast<size_t>(callee)];
      }
      if (effect) effects[c] = true;
    }
  }
  return effects;
}

// Operands stand before their users, so one walk from the end marks everything.
std::vector<bool> LiveInstructions(const Computation& computation,
                                   const std::vector<bool>& effects) {
  std::vector<bool> live(computation.instructions.size());
  for (size_t i = live.size(); i-- > 0;) {
    const Instruction& instruction = computation.instructions[i];
    bool needed = live[i] || static_cast<InstructionIndex>(i) == computation.root ||
                  instruction.opcode == Opcode::kParameter || HasSideEffect(instruction);
    for (const ComputationIndex callee : CalledComputations(instruction)) {
      needed = needed || effects[static_cast<size_t>(callee)];
    }
    if (!needed) continue;
    live[i] = true;
    for (const InstructionIndex operand : instruction.operands) {
      live[static_cast<size_t>(operand)] = true;
    }
  }
  return live;
}

// New positions of what is kept, kGone for the rest.
std::vector<int32_t> Renumbering(const std::vector<bool>& live) {
  std::vector<int32_t> renumbering(live.size(), kGone);
  int32_t next = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i]) renumbering[i] = next++;
  }
  return renumbering;
}

template <class T>
void SetList(Arena* arena, const std::vector<T>& list, Attribute* attribute) {
  const std::span<const T> copy = arena->Copy(list);
  attribute->data = copy.data();
  attribute->size = copy.size();
}

// Rewrites indices in one computation; `computations` renumbers callees.
class Renumberer {
 public:
  Renumberer(Module* module, const Computation& before, const std::vector<int32_t>& instructions,
             const std::vector<int32_t>& computations)
      : arena_(&module->context->arena),
        before_(before),
        instructions_(instructions),
        computations_(computations),
        visited_by_(before.instructions.size(), nullptr) {}

  Instruction Rewrite(const Instruction& instruction) {
    Instruction result = instruction;
    std::vector<InstructionIndex> operands;
    for (const InstructionIndex operand : instruction.operands) {
      operands.push_back(instructions_[static_cast<size_t>(operand)]);
    }
    result.operands = arena_->Copy(operands);
    std::vector<Attribute> attributes(instruction.attributes.begin(),
                                      instruction.attributes.end());
    for (Attribute& attribute : attributes) RewriteAttribute(instruction, &attribute);
    std::erase_if(attributes, [](const Attribute& attribute) {
      return attribute.key == Attr::kControlPredecessors && attribute.size == 0;
    });
    result.attributes = arena_->Copy(attributes);
    return result;
  }

 private:
  void RewriteAttribute(const Instruction& instruction, Attribute* attribute) {
    switch (Row(attribute->key).kind) {
      case AttrKind::kComputation:
        attribute->integer = computations_[static_cast<size_t>(attribute->integer)];
        return;
      case AttrKind::kComputations: {
        std::vector<ComputationIndex> callees;
        for (const ComputationIndex c : instruction.List<ComputationIndex>(attribute->key)) {
          callees.push_back(computations_[static_cast<size_t>(c)]);
        }
        return SetList(arena_, callees, attribute);
      }
      case AttrKind::kInstructions: {
        std::vector<InstructionIndex> survivors;
        for (const InstructionIndex p : instruction.List<InstructionIndex>(attribute->key)) {
          AddSurvivors(instruction, p, &survivors);
        }
        return SetList(arena_, survivors, attribute);
      }
      default: return;
    }
  }

  // What `waiter` waits for through its predecessor `index`: that, or what that would have waited for.
  void AddSurvivors(const Instruction& waiter, InstructionIndex index,
                    std::vector<InstructionIndex>* survivors) {
    std::vector<InstructionIndex> pending{index};
    while (!pending.empty()) {
      const InstructionIndex at = pending.back();
      pending.pop_back();
      const Instruction*& visited_by = visited_by_[static_cast<size_t>(at)];
      if (visited_by == &waiter) continue;
      visited_by = &waiter;
      const Instruction& instruction = before_.At(at);
      const int32_t kept_as = instructions_[static_cast<size_t>(at)];
      if (kept_as != kGone) {
        // Nothing needs an edge to what is there from the start.
        const bool source = at != index && Definition(instruction).kernel == KernelKind::kSource;
        if (!source) survivors->push_back(kept_as);
        continue;
      }
      pending.insert(pending.end(), instruction.operands.begin(), instruction.operands.end());
      const auto before = instruction.ControlPredecessors();
      pending.insert(pending.end(), before.begin(), before.end());
    }
  }

  Arena* arena_;
  const Computation& before_;
  const std::vector<int32_t>& instructions_;
  const std::vector<int32_t>& computations_;
  std::vector<const Instruction*> visited_by_;  // who came last to each instruction of before_
};

Computation Rebuild(Module* module, const Computation& before, const std::vector<bool>& live,
                    const std::vector<int32_t>& computations) {
  const std::vector<int32_t> renumbering = Renumbering(live);
  Renumberer renumberer(module, before, renumbering, computations);
  Computation after = before;
  after.instructions.clear();
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i]) after.instructions.push_back(renumberer.Rewrite(before.instructions[i]));
  }
  for (InstructionIndex& p : after.parameters) p = renumbering[static_cast<size_t>(p)];
  after.root = renumbering[static_cast<size_t>(before.root)];
  return after;
}

}  // namespace

void EliminateDeadCode(Module* module) {
  const std::vector<bool> effects = Effects(*module);
  const size_t count = module->computations.size();
  std::vector<std::vector<bool>> live(count);
  std::vector<bool> called(count);
  called[static_cast<size_t>(module->entry)] = true;
  // Callees stand before callers: from the last computation down, callers are settled first.
  for (size_t c = count; c-- > 0;) {
    const Computation& computation = module->computations[c];
    if (!called[c]) continue;
    live[c] = LiveInstructions(computation, effects);
    for (size_t i = 0; i < live[c].size(); ++i) {
      if (!live[c][i]) continue;
      for (const ComputationIndex callee : CalledComputations(computation.instructions[i])) {
        called[static_cast<size_t>(callee)] = true;
      }
    }
  }
  const std::vector<int32_t> renumbering = Renumbering(called);
  std::vector<Computation> kept;
  for (size_t c = 0; c < count; ++c) {
    if (called[c]) kept.push_back(Rebuild(module, module->computations[c], live[c], renumbering));
  }
  module->computations = std::move(kept);
  module->entry = renumbering[static_cast<size_t>(module->entry)];
}

}  // namespace hv
