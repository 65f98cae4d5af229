// Pairs of modules whose loops cannot be unrolled, by induction: the loops of both are paired in
// order, and for each pair a relation between the states is looked for that holds at the start, is
// kept by iterations and tells what both leave behind. Loops inside loops are treated alike.
#pragma once

#include <optional>

#include "verify/prover.h"

namespace hv {

// A proof, or nothing.
std::optional<ProofResult> ProveByInduction(const Module& before, const Module& after,
                                            const Mesh& mesh, const ProofOptions& options);

}  // namespace hv
