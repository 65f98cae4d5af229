// Kernels of the native domain, one per kernel kind or op; native_domain.cc dispatches to them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "eval/domain.h"

namespace hv {

std::unique_ptr<PreparedKernel> PrepareNative(const KernelCall& call);
Result<Value> NativeScalar(const KernelCall& call, std::vector<Value> operands);
Result<Value> NativeStochasticConvert(const KernelCall& call, const std::vector<Value>& operands);
// `wide`: sums of floats in f64, rounded once; else one by one in their own type.
Result<Value> NativeReduce(const KernelCall& call, std::vector<Value> operands, bool wide);
Result<Value> NativeFold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                         bool accumulate_wide);
Result<Value> NativeMap(const KernelCall& call, std::vector<Value> operands);
Result<Value> NativeScatter(const KernelCall& call, std::vector<Value> operands);
Result<Value> NativeWindow(const KernelCall& call, std::vector<Value> operands);
Result<Value> NativeContract(const KernelCall& call, std::vector<Value> operands);
Result<Value> NativeOpaque(const KernelCall& call, std::vector<Value> operands);

// Is it a custom call that only annotates its operand, or computes nothing? NativeOpaque then takes
// operands of any domain.
bool IsAnnotation(const Instruction& instruction);

// kUnsupported, naming the instruction's op.
tl::unexpected<Error> NotImplemented(const KernelCall& call, std::string_view why = {});

// Shapes of an instruction's results: the elements of a tuple shape, or the shape alone.
std::span<const Shape* const> ResultShapes(const KernelCall& call);
// One value, or the tuple of them, as `call.shape` says.
Value PackResults(const KernelCall& call, std::vector<Value> results);

// Element types of a reducer's first `count` parameters.
std::vector<ElementType> ParameterTypes(const Module& module, ComputationIndex computation,
                                        size_t count);

}  // namespace hv
