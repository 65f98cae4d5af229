#include "sim/plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "hlo/op.h"
#include "sim/collective_plan.h"
#include "sim/fusion_plan.h"
#include "sim/hash.h"
#include "sim/view_plan.h"

namespace hv {
namespace {

StepKind KindOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter: return StepKind::kSkip;
    case Opcode::kConstant: return StepKind::kConstant;
    case Opcode::kTuple: return StepKind::kTuple;
    case Opcode::kGetTupleElement: return StepKind::kElement;
    case Opcode::kWhile: return StepKind::kWhile;
    case Opcode::kConditional: return StepKind::kConditional;
    case Opcode::kCall: case Opcode::kFusion: return StepKind::kCall;
    case Opcode::kAllReduce: case Opcode::kAllGather: case Opcode::kReduceScatter:
    case Opcode::kAllToAll: case Opcode::kRaggedAllToAll: case Opcode::kCollectivePermute:
    case Opcode::kCollectiveBroadcast: return StepKind::kCollective;
    case Opcode::kAllReduceStart: case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart: case Opcode::kSend: case Opcode::kRecv:
      return StepKind::kStart;
    case Opcode::kCopyStart: return StepKind::kCopyStart;
    case Opcode::kAsyncStart: return StepKind::kAsyncStart;
    case Opcode::kAsyncUpdate: return StepKind::kAsyncUpdate;
    case Opcode::kAllReduceDone: case Opcode::kAllGatherDone: case Opcode::kCollectivePermuteDone:
    case Opcode::kSendDone: case Opcode::kRecvDone: case Opcode::kCopyDone: case Opcode::kAsyncDone:
      return StepKind::kDone;
    default: return StepKind::kLocal;
  }
}

bool RunsComputations(StepKind kind) {
  return kind == StepKind::kWhile || kind == StepKind::kConditional || kind == StepKind::kCall ||
         kind == StepKind::kAsyncStart;
}

bool MeetsOthers(StepKind kind) {
  return kind == StepKind::kCollective || kind == StepKind::kStart || kind == StepKind::kDone;
}

bool ExchangesMessages(Opcode opcode) {
  return opcode == Opcode::kSend || opcode == Opcode::kRecv || opcode == Opcode::kSendDone ||
         opcode == Opcode::kRecvDone;
}

class Planner {
 public:
  Planner(const Module& module, Fusion fusion, ModulePlan* plan)
      : module_(module), fusion_(fusion), plan_(plan), has_effect_(module.computations.size()) {}

