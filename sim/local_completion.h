// Completes collectives whose members are all on this rank: every result is made straight from the
// members' operands, or is one of them.
#pragma once

#include "sim/fetch.h"

namespace hv {

// Are all members here, with nothing to find out from their operands first?
bool CompletesLocally(const RunContext& context, const Fetcher& fetcher, const Meeting& meeting);

// Hands every member its result. A domain that cannot make one fails the members.
void CompleteLocally(RunContext* context, const Fetcher& fetcher, const Meeting& meeting);

}  // namespace hv
