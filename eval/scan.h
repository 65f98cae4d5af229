// scan: a computation along one dimension that hands carries on, in any domain. Source:
// hlo_ops 3.10.
#pragma once

#include <vector>

#include "eval/domain.h"

namespace hv {

Result<Value> EvaluateScan(Domain& domain, const KernelCall& call, std::vector<Value> operands,
                           int64_t replica, int64_t partition);

}  // namespace hv
