// Proofs that follow the difference of two modules rather than their size: values are numbered, and
// where the numbers of both modules part, the region in between is proved as a pair of its own.
#pragma once

#include <functional>
#include <optional>

#include "verify/prover.h"

namespace hv {

// Proves a pair by running it on terms.
using ProveWhole = std::function<ProofResult(const Module& before, const Module& after,
                                             const ProofOptions& options)>;

// kProved, or what is left open: kNotProved with a suspect. Nothing if the modules cannot be
// numbered or may wait in ways that differ by device: run them as a whole. `work`: instructions x
// devices of both.
std::optional<ProofResult> ProveByRegions(const Module& before, const Module& after,
                                          const Mesh& mesh, const ProofOptions& options,
                                          const ProveWhole& prove, int64_t* work);

}  // namespace hv
