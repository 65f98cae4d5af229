// When sums of powers of distinct codes decide that two linear forms are the same, and what that
// means for the types the modules compute in.
// Source: exact inputs as an error-correcting code (Newton, Vandermonde).
#pragma once

#include <cstdint>
#include <optional>

#include "verify/arithmetic_facts.h"
#include "verify/decide.h"

namespace hv {

// How many sums, of powers 0, 1, ..., decide for forms of gross weight at most `weight` over
// `leaves` inputs; nothing if the programs are no linear forms with small integer weights. `both`:
// the facts of both modules.
std::optional<int64_t> PowerSumsNeeded(const ArithmeticFacts& both, double weight, int64_t leaves);

// What equality of the forms over the integers proves; nothing if that is less than a verdict can
// use. At `reassociation`, signs that cancel are the caller's to exclude.
std::optional<Proof> ProofOfEqualForms(const ArithmeticFacts& before, const ArithmeticFacts& after);

}  // namespace hv
