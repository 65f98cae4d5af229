// Runs a computation on one device in any domain, nested calls and loops included. For computations
// without collectives: bodies of scan, tests. The simulator has frames of its own.
#pragma once

#include <vector>

#include "base/result.h"
#include "eval/domain.h"

namespace hv {

struct PureDevice {
  int64_t replica = 0, partition = 0;
};

// kUnsupported, naming the op, for collectives and for predicates that have no concrete value.
Result<Value> CallPure(Domain& domain, const Module& module, ComputationIndex computation,
                       std::vector<Value> arguments, PureDevice device = {});

}  // namespace hv
