// --reduction-order=mpi: what the MPI library makes of a reduction between ranks. Members of one rank
// are folded in group order first. Narrow floats, complex numbers, logical operations and reducers
// nobody recognises keep the group order: the library has no operation for them.
#pragma once

#include <string>
#include <vector>

#include "sim/agreement.h"
#include "sim/device.h"
#include "sim/mesh.h"

namespace hv {

// The same answer on every rank that takes part.
bool ReducedByLibrary(const RunContext& context, const Placement& placement,
                      const Meeting& meeting);

// Reductions of the module that keep the group order all the same, in words; for the user who asked.
std::vector<std::string> KeptInGroupOrder(const Module& module, const Transport& transport);

// `folded`, an operand reduced over the members of this rank, reduced over the ranks. Every rank with
// a member calls it, operand by operand.
Value ReduceByLibrary(const RunContext& context, const Placement& placement, const Meeting& meeting,
                      const Value& folded);

}  // namespace hv
