// Pairs of modules with a loop each that cannot be unrolled, by induction: a relation between the
// states of both loops that holds at the start, is kept by an iteration and gives equal outputs.
// Relations are found by trying templates, leaf by leaf of the state.
#pragma once

#include <optional>

#include "verify/prover.h"

namespace hv {

// A proof, or nothing. Each ENTRY holds one while; other loops must have trip counts that are
// known.
std::optional<ProofResult> ProveByInduction(const Module& before, const Module& after,
                                            const Mesh& mesh, const ProofOptions& options);

}  // namespace hv
