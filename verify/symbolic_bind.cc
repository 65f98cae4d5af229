// Normal forms of reductions over digits: sums, products and sets over as many terms as the bound
// digits have values, however many that is.
#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "verify/symbolic_algebra.h"

namespace hv {
namespace {

bool Moves(const Term& term, size_t digit) {
  for (size_t s = 0; s < static_cast<size_t>(term.node->slots); ++s) {
    if (term.row(s)[digit + 1] != 0) return true;
  }
  return false;
}

bool MovesAny(const Term& term, size_t first, size_t last) {
  for (size_t d = first; d < last; ++d) {
    if (Moves(term, d)) return true;
  }
  return false;
}

bool Is(const Term& term, NodeKind kind, ScalarFn fn) {
  return term.node->kind == kind && term.node->fn == fn;
}

// Keeps the digits with keep[d], at 0 where dropped.
DigitMap KeepDigits(std::span<const int64_t> extents, const std::vector<bool>& keep) {
  DigitMap map;
  map.offset.assign(extents.size(), 0);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (keep[d]) map.columns.push_back({extents[d], static_cast<int>(d), 1});
  }
  return map;
}

Extents ExtentsOf(const DigitMap& map) {
  Extents extents;
  for (const DigitMap::Column& c : map.columns) extents.push_back(c.extent);
  return extents;
}

// Strides of one digit over all slots: what bound digits are ordered and fused by.
std::vector<int64_t> StridesOf(const Term& term, size_t digit) {
  std::vector<int64_t> strides;
  for (size_t s = 0; s < static_cast<size_t>(term.node->slots); ++s) {
    strides.push_back(term.row(s)[digit + 1]);
  }
  return strides;
}

struct BoundDigit {
  DigitMap::Column column;
  std::vector<int64_t> strides;
};

// Digits that run together as one: outer stride = inner stride x inner extent in every slot.
bool Fuses(const BoundDigit& outer, const BoundDigit& inner) {
  for (size_t s = 0; s < outer.strides.size(); ++s) {
    if (outer.strides[s] != inner.strides[s] * inner.column.extent) return false;
  }
  return true;
}

}  // namespace

Term Algebra::Repeat(ScalarFn fn, ElementType type, Term term, int64_t times) {
  if (times == 1 || IsIdempotent(fn)) return term;
  if (fn == ScalarFn::kAdd && HasRing(type)) times = RingOf(type).FromInteger(times);
  return Combine(fn, type, {{std::move(term), times}});
}

Term Algebra::Bind(ScalarFn fn, ElementType type, Term body, std::span<const int64_t> extents,
                   size_t bound, int rounds) {
  type = Canonical(type);
  if (IsPred(type)) {
    if (fn == ScalarFn::kAdd || fn == ScalarFn::kMaximum) fn = ScalarFn::kOr;
    if (fn == ScalarFn::kMultiply || fn == ScalarFn::kMinimum) fn = ScalarFn::kAnd;
  }
  Extents all(extents.begin(), extents.end());
  if (fn == ScalarFn::kAdd && HasRing(type)) {
    return BindSum(type, std::move(body), std::move(all), bound, rounds);
  }
  const bool flattens = IsIdempotent(fn) || fn == ScalarFn::kXor || HasRing(type) ||
                        strictness_ >= Strictness::kNestedSums;
  if (flattens && Is(body, NodeKind::kMulti, fn)) {
    Summands parts;
    for (size_t e = 0; e < body.node->edges.size(); ++e) {
      parts.push_back({Bind(fn, type, NodeTable::Child(body, e), extents, bound, rounds),
                       body.node->edges[e].count});
    }
    return Combine(fn, type, std::move(parts));
  }
  if (flattens && Is(body, NodeKind::kBound, fn)) {
    all.insert(all.end(), body.node->extents.begin(), body.node->extents.end());
    bound += body.node->extents.size();
    body = NodeTable::Child(body, 0);
  }
  return BindNode(fn, type, std::move(body), std::move(all), bound, rounds);
}

