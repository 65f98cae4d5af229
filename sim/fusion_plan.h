// Groups the elementwise steps of a computation into single loops.
#pragma once

#include "sim/plan.h"

namespace hv {

// Groups grow from a last instruction over those that only members read, so that nothing but the
// last value leaves a group. The last step of each becomes kFused, the others kSkip. Broadcasts and
// iota that groups take in are left to whoever else reads them. A conversion to a wider float that
// only a sum reads is left to the sum (kHandOn). For runs in native values that no one observes;
// steps that nothing needs must be kSkip before.
void FuseElementwise(const Module& module, ComputationPlan* plan);

}  // namespace hv
