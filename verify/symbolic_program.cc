#include "verify/symbolic_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "eval/scalar_op.h"
#include "verify/symbolic_key.h"

namespace hv {
namespace {

// The precision in which an operation on floats works: its result's, or the widest operand's.
ElementType WorkingType(const Shape& result, std::span<const ElementType> types) {
  ElementType type = result.type;
  if (IsFloat(type)) return type;
  for (const ElementType t : types) {
    if (IsFloat(t) && (!IsFloat(type) || BitWidth(t) > BitWidth(type))) type = t;
  }
  return type;
}

// x / c as x times the rounded 1 / c, as compilers do.
std::optional<Term> TimesReciprocal(Algebra* algebra, ElementType type,
                                    const std::vector<Term>& arguments) {
  if (!IsFloat(type) || !Algebra::IsConstant(arguments[1])) return std::nullopt;
  double c = 0;
  std::memcpy(&c, arguments[1].node->bytes.data(), sizeof c);
  const double one = 1;
  std::byte narrow[3][16];
  const auto to_type = ScalarOp::Convert(ElementType::kF64, type);
  const auto divide = ScalarOp::Make(ScalarFn::kDivide, type);
  if (c == 0 || !std::isfinite(c) || !to_type || !divide) return std::nullopt;
  const std::byte* in = reinterpret_cast<const std::byte*>(&one);
  to_type->Run({&in, 1}, narrow[0], 1);
  in = reinterpret_cast<const std::byte*>(&c);
  to_type->Run({&in, 1}, narrow[1], 1);
  const std::byte* both[] = {narrow[0], narrow[1]};
  divide->Run(both, narrow[2], 1);
  Term reciprocal = algebra->Constant(type, {narrow[2], static_cast<size_t>(HostBytes(type))});
  return algebra->Scalar(ScalarFn::kMultiply, type, {arguments[0], std::move(reciprocal)});
}

class Program {
 public:
  Program(Algebra* algebra, const Module& module) : algebra_(algebra), module_(module) {}

  using Terms = std::vector<Term>;  // leaves of one instruction's value
  using Maybe = std::optional<Terms>;

  Maybe Call(ComputationIndex index, const std::vector<Terms>& arguments) {
    const Computation& computation = module_.At(index);
    std::vector<Terms> values(computation.instructions.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      if (instruction.opcode == Opcode::kParameter) {
        values[i] = arguments[static_cast<size_t>(instruction.parameter_number)];
        continue;
      }
      std::vector<Terms> operands;
      for (InstructionIndex o : instruction.operands) {
        operands.push_back(values[static_cast<size_t>(o)]);
      }
      Maybe value = Evaluate(computation, instruction, operands);
      if (!value) return std::nullopt;
      values[i] = std::move(*value);
    }
    return values[static_cast<size_t>(computation.root)];
  }

 private:
  Maybe Evaluate(const Computation& computation, const Instruction& instruction,
                 const std::vector<Terms>& operands) {
    switch (instruction.opcode) {
      case Opcode::kConstant:
        if (!instruction.shape->IsScalar() || instruction.literal->elided) return std::nullopt;
        return Terms{algebra_->Constant(instruction.shape->type, instruction.literal->bytes)};
      case Opcode::kGetTupleElement:
        return Terms{operands[0][static_cast<size_t>(instruction.Int(Attr::kIndex, 0))]};
      case Opcode::kTuple: {
        Terms all;
        for (const Terms& o : operands) all.insert(all.end(), o.begin(), o.end());
        return all;
      }
      case Opcode::kCall:
      case Opcode::kMap:
        return Call(instruction.Computation(Attr::kToApply), operands);
      case Opcode::kFusion:
        return Call(instruction.Computation(Attr::kCalls), operands);
      default:
        break;
    }
    const KernelKind kind = Definition(instruction).kernel;
    if (!instruction.shape->IsScalar()) return std::nullopt;
    std::vector<ElementType> types;
    for (InstructionIndex o : instruction.operands) types.push_back(computation.At(o).shape->type);
    if ((kind == KernelKind::kAlias || kind == KernelKind::kView) && operands.size() == 1 &&
        types[0] == instruction.shape->type) {
      return operands[0];
    }
    const bool casts = kind == KernelKind::kView && operands.size() == 1;  // a bitcast
    if (kind != KernelKind::kScalar && !casts) return std::nullopt;
    Terms arguments;
    for (const Terms& o : operands) arguments.push_back(o[0]);
    auto term =
        ApplyInstruction(algebra_, instruction, *instruction.shape, types, std::move(arguments));
    if (!term) return std::nullopt;
    return Terms{std::move(*term)};
  }