// A sum with coefficients is bound summand by summand.
Term Algebra::BindSum(ElementType type, Term body, Extents extents, size_t bound, int rounds) {
  if (IsExhausted()) {
    return BindNode(ScalarFn::kAdd, type, std::move(body), std::move(extents), bound, 0);
  }
  Summands parts;
  if (Is(body, NodeKind::kMulti, ScalarFn::kAdd)) {
    for (size_t e = 0; e < body.node->edges.size(); ++e) {
      parts.push_back({BindSum(type, NodeTable::Child(body, e), extents, bound, rounds),
                       body.node->edges[e].count});
    }
    return RingSum(type, std::move(parts));
  }
  if (Is(body, NodeKind::kMulti, ScalarFn::kMultiply)) {
    for (size_t e = 0; e < body.node->edges.size(); ++e) {
      parts.push_back({NodeTable::Child(body, e), body.node->edges[e].count});
    }
  } else {
    parts.push_back({std::move(body), 1});
  }
  return BindMonomial(type, std::move(parts), std::move(extents), bound, rounds);
}

// Sum over the bound digits of a product: sums inside that move with a bound digit give up their
// own digits; factors that share no bound digit are summed apart (distributive law).
Term Algebra::BindMonomial(ElementType type, Summands factors, Extents extents, size_t bound,
                           int rounds) {
  const size_t outer = extents.size() - bound;
  work_ += static_cast<int64_t>(factors.size() * extents.size());
  for (size_t i = 0; i < factors.size() && !IsExhausted(); ++i) {
    const Node* node = factors[i].term.node;
    if (factors[i].count != 1 || node->kind != NodeKind::kBound || node->fn != ScalarFn::kAdd ||
        !MovesAny(factors[i].term, outer, extents.size())) {
      continue;
    }
    DigitMap wider = KeepDigits(extents, std::vector<bool>(extents.size(), true));
    for (int64_t e : node->extents) wider.columns.push_back({e, -1, 0});
    for (size_t j = 0; j < factors.size(); ++j) {
      factors[j].term =
          j == i ? NodeTable::Child(factors[i].term, 0) : Substitute(factors[j].term, wider);
    }
    Term product = RingProduct(type, std::move(factors));
    const size_t more = bound + node->extents.size();
    return BindSum(type, std::move(product), ExtentsOf(wider), more, rounds);
  }
  // Group the bound digits by the factors that join them.
  std::vector<size_t> group(bound);
  std::iota(group.begin(), group.end(), size_t{0});
  for (const Summand& factor : factors) {
    size_t first = bound;
    for (size_t d = 0; d < bound; ++d) {
      if (!Moves(factor.term, outer + d)) continue;
      if (first == bound) first = group[d];
      const size_t old = group[d];
      std::replace(group.begin(), group.end(), old, first);
    }
  }
  int64_t times = 1;
  Summands apart;
  std::vector<bool> keep(extents.size(), false);
  std::fill_n(keep.begin(), outer, true);
  for (const Summand& factor : factors) {
    if (MovesAny(factor.term, outer, extents.size())) continue;
    apart.push_back({Substitute(factor.term, KeepDigits(extents, keep)), factor.count});
  }
  for (size_t g = 0; g < bound; ++g) {
    std::vector<bool> here = keep;
    size_t digits = 0;
    for (size_t d = 0; d < bound; ++d) {
      if (group[d] != g) continue;
      here[outer + d] = true;
      ++digits;
    }
    if (digits == 0) continue;
    const DigitMap map = KeepDigits(extents, here);
    Summands inside;
    for (const Summand& factor : factors) {
      bool joins = false;
      for (size_t d = 0; d < bound; ++d) joins |= group[d] == g && Moves(factor.term, outer + d);
      if (joins) inside.push_back({Substitute(factor.term, map), factor.count});
    }
    if (inside.empty()) {
      for (size_t d = 0; d < bound; ++d) times *= group[d] == g ? extents[outer + d] : 1;
      continue;
    }
    Term body = RingProduct(type, std::move(inside));
    apart.push_back(
        {BindNode(ScalarFn::kAdd, type, std::move(body), ExtentsOf(map), digits, rounds), 1});
  }
  return Repeat(ScalarFn::kAdd, type, RingProduct(type, std::move(apart)), times);
}

