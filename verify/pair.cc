#include "verify/pair.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "sim/memory_limit.h"
#include "verify/element_text.h"

namespace hv {
namespace {

bool SameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool SameElement(const Value& a, const Value& b, int64_t i) {
  const auto bits = [&](const Value& v) { return v.bytes().data() + i * v.element_bytes(); };
  if (std::memcmp(bits(a), bits(b), static_cast<size_t>(a.element_bytes())) == 0) return true;
  const ElementType type = a.shape()->type;
  if (IsFloat(type)) return SameNumber(ElementReal(a, i), ElementReal(b, i));
  if (!IsComplex(type)) return false;
  Literal x, y;
  x.shape = y.shape = a.shape();
  x.bytes = a.bytes();
  y.bytes = b.bytes();
  const auto p = ComplexAt(x, i), q = ComplexAt(y, i);
  return SameNumber(p.real(), q.real()) && SameNumber(p.imag(), q.imag());
}

// Looks through one leaf; place->element is where it was found.
bool FindInLeaf(const Value& a, const Value& b, const DifferenceFilter& filter,
                OutputPlace* place) {
  HV_CHECK(a.IsNative() && b.IsNative() && SameShape(*a.shape(), *b.shape()),
           "outputs that cannot be compared");
  if (std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0) return false;
  for (int64_t i = 0; i < a.element_count(); ++i) {
    if (SameElement(a, b, i)) continue;
    place->element = i;
    if (filter == nullptr || filter(*place)) return true;
  }
  return false;
}

}  // namespace

int64_t MemoryLimit(const Pair& pair) {
  static const int64_t of_machine = DefaultMemoryLimit();  // asked once
  return pair.memory_limit_bytes > 0 ? pair.memory_limit_bytes : of_machine;
}

std::optional<OutputPlace> FirstNativeDifference(const Outputs& before, const Outputs& after,
                                                 const DifferenceFilter& filter) {
  HV_CHECK(before.size() == after.size(), "outputs of different devices");
  for (const auto& [device, value] : before) {
    const std::vector<Value> x = Leaves(value), y = Leaves(after.at(device));
    HV_CHECK(x.size() == y.size(), "results with different leaves");
    for (size_t leaf = 0; leaf < x.size(); ++leaf) {
      OutputPlace place{device, static_cast<int64_t>(leaf), 0};
      if (FindInLeaf(x[leaf], y[leaf], filter, &place)) return place;
    }
  }
  return std::nullopt;
}

std::string TextAt(const Outputs& outputs, const OutputPlace& place) {
  const std::vector<Value> leaves = Leaves(outputs.at(place.device));
  return ElementText(leaves[static_cast<size_t>(place.output)], place.element);
}

}  // namespace hv