  Status Run() {
    plan_->computations.resize(module_.computations.size());
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      HV_RETURN_IF_ERROR(PlanComputation(static_cast<ComputationIndex>(c)));
    }
    return {};
  }

 private:
  ComputationPlan& PlanOf(ComputationIndex c) {
    return plan_->computations[static_cast<size_t>(c)];
  }

  Status PlanComputation(ComputationIndex c) {
    ComputationPlan& plan = PlanOf(c);
    plan.computation = &module_.At(c);
    plan.index = c;
    const auto& instructions = plan.computation->instructions;
    plan.steps.resize(instructions.size());
    for (size_t i = 0; i < instructions.size(); ++i) {
      Step& step = plan.steps[i];
      step.instruction = &instructions[i];
      step.operands = instructions[i].operands;
      step.kind = KindOf(instructions[i].opcode);
      plan.can_wait |= MeetsOthers(step.kind) || CanWaitInside(step.kind, instructions[i]);
    }
    plan.data_flow = plan.can_wait && !module_.is_scheduled;
    SkipWhatNothingNeeds(&plan);
    if (fusion_ == Fusion::kElementwise) {
      if (c == module_.entry && plan_->mesh.devices() > 1) MarkAlike(&plan);
      FuseElementwise(module_, &plan);
      SkipWhatNothingNeeds(&plan);  // leaves that groups have taken in
      ComposeViews(&plan);
      PinConstants(&plan);
    }
    SettleSteps(&plan);
    AddCollectives(*plan.computation, module_, &groupings_, &plan, plan_);
    HV_RETURN_IF_ERROR(NumberSites(&plan));
    CountReads(&plan);
    if (plan.data_flow) LinkSuccessors(&plan);
    for (const Step& step : plan.steps) {
      plan.reads.push_back(step.reads);
      plan.waits_for.push_back(step.waits_for);
    }
    return {};
  }

  bool CanWaitInside(StepKind kind, const Instruction& instruction) {
    if (!RunsComputations(kind)) return false;
    for (ComputationIndex callee : CalledComputations(instruction)) {
      if (PlanOf(callee).can_wait) return true;
    }
    return kind == StepKind::kAsyncStart;
  }

  // A schedule runs every collective it lists; without one, what reaches neither the root nor an
  // effect does not run.
  bool MustRun(StepKind kind, const Instruction& instruction) {
    if (HasSideEffect(instruction) || ExchangesMessages(instruction.opcode)) return true;
    if (module_.is_scheduled && (MeetsOthers(kind) || CanWaitInside(kind, instruction))) return true;
    if (!RunsComputations(kind)) return false;
    for (ComputationIndex callee : CalledComputations(instruction)) {
      if (has_effect_[static_cast<size_t>(callee)]) return true;
    }
    return false;
  }

  void SkipWhatNothingNeeds(ComputationPlan* plan) {
    const Computation& computation = *plan->computation;
    std::vector<bool> needed(plan->steps.size());
    needed[static_cast<size_t>(computation.root)] = true;
    for (size_t i = plan->steps.size(); i-- > 0;) {
      const Instruction& instruction = computation.instructions[i];
      Step& step = plan->steps[i];
      if (MustRun(step.kind, instruction)) {
        needed[i] = true;
        has_effect_[static_cast<size_t>(plan->index)] = true;
      }
      if (!needed[i]) {
        step.kind = StepKind::kSkip;
        continue;
      }
      for (InstructionIndex o : plan->steps[i].operands) {
        needed[static_cast<size_t>(o)] = true;
      }
      for (InstructionIndex o : instruction.ControlPredecessors()) {
        needed[static_cast<size_t>(o)] = true;
      }
    }
  }

  // Steps of ENTRY, which every device runs once, whose value follows from constants and positions.
  static void MarkAlike(ComputationPlan* plan) {
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      Step& step = plan->steps[i];
      const Instruction& instruction = plan->computation->instructions[i];
      const KernelKind kernel = Definition(instruction).kernel;
      const bool is_function = step.kind == StepKind::kLocal && kernel != KernelKind::kHidden &&
                               kernel != KernelKind::kRefused && !HasSideEffect(instruction) &&
                               instruction.opcode != Opcode::kReplicaId &&
                               instruction.opcode != Opcode::kPartitionId;
      step.alike = (is_function || step.kind == StepKind::kConstant) &&
                   std::all_of(instruction.operands.begin(), instruction.operands.end(),
                               [plan](InstructionIndex o) {
                                 return plan->steps[static_cast<size_t>(o)].alike;
                               });
    }
  }

  // Constants that no one observes need no steps: frames keep them from run to run.
  static void PinConstants(ComputationPlan* plan) {
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      const Instruction& instruction = plan->computation->instructions[i];
      Step& step = plan->steps[i];
      if (step.kind != StepKind::kConstant || instruction.literal->elided ||
          !instruction.ControlPredecessors().empty()) {
        continue;
      }
      step.kind = StepKind::kPinned;
      plan->pinned.push_back(static_cast<InstructionIndex>(i));
    }
  }

  // What steps look up in their instructions each time they run.
  void SettleSteps(ComputationPlan* plan) {
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      Step& step = plan->steps[i];
      if (step.kind == StepKind::kSkip || step.kind == StepKind::kPinned) continue;
      plan->order.push_back(static_cast<InstructionIndex>(i));
      const Instruction& instruction = plan->computation->instructions[i];
      if (step.kind == StepKind::kElement) {
        step.part = static_cast<int32_t>(instruction.Int(Attr::kIndex, 0));
      }
      if (step.kind == StepKind::kWhile) {
        step.callees[0] = instruction.Computation(Attr::kCondition);
        step.callees[1] = instruction.Computation(Attr::kBody);
        CountTurns(&step, plan);
      }
      if (step.kind == StepKind::kCall) {
        const bool is_call = instruction.opcode == Opcode::kCall;
        step.callees[0] = instruction.Computation(is_call ? Attr::kToApply : Attr::kCalls);
      }
    }
  }

  // A loop that a counter ends turns that often without its condition, if nobody observes that.
  void CountTurns(Step* loop, ComputationPlan* plan) {
    const ComputationIndex condition = loop->callees[0];
    const bool is_silent =
        !PlanOf(condition).can_wait && !has_effect_[static_cast<size_t>(condition)];
    if (fusion_ == Fusion::kNone || !is_silent) return;
    const std::optional<LoopCounter> counter = CounterOf(module_, *loop->instruction);
    if (!counter) return;
    loop->program = static_cast<int32_t>(plan->counters.size());
    plan->counters.push_back(*counter);
  }

  // Own collectives first (AddCollectives numbered them), then every callee's sites in turn.
  Status NumberSites(ComputationPlan* plan) {
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      if (!RunsComputations(plan->steps[i].kind)) continue;
      plan->steps[i].site = plan->sites;
      for (ComputationIndex callee : CalledComputations(plan->computation->instructions[i])) {
        plan->sites += PlanOf(callee).sites;
        if (plan->sites > (uint64_t{1} << 62)) {
          return Unsupported("too-many-call-sites",
                             "the calls of this module nest to more than 2^62 collectives");
        }
      }
    }
    return {};
  }

  void CountReads(ComputationPlan* plan) {
    const Computation& computation = *plan->computation;
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      if (plan->steps[i].kind == StepKind::kSkip) continue;
      for (InstructionIndex o : plan->steps[i].operands) {
        ++plan->steps[static_cast<size_t>(o)].reads;
      }
    }
    ++plan->steps[static_cast<size_t>(computation.root)].reads;
    MarkTakes(plan);
  }

  // A get-tuple-element may take its part out of a tuple that it alone reads there.
  static void MarkTakes(ComputationPlan* plan) {
    const Computation& computation = *plan->computation;
    std::vector<bool> only_parts(plan->steps.size(), true);
    only_parts[static_cast<size_t>(computation.root)] = false;
    std::vector<std::pair<InstructionIndex, int64_t>> parts;  // (tuple, index), one per reader
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      const StepKind kind = plan->steps[i].kind;
      if (kind == StepKind::kSkip) continue;
      const Instruction& instruction = computation.instructions[i];
      if (kind == StepKind::kElement) {
        parts.emplace_back(instruction.operands[0], instruction.Int(Attr::kIndex, 0));
        continue;
      }
      for (InstructionIndex o : plan->steps[i].operands) {
        only_parts[static_cast<size_t>(o)] = false;
      }
    }
    std::sort(parts.begin(), parts.end());
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      if (plan->steps[i].kind != StepKind::kElement) continue;
      const Instruction& instruction = computation.instructions[i];
      const auto range = std::equal_range(
          parts.begin(), parts.end(),
          std::pair(instruction.operands[0], instruction.Int(Attr::kIndex, 0)));
      plan->steps[i].take = only_parts[static_cast<size_t>(instruction.operands[0])] &&
                            range.second - range.first == 1;
    }
  }

  static void LinkSuccessors(ComputationPlan* plan) {
    const Computation& computation = *plan->computation;
    const auto runs = [plan](InstructionIndex i) {
      const StepKind kind = plan->steps[static_cast<size_t>(i)].kind;
      return kind != StepKind::kSkip && kind != StepKind::kPinned;
    };
    std::vector<std::vector<InstructionIndex>> successors(plan->steps.size());
    for (size_t i = 0; i < plan->steps.size(); ++i) {
      Step& step = plan->steps[i];
      if (!runs(static_cast<InstructionIndex>(i))) continue;
      const auto wait_for = [&](std::span<const InstructionIndex> predecessors) {
        for (InstructionIndex p : predecessors) {
          if (!runs(p)) continue;
          successors[static_cast<size_t>(p)].push_back(static_cast<InstructionIndex>(i));
          ++step.waits_for;
        }
      };
      wait_for(plan->steps[i].operands);
      wait_for(computation.instructions[i].ControlPredecessors());
      if (step.waits_for == 0) plan->first_ready.push_back(static_cast<InstructionIndex>(i));
    }
    plan->successor_begin.push_back(0);
    for (const std::vector<InstructionIndex>& list : successors) {
      plan->successors.insert(plan->successors.end(), list.begin(), list.end());
      plan->successor_begin.push_back(static_cast<int32_t>(plan->successors.size()));
    }
  }

  const Module& module_;
  const Fusion fusion_;
  ModulePlan* plan_;
  GroupingTable groupings_{plan_->mesh};
  std::vector<bool> has_effect_;
};

