// Interprets the computation once over arrays instead of once per element.
#include "eval/elementwise_call.h"

#include <string>
#include <utility>

#include "eval/move.h"

namespace hv {
namespace {

class Interpreter {
 public:
  Interpreter(Domain& domain, const Module& module, std::span<const int64_t> dims)
      : domain_(domain), module_(module), dims_(dims) {}

  using Values = std::vector<Value>;  // the leaves of one instruction's value

  Result<Values> Call(ComputationIndex index, const std::vector<Values>& arguments) {
    const Computation& computation = module_.At(index);
    std::vector<Values> values(computation.instructions.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      if (instruction.opcode == Opcode::kParameter) {
        values[i] = arguments[static_cast<size_t>(instruction.parameter_number)];
        continue;
      }
      std::vector<Values> operands;
      for (const InstructionIndex o : instruction.operands) {
        operands.push_back(values[static_cast<size_t>(o)]);
      }
      HV_ASSIGN(values[i], Apply(computation, instruction, operands));
    }
    return values[static_cast<size_t>(computation.root)];
  }

 private:
  Result<Values> Apply(const Computation& computation, const Instruction& instruction,
                       const std::vector<Values>& operands) {
    switch (instruction.opcode) {
      case Opcode::kConstant: {
        HV_ASSIGN(const Value scalar, domain_.Constant(*instruction.literal));
        return Values{Spread(scalar, Lifted(*instruction.shape))};
      }
      case Opcode::kGetTupleElement:
        return Values{operands[0][static_cast<size_t>(instruction.Int(Attr::kIndex, 0))]};
      case Opcode::kCall:
      case Opcode::kMap:
        return Call(instruction.Computation(Attr::kToApply), operands);
      case Opcode::kFusion:
        return Call(instruction.Computation(Attr::kCalls), operands);
      default:
        break;
    }
    const KernelKind kind = Definition(instruction).kernel;
    const bool view = kind == KernelKind::kView && operands.size() == 1;
    const bool same_type =
        view && operands[0][0].shape()->type == instruction.shape->type;  // not so of a bitcast
    if (kind == KernelKind::kAlias || (same_type && instruction.shape->IsScalar())) {
      Values all;
      for (const Values& o : operands) all.insert(all.end(), o.begin(), o.end());
      return all;
    }
    const bool scalar = kind == KernelKind::kScalar || (view && !same_type);
    if (!scalar || !instruction.shape->IsScalar()) {
      return Unsupported("unsupported-op", std::string(ToString(instruction.opcode)) +
                                               " inside a scalar computation");
    }
    Values scalars;
    for (const Values& o : operands) scalars.push_back(o[0]);
    const KernelCall call{module_, computation, instruction, Lifted(*instruction.shape)};
    HV_ASSIGN(Value result, domain_.Scalar(call, std::move(scalars)));
    return Values{std::move(result)};
  }

  const Shape* Lifted(const Shape& scalar) const {
    return module_.context->shapes.Array(scalar.type, dims_);
  }

  Domain& domain_;
  const Module& module_;
  std::span<const int64_t> dims_;
};

}  // namespace

Result<std::vector<Value>> CallElementwise(Domain& domain, const Module& module,
                                           ComputationIndex computation,
                                           std::span<const int64_t> dims,
                                           std::vector<Value> arguments) {
  const Computation& body = module.At(computation);
  std::vector<std::vector<Value>> leaves;
  for (size_t i = 0; i < arguments.size(); ++i) {
    // Rounding on the way in is nothing that every domain knows.
    if (body.At(body.parameters[i]).shape->type != arguments[i].shape()->type) {
      return Unsupported("unsupported-op", "a computation over other types than its operands");
    }
    leaves.push_back({std::move(arguments[i])});
  }
  return Interpreter(domain, module, dims).Call(computation, leaves);
}

Value Spread(const Value& scalar, const Shape* shape) {
  Value result = NewLike(scalar, shape);
  Piece all;
  if (shape->element_count > 1) all.digits.push_back({shape->element_count, 0, 1});
  if (shape->element_count > 0) {
    CopyPiece(all, scalar.bytes().data(), result.MutableBytes().data(), scalar.element_bytes());
  }
  return result;
}

}  // namespace hv
