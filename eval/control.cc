// Evaluates on demand, natively, following operands, calls and loops; tuples are followed by
// element, so data in one element hides no control in another.
#include "eval/control.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "eval/branches.h"
#include "eval/domain.h"
#include "hlo/op.h"

namespace hv {
namespace {

// A value known in part: a leaf, or a tuple of such.
struct Partial {
  ControlValue leaf;
  std::vector<Partial> elements;
  const Shape* tuple = nullptr;  // null: a leaf

  bool IsKnown() const { return tuple == nullptr && !leaf.value.empty(); }
};

Partial Unknown(std::string_view depends_on) {
  return {{{}, std::string(depends_on)}, {}, nullptr};
}

Partial FromValue(Value value) {
  Partial p;
  if (!value.shape()->IsTuple()) {
    p.leaf.value = std::move(value);
    return p;
  }
  p.tuple = value.shape();
  for (const Value& element : value.elements()) p.elements.push_back(FromValue(element));
  return p;
}

// The whole value if all of it is known, else what the first unknown leaf depends on.
ControlValue Whole(const Partial& partial) {
  if (partial.tuple == nullptr) return partial.leaf;
  std::vector<Value> elements;
  for (const Partial& element : partial.elements) {
    ControlValue whole = Whole(element);
    if (whole.value.empty()) return whole;
    elements.push_back(std::move(whole.value));
  }
  return {Value::Tuple(partial.tuple, std::move(elements)), {}};
}

// Constants are large where they are tables by device: one copy serves all devices.
using Constants = std::unordered_map<const Instruction*, Partial>;

// One computation on one device, called with arguments some of which are control.
class Frame {
 public:
  Frame(Constants* constants, const Module& module, ComputationIndex computation,
        ReplicaId replica, PartitionId partition, std::vector<Partial> arguments, int depth)
      : constants_(constants),
        module_(module),
        computation_(module.At(computation)),
        replica_(replica),
        partition_(partition),
        arguments_(std::move(arguments)),
        depth_(depth) {}

  // Iterative over operands (chains may be long), recursive over calls only.
  const Partial& Evaluate(InstructionIndex wanted) {
    std::vector<InstructionIndex> stack = {wanted};
    while (!stack.empty()) {
      const InstructionIndex top = stack.back();
      if (memo_.count(top) != 0) {
        stack.pop_back();
      } else if (!PushMissing(computation_.At(top), &stack)) {
        memo_.emplace(top, Compute(computation_.At(top)));
        stack.pop_back();
      }
    }
    return memo_.at(wanted);
  }

  const ControlValue& EvaluateWhole(InstructionIndex wanted) {
    const auto found = whole_.find(wanted);
    if (found != whole_.end()) return found->second;
    return whole_.emplace(wanted, Whole(Evaluate(wanted))).first->second;
  }

 private:
  static constexpr int kMaxDepth = 64;
  static constexpr int64_t kMaxSteps = 65536;       // iterations of a loop that are followed
  static constexpr int64_t kMaxElements = 1 << 20;  // larger arrays are data, not control

  // Pushes the operands that still have no value; false if there are none.
  bool PushMissing(const Instruction& instruction, std::vector<InstructionIndex>* stack) const {
    if (!MayBeControl(instruction)) return false;
    const size_t before = stack->size();
    for (const InstructionIndex o : instruction.operands) {
      if (memo_.count(o) == 0) stack->push_back(o);
    }
    return stack->size() != before;
  }

  static bool MayBeControl(const Instruction& instruction) {
    if (instruction.opcode == Opcode::kParameter || HasSideEffect(instruction)) return false;
    switch (Definition(instruction).kernel) {
      case KernelKind::kCollective:
      case KernelKind::kDone:
      case KernelKind::kHidden:
      case KernelKind::kRefused:
        return false;
      default:
        return instruction.shape->element_count <= kMaxElements;
    }
  }

