#include "verify/arithmetic_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "verify/element_text.h"

namespace hv {
namespace {

bool IsReal(ElementType type) { return IsFloat(type) || IsComplex(type); }

// Width of the narrowest float among `types`; huge if there is none.
int NarrowestOf(const std::set<ElementType>& types) {
  int bits = std::numeric_limits<int>::max();
  for (ElementType type : types) {
    if (IsReal(type)) bits = std::min(bits, BitWidth(ComponentType(type)));
  }
  return bits;
}

std::set<ElementType> OfWidth(const std::set<ElementType>& types, int bits) {
  std::set<ElementType> narrow;
  for (ElementType type : types) {
    if (IsReal(type) && BitWidth(ComponentType(type)) == bits) narrow.insert(ComponentType(type));
  }
  return narrow;
}

// Which of the two sets of types is narrower at its narrowest; "" if they are the same there.
std::string Compare(const std::set<ElementType>& before, const std::set<ElementType>& after) {
  const int old_bits = NarrowestOf(before), new_bits = NarrowestOf(after);
  if (new_bits != old_bits) return new_bits > old_bits ? "wider" : "narrower";
  return OfWidth(before, old_bits) == OfWidth(after, new_bits) ? "" : "mixed";
}

template <class T>
void Add(const std::set<T>& from, std::set<T>* to) {
  to->insert(from.begin(), from.end());
}

}  // namespace

bool ArithmeticFacts::OnlyIntegers() const {
  return std::all_of(types.begin(), types.end(),
                     [](ElementType type) { return IsInteger(type) || IsPred(type); });
}

bool ArithmeticFacts::OnlyFloats() const { return std::all_of(types.begin(), types.end(), IsReal); }

bool ArithmeticFacts::IsLattice() const {
  const bool arithmetic = adds || negative || scales || constants || converts || parity;
  return lattice.size() == 1 && types.size() == 1 && other.empty() && !arithmetic && !among_data &&
         !elided;
}

void ArithmeticFacts::Merge(const ArithmeticFacts& more) {
  adds |= more.adds;
  negative |= more.negative;
  scales |= more.scales;
  constants |= more.constants;
  among_data |= more.among_data;
  moved_constants |= more.moved_constants;
  fractions |= more.fractions;
  converts |= more.converts;
  signed_zeros |= more.signed_zeros;
  concrete_floats |= more.concrete_floats;
  elided |= more.elided;
  parity |= more.parity;
  Add(more.lattice, &lattice);
  Add(more.other, &other);
  Add(more.types, &types);
  Add(more.sum_types, &sum_types);
  Add(more.held, &held);
  Add(more.roundings, &roundings);
  elements += more.elements;
  largest = std::max(largest, more.largest);
}

Numbers NumbersOf(const Value& value) {
  if (IsComplex(value.shape()->type)) return {false, true, false, false};
  Numbers numbers;
  for (int64_t i = 0; i < value.element_count(); ++i) {
    const double number = ElementReal(value, i);
    numbers.integers &= number == std::floor(number) && std::fabs(number) <= 0x1p53;
    numbers.negative |= number < 0;
    numbers.zeros &= number == 0;
    numbers.units &= std::fabs(number) == 1;
  }
  return numbers;
}

void NoteMoved(const Value& value, ArithmeticFacts* facts) {
  if (!value.IsNative()) return;
  facts->among_data = true;
  const ElementType type = value.shape()->type;
  const Numbers numbers = NumbersOf(value);
  facts->moved_constants |= !numbers.zeros;
  facts->fractions |= !numbers.integers;
  if (!IsReal(type)) return;
  for (int64_t i = 0; i < value.element_count() && !facts->signed_zeros; ++i) {
    const double number = ElementReal(value, i);
    facts->signed_zeros = std::isnan(number) || (number == 0 && std::signbit(number));
  }
}

void NoteHeld(ElementType type, ArithmeticFacts* facts) {
  if (IsReal(type)) facts->held.insert(ComponentType(type));
}

std::string PrecisionChange(const ArithmeticFacts& before, const ArithmeticFacts& after) {
  if (before.sum_types != after.sum_types && !before.sum_types.empty() &&
      !after.sum_types.empty()) {
    const std::string sums = Compare(before.sum_types, after.sum_types);
    return sums.empty() ? "mixed" : sums;
  }
  if (const std::string held = Compare(before.held, after.held); !held.empty()) return held;
  const auto& x = before.roundings;
  const auto& y = after.roundings;
  if (x == y) return "";
  if (std::includes(y.begin(), y.end(), x.begin(), x.end())) return "narrower";
  return std::includes(x.begin(), x.end(), y.begin(), y.end()) ? "wider" : "mixed";
}

}  // namespace hv
