// Where a wrong result begins: the first instruction of the module after, in topological order,
// whose value on some device occurs nowhere in the module before although all its operands' values
// do.
#pragma once

#include <string>

#include "verify/counterexample.h"

namespace hv {

struct Divergence {
  std::string before, after;  // instructions as printed; empty if there is none to name
  std::string clamp;          // "the start 8 of slice is clamped to 6": after, on the wrong device
};

Divergence FindDivergence(const Pair& pair, const NativeRuns& native, const Refutation& refutation);

}  // namespace hv
