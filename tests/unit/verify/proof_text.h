// Proofs of pairs given as text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hlo/parser.h"
#include "hlo/validator.h"
#include "verify/prover.h"

namespace hv {

// Both texts hold computations and an ENTRY, without the module's header.
inline ProofResult ProveText(const std::string& before, const std::string& after,
                             Mesh mesh = {1, 2}, const ProofOptions& options = {}) {
  const std::string header = "HloModule m, replica_count=" + std::to_string(mesh.replicas) +
                             ", num_partitions=" + std::to_string(mesh.partitions) + "\n\n";
  auto a = ParseModule("before", header + before), b = ParseModule("after", header + after);
  EXPECT_TRUE(a.has_value()) << FormatError(a.error());
  EXPECT_TRUE(b.has_value()) << FormatError(b.error());
  if (!a || !b) return {};
  for (const Module* module : {&*a, &*b}) {
    const Status valid = Validate(*module);
    EXPECT_TRUE(valid.has_value()) << FormatError(valid.error());
  }
  return ProvePair(*a, *b, mesh, options);
}

inline bool IsProved(const ProofResult& result) { return result.outcome == ProofOutcome::kProved; }

}  // namespace hv
