// Groups the elementwise steps of a computation into single loops.
#pragma once

#include "sim/plan.h"

namespace hv {

// Groups grow from a last instruction over those that only members read, so that nothing but the
// last value leaves a group. The last step of each becomes kFused, the others kSkip. Broadcasts and
// iota that groups take in are left to whoever else reads them. For runs in native values that no
// one observes; steps that nothing needs must be kSkip before.
void FuseElementwise(ComputationPlan* plan);

}  // namespace hv
