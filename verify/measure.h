// Both modules of a case timed on this engine, across all ranks: what the rewrite saves here, beside what
// a machine's model says it saves there.
#pragma once

#include "sim/transport.h"
#include "verify/examine.h"
#include "verify/scenario.h"

namespace hv {

// Collective: every rank passes the same case. Runs before and after in turns on the same random input;
// each counts with the median of its rounds, a round with its slowest rank. What cannot be timed (a side
// that does not run to its end here) becomes a note. If the time of the case ends, what was measured
// until then counts.
void MeasureCase(const Scenario& scenario, Examined* examined, Transport* transport);

}  // namespace hv
