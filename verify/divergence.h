// Where a wrong result begins: the first instruction of the module after, in topological order,
// whose value on some device occurs nowhere in the module before although all its operands' values
// do.
#pragma once

#include <string>

#include "verify/native_runs.h"

namespace hv {

struct Divergence {
  std::string before, after;  // instructions as printed; empty if there is none to name
};

Divergence FindDivergence(const Pair& pair, const NativeRuns& native, const NativeInput& input);

}  // namespace hv
