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
  bool adds = false;          // sums of data
  bool negative = false;      // subtraction, negation, factors of -1, negative summands
  bool scales = false;        // multiplication or division by concrete values other than 1 and -1
  bool constants = false;     // sums with concrete values other than 0
  bool fractions = false;     // concrete factors or summands that are not integers
  bool converts = false;      // float to float, reduce-precision, sums in a wider type
  bool signed_zeros = false;  // concrete -0 or NaN moved along, which codes do not tell from 0
  bool parity = false;        // xor of data
  std::set<std::string> lattice;  // maximum, minimum, and, or of data: idempotent
  std::set<std::string> other;    // functions that are none of the above
  // Element types of data that takes part in arithmetic, and those that sums are taken in.
  std::set<ElementType> types, sum_types;
  int64_t elements = 0;  // results computed, a measure of the run's cost
  double largest = 0;    // of the codes of a magnitude run

  bool IsLinear() const { return lattice.empty() && !parity && other.empty(); }
  // Data is only moved, or its sign changed.
  bool IsMovement() const {
    return IsLinear() && !adds && !scales && !negative && !constants && !converts;
  }
  bool OnlyIntegers() const;  // no float or complex data takes part in arithmetic
  void Merge(const ArithmeticFacts& more);
};

// Forwards to `inner`, collecting into `facts`; both must outlive it.
std::unique_ptr<Domain> MakeProbeDomain(Domain* inner, ArithmeticFacts* facts);

}  // namespace hv
