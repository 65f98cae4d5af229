// From "the modules differ" to the smallest input that shows it: the leaves that matter are found
// by delta debugging, then the simplest values on them are tried natively.
#pragma once

#include <optional>

#include "verify/exact_runs.h"
#include "verify/native_runs.h"

namespace hv {

// A native input on which the modules certainly differ, and where.
struct Refutation {
  NativeInput input;
  NativeDifference difference;
};

// Starting from a difference of codes: few leaves that cause it, with simple values. Nothing if no
// native run shows it. `like`: seed and control parameters; `wrong`: summands that are known to be
// wrong.
std::optional<Refutation> RefuteByCodes(const InputSpace& space, ExactRuns* exact,
                                        const NativeRuns& native, const NativeInput& like,
                                        const std::vector<WrongSummand>& wrong);

// Starting from a native input with a certain difference: the same with fewer leaves and simpler
// values, as far as that is possible.
Refutation Reduce(const InputSpace& space, const NativeRuns& native, Refutation refutation);

// "device 0,5 misses the contribution of device 0,3": what a single unit at one leaf shows. Empty
// if the outputs are no counts.
std::string ExplainUnit(const InputSpace& space, const Refutation& refutation);

}  // namespace hv
