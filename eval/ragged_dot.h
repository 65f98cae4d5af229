// ragged-dot and scaled-dot of native values. Source: hlo_ops 3.14.
#pragma once

#include <vector>

#include "eval/native_kernels.h"

namespace hv {

Result<Value> NativeRaggedDot(const KernelCall& call, const std::vector<Value>& operands);
Result<Value> NativeScaledDot(const KernelCall& call, const std::vector<Value>& operands);

}  // namespace hv
