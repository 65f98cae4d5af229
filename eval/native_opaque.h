// Ops with an evaluator of their own, on native values: one function per op.
#pragma once

#include <vector>

#include "eval/native_kernels.h"

namespace hv {

Result<Value> NativeSort(const KernelCall& call, const std::vector<Value>& operands);
// Values and s32 indices of the k largest (or smallest) of the last dimension.
Result<Value> NativeTopK(const KernelCall& call, const Value& operand, bool largest);
Result<Value> NativeFft(const KernelCall& call, const Value& operand);
Result<Value> NativeCholesky(const KernelCall& call, const Value& operand);
Result<Value> NativeTriangularSolve(const KernelCall& call, const Value& a, const Value& b);
Result<Value> NativeRngBitGenerator(const KernelCall& call, const Value& state);
Result<Value> NativeBatchNorm(const KernelCall& call, const std::vector<Value>& operands);
Result<Value> NativeCustomCall(const KernelCall& call, std::vector<Value> operands);
// `operand` under the instruction's shape, if the run-time sizes are the static ones.
Result<Value> KeepSizes(const KernelCall& call, std::span<const Value> sizes,
                        std::span<const int64_t> expected, const Value& operand);

}  // namespace hv
