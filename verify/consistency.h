// Replica consistency: devices that held identical bits before must hold identical bits after, or
// training runs drift apart. Judged at the outputs, on real numbers, under several reduction
// orders.
#pragma once

#include <cstdint>
#include <string>

#include "verify/native_runs.h"

namespace hv {

// Which devices drift apart, in words; empty if none do. Runs `trials` inputs at most, at least two:
// what agrees on one may do so by chance.
std::string FindDrift(const Pair& pair, const NativeRuns& native, uint64_t seed, int64_t trials);

}  // namespace hv
