// Instructions in text order; regions by recursion.
#include "eval/pure_call.h"

#include <string>
#include <utility>

#include "eval/branches.h"
#include "eval/native_kernels.h"

namespace hv {
namespace {

constexpr int kMaxDepth = 256;

class PureCaller {
 public:
  PureCaller(Domain& domain, const Module& module, PureDevice device)
      : domain_(domain), module_(module), device_(device) {}

  Result<Value> Call(ComputationIndex index, std::vector<Value> arguments) {
    const Computation& computation = module_.At(index);
    if (++depth_ > kMaxDepth) return Unsupported("unsupported-op", "calls nested too deeply");
    std::vector<Value> values;
    values.reserve(computation.instructions.size());
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == Opcode::kParameter) {
        values.push_back(arguments[static_cast<size_t>(instruction.parameter_number)]);
        continue;
      }
      std::vector<Value> operands;
      for (const InstructionIndex o : instruction.operands) {
        operands.push_back(values[static_cast<size_t>(o)]);
      }
      const KernelCall call{module_, computation, instruction, instruction.shape};
      HV_ASSIGN(Value value, Evaluate(call, std::move(operands)));
      values.push_back(std::move(value));
    }
    --depth_;
    return values[static_cast<size_t>(computation.root)];
  }

 private:
  Result<Value> Evaluate(const KernelCall& call, std::vector<Value> operands) {
    const Instruction& instruction = call.instruction;
    switch (instruction.opcode) {
      case Opcode::kCall:
        return Call(instruction.Computation(Attr::kToApply), std::move(operands));
      case Opcode::kFusion:
        return Call(instruction.Computation(Attr::kCalls), std::move(operands));
      case Opcode::kConditional: {
        HV_ASSIGN(const Value selector, Concrete(call, operands[0]));
        const std::vector<ComputationIndex> branches = BranchesOf(instruction);
        const size_t branch = SelectedBranch(selector, branches.size());
        return Call(branches[branch], {operands[branch + 1]});
      }
      case Opcode::kWhile:
        return While(call, std::move(operands[0]));
      default:
        return EvaluateInstruction(domain_, call, std::move(operands), device_.replica,
                                   device_.partition);
    }
  }

  Result<Value> While(const KernelCall& call, Value state) {
    while (true) {
      HV_ASSIGN(const Value condition,
                Call(call.instruction.Computation(Attr::kCondition), {state}));
      HV_ASSIGN(const Value go, Concrete(call, condition));
      if (go.As<uint8_t>()[0] == 0) return state;
      HV_ASSIGN(state, Call(call.instruction.Computation(Attr::kBody), {std::move(state)}));
    }
  }

  Result<Value> Concrete(const KernelCall& call, const Value& value) const {
    std::optional<Value> concrete = domain_.Concrete(value);
    if (!concrete) return NotImplemented(call, "data-dependent control");
    return *std::move(concrete);
  }

  Domain& domain_;
  const Module& module_;
  PureDevice device_;
  int depth_ = 0;
};

}  // namespace

Result<Value> CallPure(Domain& domain, const Module& module, ComputationIndex computation,
                       std::vector<Value> arguments, PureDevice device) {
  return PureCaller(domain, module, device).Call(computation, std::move(arguments));
}

}  // namespace hv
