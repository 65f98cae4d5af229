#include "verify/symbolic_range.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "verify/symbolic_node.h"

namespace hv {
namespace {

using Wide = __int128;

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
constexpr int64_t kLargestPower = 8;

// The interval if no value of it wraps in the type, else all of the type.
IntegerRange Fit(ElementType type, Wide low, Wide high) {
  const IntegerRange all = RangeOfType(type);
  if (!all.known() && (low < 0 || high > kHighest)) return all;  // u64
  if (all.known() && (low < all.low || high > all.high)) return all;
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

// `bits` as a number of the type: what is kept mod 2^w has one nearest to zero.
int64_t SignedValue(int64_t bits, int width) {
  if (width >= 64) return bits;
  const uint64_t top = uint64_t{1} << (width - 1);
  const uint64_t low = static_cast<uint64_t>(bits) & ((top << 1) - 1);
  return static_cast<int64_t>(low ^ top) - static_cast<int64_t>(top);
}

IntegerRange OfConstant(const Node& node) {
  uint64_t bits = 0;
  std::memcpy(&bits, node.bytes.data(), std::min<size_t>(node.bytes.size(), sizeof bits));
  const int width = BitWidth(node.type);
  if (IsPred(node.type)) bits = bits != 0 ? 1 : 0;
  int64_t value = static_cast<int64_t>(bits);
  if (IsSigned(node.type)) {
    value = SignedValue(value, width);
  } else if (width < 64) {
    value = static_cast<int64_t>(bits & ((uint64_t{1} << width) - 1));
  } else if (value < 0) {
    return {};
  }
  return {value, value};
}

// Coefficients are mod 2^w, so each may be read as the number nearest to zero.
IntegerRange OfSum(const Node& node) {
  Wide low = 0, high = 0;
  constexpr Wide kLimit = Wide{1} << 100;
  for (const Edge& e : node.edges) {
    const IntegerRange part = e.node->range;
    if (!part.known()) return RangeOfType(node.type);
    const Wide c = SignedValue(e.count, BitWidth(node.type));
    const Wide a = c * part.low, b = c * part.high;
    low += std::min(a, b);
    high += std::max(a, b);
    if (low < -kLimit || high > kLimit) return RangeOfType(node.type);
  }
  return Fit(node.type, low, high);
}

IntegerRange OfProduct(const Node& node) {
  Wide low = 1, high = 1;
  for (const Edge& e : node.edges) {
    const IntegerRange part = e.node->range;
    if (!part.known() || e.count < 0 || e.count > kLargestPower) return RangeOfType(node.type);
    for (int64_t k = 0; k < e.count; ++k) {
      const Wide ends[] = {low * part.low, low * part.high, high * part.low, high * part.high};
      low = *std::min_element(ends, ends + 4);
      high = *std::max_element(ends, ends + 4);
      if (low < kLowest || high > kHighest) return RangeOfType(node.type);
    }
  }
  return Fit(node.type, low, high);
}

// The largest (or smallest) of values one of which is known bounds the result on one side.
IntegerRange OfExtremum(const Node& node, bool largest) {
  IntegerRange result = RangeOfType(node.type);
  const bool unbounded = !result.known();  // u64
  if (unbounded) result = {0, kHighest};
  bool all = true, any = false;
  Wide low = largest ? Wide{kLowest} : Wide{kHighest}, high = low;
  for (const Edge& e : node.edges) {
    const IntegerRange part = e.node->range;
    all = all && part.known();
    any = any || part.known();
    if (!part.known()) continue;
    low = largest ? std::max<Wide>(low, part.low) : std::min<Wide>(low, part.low);
    high = largest ? std::max<Wide>(high, part.high) : std::min<Wide>(high, part.high);
  }
  if (all) return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
  if (!unbounded || !any) return RangeOfType(node.type);
  return largest ? IntegerRange{} : IntegerRange{0, static_cast<int64_t>(high)};
}

// x and c lies in [0, c] if c is not negative.
IntegerRange OfAnd(const Node& node) {
  IntegerRange result = RangeOfType(node.type);
  for (const Edge& e : node.edges) {
    const IntegerRange part = e.node->range;
    if (!part.known() || part.low < 0) continue;
    const int64_t high = result.known() ? std::min(result.high, part.high) : part.high;
    result = {0, high};
  }
  return result;
}

IntegerRange OfApply(const Node& node) {
  const IntegerRange all = RangeOfType(node.type);
  const auto part = [&](size_t e) { return node.edges[e].node->range; };
  switch (node.fn) {
    case ScalarFn::kConvert:
      return part(0).known() ? Fit(node.type, part(0).low, part(0).high) : all;
    case ScalarFn::kSelect:
      if (!part(1).known() || !part(2).known()) return all;
      return {std::min(part(1).low, part(2).low), std::max(part(1).high, part(2).high)};
    case ScalarFn::kRemainder: {  // the sign of the dividend
      if (!part(1).known() || part(1).low <= 0) return all;
      if (!part(0).known()) return {0, part(1).high - 1};  // u64
      const int64_t most = part(1).high - 1;
      return {part(0).low < 0 ? std::max(-most, part(0).low) : 0,
              part(0).high > 0 ? std::min(most, part(0).high) : 0};
    }
    case ScalarFn::kDivide:
      if (!part(0).known() || !part(1).known() || !part(1).IsPoint() || part(1).low <= 0) {
        return all;
      }
      return {part(0).low / part(1).low, part(0).high / part(1).low};
    default:
      return all;
  }
}

IntegerRange OfBound(const Node& node) {
  const IntegerRange body = node.edges[0].node->range;
  if (!body.known()) return RangeOfType(node.type);
  switch (node.fn) {
    case ScalarFn::kMaximum:
    case ScalarFn::kMinimum:
      return body;
    case ScalarFn::kAdd: {
      Wide times = 1;
      for (const int64_t e : node.extents) {
        times *= e;
        if (times > kHighest) return RangeOfType(node.type);
      }
      return Fit(node.type, times * body.low, times * body.high);
    }
    default:
      return RangeOfType(node.type);
  }
}

}  // namespace

IntegerRange RangeOfType(ElementType type) {
  if (IsPred(type)) return {0, 1};
  if (!IsInteger(type)) return {};
  const int width = BitWidth(type);
  if (IsSigned(type)) {
    const int64_t low = width == 64 ? kLowest : -(int64_t{1} << (width - 1));
    return {low, -(low + 1)};
  }
  return width == 64 ? IntegerRange{} : IntegerRange{0, (int64_t{1} << width) - 1};
}

IntegerRange RangeOf(const Node& node) {
  if (!IsInteger(node.type) && !IsPred(node.type)) return {};
  if (IsPred(node.type) && node.kind != NodeKind::kConstant) return RangeOfType(node.type);
  switch (node.kind) {
    case NodeKind::kConstant:
      return OfConstant(node);
    case NodeKind::kApply:
      return OfApply(node);
    case NodeKind::kBound:
      return OfBound(node);
    case NodeKind::kMulti:
      break;
    default:
      return RangeOfType(node.type);
  }
  switch (node.fn) {
    case ScalarFn::kAdd:
      return OfSum(node);
    case ScalarFn::kMultiply:
      return OfProduct(node);
    case ScalarFn::kMaximum:
      return OfExtremum(node, true);
    case ScalarFn::kMinimum:
      return OfExtremum(node, false);
    case ScalarFn::kAnd:
      return OfAnd(node);
    default:
      return RangeOfType(node.type);
  }
}

}  // namespace hv
