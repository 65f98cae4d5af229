// Pairs handed to the product, and what it says held against the truth found by running.
#pragma once

#include <string>

#include "tests/fuzz/brute_force.h"
#include "tests/fuzz/random_pair.h"
#include "verify/verify.h"

namespace hv {

struct PairTexts {
  std::string before, after;
  Mesh mesh;
};

// The product's report on the pair, in one process.
CaseReport VerifyTexts(const PairTexts& pair);

enum class PairKind : uint8_t { kEquivalent, kSpoilt };

// What is wrong with the verdict, in words; empty if nothing is. `*truth` (if not null) says what
// running showed.
std::string FaultOf(const PairTexts& pair, PairKind kind, const CaseReport& report, Truth* truth);

}  // namespace hv
