// From a failure on a mesh to the same failure on fewer devices. Parts of the mesh are tried in the
// order of their size. Where a part is closed, its devices do just what they did; elsewhere groups
// lose members and sizes follow, and the failure must begin at the same instructions. Passes are
// run anew on the smaller module, so that whatever they break there is their doing.
#pragma once

#include "verify/examine.h"
#include "verify/scenario.h"

namespace hv {

// Sets report.smaller and smaller of a case that is REFUTED, INCONSISTENT or a DEADLOCK, or adds a
// note that says why there is none.
void MinimizeTopology(const Scenario& scenario, Examined* examined);

// A pair too large to be run that differs in a value of `suspect`: if that device and all that it
// depends on are few enough, they are run by themselves. What they compute is what they compute in
// the whole, so that a difference of theirs refutes the pair.
void RefuteOnClosedPart(const Scenario& scenario, const Pair& pair, DeviceId suspect,
                        Examined* examined);

// The scenario that verifies a smaller failure.
Scenario SmallerScenario(const Scenario& scenario, const SmallerFailure& failure);

}  // namespace hv
