// --reduction-order=mpi: what the MPI library makes of a reduction between ranks. Members of one rank
// are folded in group order first. Narrow floats, complex numbers, logical operations and reducers
// nobody recognises keep the group order: the library has no operation for them.
#pragma once

#include <vector>

#include "sim/agreement.h"
#include "sim/fetch.h"

namespace hv {

// The same answer on every rank that takes part.
bool ReducedByLibrary(const RunContext& context, const Placement& placement,
                      const Meeting& meeting);

// The reduced whole operands, one per operand. Every rank with a member calls it.
Result<std::vector<Value>> ReduceByLibrary(RunContext* context, const Placement& placement,
                                           const Fetcher& fetcher, size_t number,
                                           const Meeting& meeting);

}  // namespace hv