  Algebra* algebra_;
  const Module& module_;
};

// Bits read twice are read once, and not at all if there and back; from one integer type to
// another of its width they are the convert.
std::optional<Term> ReadAs(Algebra* algebra, ElementType type, const Term& x) {
  if (x.node->kind == NodeKind::kApply && x.node->fn == ScalarFn::kBitcastConvert) {
    Term first = NodeTable::Child(x, 0);
    const std::string back = "from " + std::string(ToString(type));
    if (algebra->AttributesOf(x.node->aux) == back) return first;
    return algebra->Scalar(x.node->aux, type, {std::move(first)});
  }
  const auto is_integer = [](ElementType t) { return IsInteger(t) && !IsPred(t); };
  if (!is_integer(type) || !is_integer(x.node->type)) return std::nullopt;
  return algebra->Scalar(ScalarFn::kConvert, type, {x});
}

}  // namespace

std::optional<Term> ApplyInstruction(Algebra* algebra, const Instruction& instruction,
                                     const Shape& result, std::span<const ElementType> types,
                                     std::vector<Term> arguments) {
  const ScalarFn fn = Definition(instruction).scalar;
  if (fn == ScalarFn::kNone) return std::nullopt;
  if (fn == ScalarFn::kBitcastConvert) {
    if (BitWidth(types[0]) != BitWidth(result.type)) return std::nullopt;
    if (auto term = ReadAs(algebra, result.type, arguments[0])) return term;
  }
  const ElementType working = WorkingType(result, types);
  if (fn != ScalarFn::kConvert && fn != ScalarFn::kBitcastConvert && types.size() > 1) {
    for (size_t i = 0; i < types.size(); ++i) {
      if (!IsFloat(types[i]) || types[i] == working || !IsFloat(working)) continue;
      arguments[i] = algebra->Scalar(ScalarFn::kConvert, working, {std::move(arguments[i])});
    }
  }
  if (fn == ScalarFn::kDivide && algebra->strictness() >= Strictness::kRoundedConstant) {
    if (auto term = TimesReciprocal(algebra, result.type, arguments)) return term;
  }
  std::string attributes = ScalarAttributes(instruction, types.empty() ? result.type : types[0]);
  // Another accuracy, other bits: over the reals it is the same function.
  const Attribute* accuracy = instruction.Find(Attr::kResultAccuracy);
  if (accuracy != nullptr && !algebra->IsReal()) attributes += accuracy->text;
  // A type without a sign: what negation makes there is no negative number.
  const bool negates = fn == ScalarFn::kNegate || fn == ScalarFn::kSubtract;
  if (negates && result.type == ElementType::kF8E8M0FNU) attributes = "without sign";
  const int64_t function =
      algebra->Function(fn, attributes, attributes.empty() ? nullptr : &instruction);
  return algebra->Scalar(function, result.type, std::move(arguments));
}

std::optional<std::vector<Term>> ApplyComputation(Algebra* algebra, const Module& module,
                                                  ComputationIndex computation,
                                                  std::vector<Term> arguments) {
  std::vector<std::vector<Term>> leaves;
  for (Term& argument : arguments) leaves.push_back({std::move(argument)});
  return Program(algebra, module).Call(computation, leaves);
}

}  // namespace hv