  Partial Compute(const Instruction& instruction) {
    if (instruction.opcode == Opcode::kParameter) {
      const auto number = static_cast<size_t>(instruction.parameter_number);
      return number < arguments_.size() ? arguments_[number] : Unknown("parameter");
    }
    if (!MayBeControl(instruction)) return Unknown(ToString(instruction.opcode));
    if (instruction.opcode == Opcode::kConstant) return Constant(instruction);
    std::vector<Partial> operands;
    for (const InstructionIndex o : instruction.operands) operands.push_back(memo_.at(o));
    switch (instruction.opcode) {
      case Opcode::kTuple:
        return {{}, std::move(operands), instruction.shape};
      case Opcode::kGetTupleElement:
        if (operands[0].tuple == nullptr) return operands[0];
        return operands[0].elements[static_cast<size_t>(instruction.Int(Attr::kIndex, 0))];
      case Opcode::kCall:
        return Call(instruction.Computation(Attr::kToApply), std::move(operands));
      case Opcode::kFusion:
        return Call(instruction.Computation(Attr::kCalls), std::move(operands));
      case Opcode::kConditional:
        return Conditional(instruction, operands);
      case Opcode::kWhile:
        return While(instruction, std::move(operands[0]));
      default:
        return Apply(instruction, operands);
    }
  }

  Partial Constant(const Instruction& instruction) {
    const auto known = constants_->find(&instruction);
    if (known != constants_->end()) return known->second;
    return constants_->emplace(&instruction, Apply(instruction, {})).first->second;
  }

  Partial Call(ComputationIndex callee, std::vector<Partial> arguments) {
    if (depth_ >= kMaxDepth) return Unknown("call");
    Frame frame(constants_, module_, callee, replica_, partition_, std::move(arguments), depth_ + 1);
    return frame.Evaluate(module_.At(callee).root);
  }

  Partial Conditional(const Instruction& instruction, const std::vector<Partial>& operands) {
    if (!operands[0].IsKnown()) return operands[0];
    const std::vector<ComputationIndex> branches = BranchesOf(instruction);
    const size_t k = SelectedBranch(operands[0].leaf.value, branches.size());
    return Call(branches[k], {operands[k + 1]});
  }

  Partial While(const Instruction& instruction, Partial state) {
    for (int64_t step = 0; step < kMaxSteps; ++step) {
      const Partial go = Call(instruction.Computation(Attr::kCondition), {state});
      if (!go.IsKnown()) return go;
      if (go.leaf.value.As<uint8_t>()[0] == 0) return state;
      state = Call(instruction.Computation(Attr::kBody), {std::move(state)});
    }
    return Unknown("while");
  }

  Partial Apply(const Instruction& instruction, const std::vector<Partial>& operands) {
    if (Definition(instruction).kernel == KernelKind::kAlias && instruction.shape->IsTuple() &&
        operands.size() == 1) {
      return operands[0];
    }
    std::vector<Value> values;
    for (const Partial& o : operands) {
      ControlValue whole = Whole(o);
      if (whole.value.empty()) return {std::move(whole), {}, nullptr};
      values.push_back(std::move(whole.value));
    }
    const KernelCall call{module_, computation_, instruction, instruction.shape};
    Result<Value> result =
        EvaluateInstruction(Native(), call, std::move(values), replica_.value, partition_.value);
    return result ? FromValue(std::move(*result)) : Unknown(ToString(instruction.opcode));
  }

  static Domain& Native() {
    static const std::unique_ptr<Domain> domain = MakeNativeDomain();
    return *domain;
  }

  Constants* constants_;
  const Module& module_;
  const Computation& computation_;
  ReplicaId replica_;
  PartitionId partition_;
  std::vector<Partial> arguments_;
  int depth_;
  std::unordered_map<InstructionIndex, Partial> memo_;
  std::unordered_map<InstructionIndex, ControlValue> whole_;
};

}  // namespace

struct ControlEvaluator::Devices {
  Constants constants;
  std::unordered_map<uint64_t, Frame> frames;
};

ControlEvaluator::ControlEvaluator(const Module& module, ComputationIndex computation)
    : module_(module), computation_(computation), devices_(std::make_unique<Devices>()) {}

ControlEvaluator::~ControlEvaluator() = default;

const ControlValue& ControlEvaluator::Evaluate(InstructionIndex instruction, ReplicaId replica,
                                               PartitionId partition) {
  const uint64_t device =
      static_cast<uint64_t>(replica.value) << 32 | static_cast<uint64_t>(partition.value);
  auto found = devices_->frames.find(device);
  if (found == devices_->frames.end()) {
    Frame frame(&devices_->constants, module_, computation_, replica, partition, {}, 0);
    found = devices_->frames.emplace(device, std::move(frame)).first;
  }
  return found->second.EvaluateWhole(instruction);
}

}  // namespace hv
