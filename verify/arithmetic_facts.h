// What a run did to data: which functions met values that depend on inputs, in which types.
// Concrete control does not count. The side conditions of proofs by exact runs are read off these
// facts.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "eval/value.h"
#include "hlo/element_type.h"

namespace hv {

struct ArithmeticFacts {
  // Everything done to data, by kind.
  bool adds = false;        // sums of data
  bool negative = false;    // subtraction, negation, factors of -1, negative summands
  bool scales = false;      // multiplication or division by concrete values other than 1 and -1
  bool constants = false;   // sums with concrete values other than 0
  bool among_data = false;  // concrete values, zeros that fill gaps too, stand among data
  bool moved_constants = false;  // concrete values other than 0 moved along with data
  bool fractions = false;  // concrete factors, summands or moved values other than small integers
  bool converts = false;   // float to float, reduce-precision, sums in a wider type
  bool signed_zeros = false;      // concrete -0 or NaN moved along, which codes do not tell from 0
  bool concrete_floats = false;   // float arithmetic on concrete values alone
  bool elided = false;            // constants whose values are not known took part
  bool parity = false;            // xor of data
  std::set<std::string> lattice;  // maximum, minimum, and, or of data: idempotent
  std::set<std::string> other;    // functions that are none of the above
  // Element types of data that takes part in arithmetic, those that sums are taken in, and all
  // float types that data is held in.
  std::set<ElementType> types, sum_types, held;
  std::set<std::pair<int64_t, int64_t>> roundings;  // of reduce-precision: exponent, mantissa bits
  int64_t elements = 0;                             // results computed, a measure of the run's cost
  double largest = 0;                               // of the codes of a magnitude run

  bool IsLinear() const { return lattice.empty() && !parity && other.empty(); }
  // Data is moved and joined by one idempotent operation, in one type, and nothing else.
  bool IsLattice() const;
  // Data is only moved.
  bool IsMovement() const {
    return IsLinear() && !adds && !scales && !negative && !constants && !converts;
  }
  bool OnlyIntegers() const;  // no float or complex data takes part in arithmetic
  bool OnlyFloats() const;    // no other data does
  void Merge(const ArithmeticFacts& more);
};

// What concrete values are like.
struct Numbers {
  bool integers = true, negative = false, zeros = true, units = true;  // units: 1 and -1
};
Numbers NumbersOf(const Value& concrete);

// Notes a concrete value that stands among data; data itself is passed over.
void NoteMoved(const Value& value, ArithmeticFacts* facts);
void NoteHeld(ElementType type, ArithmeticFacts* facts);

// How precision differs between two modules that agree over the reals, by the narrowest types they
// add and keep data in: "wider", "narrower", "mixed", or "" if it does not.
std::string PrecisionChange(const ArithmeticFacts& before, const ArithmeticFacts& after);

}  // namespace hv
