// What a run did to data, seen from outside: a domain that forwards to another one and notes which
// functions meet values that depend on inputs, in which types. Concrete control does not count. The
// side conditions of proofs by exact runs are read off these facts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "eval/domain.h"
#include "hlo/element_type.h"

namespace hv {

struct ArithmeticFacts {
  // Everything done to data, by kind.
  bool adds = false;            // sums of data
  bool signed_weights = false;  // subtraction, negation, factors that are not natural numbers
  bool scales = false;          // multiplication of data by concrete factors other than 0 and 1
  bool constants = false;       // sums with concrete values other than 0
  bool converts = false;        // float to float, reduce-precision, sums in a wider type
  std::set<std::string> lattice;   // maximum, minimum, and, or of data: idempotent
  bool parity = false;          // xor of data
  std::set<std::string> other;  // functions that are none of the above
  // Element types of data that takes part in arithmetic, and those that sums are taken in.
  std::set<ElementType> types, sum_types;

  bool IsMovement() const {
    return !adds && !scales && !signed_weights && !constants && !converts && lattice.empty() &&
           !parity && other.empty();
  }
  bool IsLinear() const { return lattice.empty() && !parity && other.empty(); }
  void Merge(const ArithmeticFacts& more);
};

// Forwards to `inner`, collecting into `facts`; both must outlive it.
std::unique_ptr<Domain> MakeProbeDomain(Domain* inner, ArithmeticFacts* facts);

}  // namespace hv
