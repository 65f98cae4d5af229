#include "verify/code_outputs.h"

#include <algorithm>

namespace hv {
namespace {

// Constants folded in other types count as the numbers they are.
std::optional<int64_t> FirstDifferentElement(const CodeDomain& domain, const Value& x,
                                             const Value& y) {
  const ElementType type = x.shape()->type;
  if (x.IsNative() && y.IsNative() && SameBits(x, y)) return std::nullopt;
  const bool bits = x.IsNative() && y.IsNative() && (IsInteger(type) || IsPred(type));
  const Value a = bits ? x : domain.Finish(x), b = bits ? y : domain.Finish(y);
  const auto at = std::mismatch(a.bytes().begin(), a.bytes().end(), b.bytes().begin()).first;
  if (at == a.bytes().end()) return std::nullopt;
  return (at - a.bytes().begin()) / a.element_bytes();
}

}  // namespace

std::optional<OutputPlace> FirstCodeDifference(const CodeDomain& domain, const Outputs& before,
                                               const Outputs& after) {
  for (const auto& [device, value] : before) {
    const std::vector<Value> x = Leaves(value), y = Leaves(after.at(device));
    for (size_t leaf = 0; leaf < x.size(); ++leaf) {
      const auto element = FirstDifferentElement(domain, x[leaf], y[leaf]);
      if (element) return OutputPlace{device, static_cast<int64_t>(leaf), *element};
    }
  }
  return std::nullopt;
}

}  // namespace hv