uint64_t HashShape(uint64_t hash, const Shape& shape) {
  hash = Mix(hash, static_cast<uint64_t>(shape.type));
  for (int64_t dim : shape.dims) hash = Mix(hash, static_cast<uint64_t>(dim));
  for (const Shape* element : shape.elements) hash = HashShape(hash, *element);
  return hash;
}

uint64_t Fingerprint(const Module& module) {
  uint64_t hash = Mix(module.computations.size(), module.is_scheduled ? 1 : 0);
  for (const Computation& computation : module.computations) {
    hash = Mix(hash, static_cast<uint64_t>(computation.root));
    for (const Instruction& instruction : computation.instructions) {
      hash = HashShape(Mix(hash, static_cast<uint64_t>(instruction.opcode)), *instruction.shape);
      for (InstructionIndex o : instruction.operands) hash = Mix(hash, static_cast<uint64_t>(o));
      if (instruction.literal != nullptr) hash = HashBytes(hash, instruction.literal->bytes);
    }
  }
  return hash;
}

}  // namespace

Result<ModulePlan> MakePlan(const Module& module, const Mesh& mesh, Fusion fusion) {
  ModulePlan plan;
  plan.module = &module;
  plan.mesh = mesh;
  plan.fingerprint = Mix(Fingerprint(module), static_cast<uint64_t>(mesh.devices()));
  HV_RETURN_IF_ERROR(Planner(module, fusion, &plan).Run());
  return plan;
}

}  // namespace hv
