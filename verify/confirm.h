// The last word before REFUTED is printed: the counterexample run natively across all ranks.
#pragma once

#include "sim/transport.h"
#include "verify/examine.h"
#include "verify/scenario.h"

namespace hv {

// Collective: every rank passes the same case, which has a refutation. Both modules must give, at
// the place of the difference, the values that they gave in one process; anything else is a broken
// invariant of ours, since the reduction order does not depend on ranks. If the time of the case
// ends first, it stays undecided.
void ConfirmRefutation(const Scenario& scenario, Examined* examined, Transport* transport);

}  // namespace hv