// Brings the bound digits into normal form: none without effect, first strides positive,
// descending, fused where they run together; then makes the node.
Term Algebra::BindNode(ScalarFn fn, ElementType type, Term body, Extents extents, size_t bound,
                       int rounds) {
  const size_t outer = extents.size() - bound;
  DigitMap map;
  map.offset.assign(extents.size(), 0);
  for (size_t d = 0; d < outer; ++d) map.columns.push_back({extents[d], static_cast<int>(d), 1});
  int64_t times = 1;
  std::vector<BoundDigit> digits;
  for (size_t d = outer; d < extents.size(); ++d) {
    BoundDigit digit{{extents[d], static_cast<int>(d), 1}, StridesOf(body, d)};
    const auto moves =
        std::find_if(digit.strides.begin(), digit.strides.end(), [](int64_t s) { return s != 0; });
    if (moves == digit.strides.end() || extents[d] == 1) {
      times *= extents[d];
      continue;
    }
    if (*moves < 0) {  // run it backwards
      map.offset[d] = extents[d] - 1;
      digit.column.step = -1;
      for (int64_t& s : digit.strides) s = -s;
    }
    digits.push_back(std::move(digit));
  }
  std::stable_sort(digits.begin(), digits.end(),
                   [](const BoundDigit& a, const BoundDigit& b) { return a.strides > b.strides; });
  bool fused = false;
  for (size_t d = 0; d + 1 < digits.size() && !fused; ++d) fused = Fuses(digits[d], digits[d + 1]);
  for (const BoundDigit& digit : digits) map.columns.push_back(digit.column);
  if (map != KeepDigits(extents, std::vector<bool>(extents.size(), true)) && rounds > 0) {
    Term moved = Substitute(body, map);
    moved = Bind(fn, type, std::move(moved), ExtentsOf(map), digits.size(), rounds - 1);
    return Repeat(fn, type, std::move(moved), times);
  }
  if (bound == 0) return body;
  if (body.node->slots == 0) {
    for (size_t d = outer; d < extents.size(); ++d) body = Repeat(fn, type, body, extents[d]);
    return body;
  }
  if (fused && rounds > 0) return FuseBound(fn, type, body, extents, bound, rounds - 1);
  return nodes_.Bind(fn, type, body, std::span<const int64_t>(extents).subspan(outer));
}

// Two neighbouring bound digits that run together become one; a view of the fused digit has the
// inner stride.
Term Algebra::FuseBound(ScalarFn fn, ElementType type, const Term& body, const Extents& extents,
                        size_t bound, int rounds) {
  const size_t outer = extents.size() - bound;
  Extents narrower(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(outer));
  std::vector<size_t> kept;  // digits whose strides stay
  for (size_t d = outer; d < extents.size(); ++d) {
    BoundDigit digit{{extents[d], static_cast<int>(d), 1}, StridesOf(body, d)};
    if (!kept.empty()) {
      const BoundDigit before{{narrower.back(), 0, 1}, StridesOf(body, kept.back())};
      if (Fuses(before, digit)) {
        narrower.back() *= extents[d];
        kept.back() = d;
        continue;
      }
    }
    narrower.push_back(extents[d]);
    kept.push_back(d);
  }
  Term fused{body.node, {}};
  for (size_t s = 0; s < static_cast<size_t>(body.node->slots); ++s) {
    const auto row = body.row(s);
    fused.views.insert(fused.views.end(), row.begin(),
                       row.begin() + static_cast<std::ptrdiff_t>(outer + 1));
    for (size_t d : kept) fused.views.push_back(row[d + 1]);
  }
  return Bind(fn, type, Normalized(std::move(fused), narrower), narrower, kept.size(), rounds);
}

}  // namespace hv
