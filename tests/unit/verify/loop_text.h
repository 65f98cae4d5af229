// Proofs of pairs whose loops may not be run.
#pragma once

#include <string>

#include "proof_text.h"
#include "tests/unit/changed_text.h"

namespace hv {

inline ProofResult ProveLoops(const std::string& before, const std::string& after) {
  ProofOptions options;
  options.most_loop_steps = 1;
  return ProveText(before, after, {1, 2}, options);
}

inline constexpr char kSum[] = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
)";

}  // namespace hv
