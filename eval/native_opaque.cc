// Ops with an evaluator of their own: one function each, chosen here. Source: hlo_ops 3.10 to 3.22.
#include "eval/native_opaque.h"

#include <utility>

namespace hv {
namespace {

// Sizes of dimensions are static here: shapes with dynamic ones are refused where they differ.
Result<Value> GetDimensionSize(const KernelCall& call, const Value& operand) {
  const int64_t d = call.instruction.Ints(Attr::kDimensions)[0];
  Value result = Value::NewNative(call.shape);
  result.MutableAs<int32_t>()[0] =
      static_cast<int32_t>(operand.shape()->dims[static_cast<size_t>(d)]);
  return result;
}

}  // namespace

Result<Value> KeepSizes(const KernelCall& call, std::span<const Value> sizes,
                        std::span<const int64_t> expected, const Value& operand) {
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (IntegersOf(sizes[k])[0] == expected[k]) continue;
    return NotImplemented(call, "a size that differs from its bound");
  }
  return operand.WithShape(call.shape);
}

Result<Value> NativeOpaque(const KernelCall& call, std::vector<Value> operands) {
  const std::span<const Value> rest = std::span(operands).subspan(operands.empty() ? 0 : 1);
  switch (call.instruction.opcode) {
    case Opcode::kGetDimensionSize:
      return GetDimensionSize(call, operands[0]);
    case Opcode::kSetDimensionSize: {
      const int64_t d = call.instruction.Ints(Attr::kDimensions)[0];
      return KeepSizes(call, rest, call.shape->dims.subspan(static_cast<size_t>(d), 1),
                       operands[0]);
    }
    case Opcode::kDynamicReshape:
      return KeepSizes(call, rest, call.shape->dims, operands[0]);
    case Opcode::kCustomCall:
      return NativeCustomCall(call, std::move(operands));
    case Opcode::kSort:
      return NativeSort(call, operands);
    case Opcode::kTopk:
      return NativeTopK(call, operands[0], call.instruction.Int(Attr::kLargest, 1) != 0);
    case Opcode::kFft:
      return NativeFft(call, operands[0]);
    case Opcode::kCholesky:
      return NativeCholesky(call, operands[0]);
    case Opcode::kTriangularSolve:
      return NativeTriangularSolve(call, operands[0], operands[1]);
    case Opcode::kRngBitGenerator:
      return NativeRngBitGenerator(call, operands[0]);
    case Opcode::kBatchNormTraining:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormGrad:
      return NativeBatchNorm(call, operands);
    default:
      return NotImplemented(call);
  }
}

}  // namespace hv
