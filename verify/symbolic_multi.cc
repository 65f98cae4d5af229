// Normal forms of associative and commutative functions: sums with coefficients, products with
// exponents, sets under idempotent functions.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "eval/scalar_op.h"
#include "verify/symbolic_algebra.h"

namespace hv {
namespace {

// A product of sums is written out if that gives at most this many products.
constexpr size_t kMostProducts = 64;
// A lone sum times other factors is written out up to this size.
constexpr size_t kLargestSum = 4096;
constexpr int64_t kLargestPower = 64;

bool IsMulti(const Term& term, ScalarFn fn) {
  return term.node->kind == NodeKind::kMulti && term.node->fn == fn;
}

// A number that no double is: so often the constant 1.
bool IsExactConstant(const Term& term) {
  return IsMulti(term, ScalarFn::kAdd) && !IsInteger(term.node->type) &&
         term.node->edges.size() == 1 && term.node->edges[0].node->kind == NodeKind::kConstant &&
         ExactNumbers::Holds(term.node->edges[0].count);
}

// Float types in which zero is a value.
bool HasZero(ElementType type) { return type != ElementType::kF8E8M0FNU; }

bool HasInfinity(ElementType type) {
  switch (type) {
    case ElementType::kF8E3M4:
    case ElementType::kF8E4M3:
    case ElementType::kF8E5M2:
    case ElementType::kBF16:
    case ElementType::kF16:
    case ElementType::kF32:
    case ElementType::kF64:
      return true;
    default:
      return false;
  }
}

// max(x, c) is x if x >= c always, and c if x <= c always; min likewise.
void DropByRange(ScalarFn fn, std::vector<Summand>* set, std::optional<Term>* constant) {
  const IntegerRange c = (*constant)->node->range;
  const bool largest = fn == ScalarFn::kMaximum;
  if (!c.known() || (!largest && fn != ScalarFn::kMinimum)) return;
  const auto covers = [&](const Summand& part) {
    const IntegerRange r = part.term.node->range;
    return r.known() && (largest ? r.low >= c.low : r.high <= c.low);
  };
  if (std::any_of(set->begin(), set->end(), covers)) {
    constant->reset();
    return;
  }
  std::erase_if(*set, [&](const Summand& part) {
    const IntegerRange r = part.term.node->range;
    return r.known() && (largest ? r.high <= c.low : r.low >= c.low);
  });
}

bool IsZeroBytes(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

std::optional<int64_t> Algebra::CoefficientOf(const Term& term) const {
  const ElementType type = term.node->type;
  if (IsExactConstant(term)) return term.node->edges[0].count;
  if (!IsConstant(term) || IsComplex(type)) return std::nullopt;
  if (IsFloat(type)) {
    double value = 0;
    std::memcpy(&value, term.node->bytes.data(), sizeof value);
    if (!std::isfinite(value)) return std::nullopt;
    return std::bit_cast<int64_t>(value == 0 ? 0.0 : value);
  }
  uint64_t bits = 0;
  std::memcpy(&bits, term.node->bytes.data(), term.node->bytes.size());
  const int width = BitWidth(type);
  return static_cast<int64_t>(width < 64 ? bits & ((uint64_t{1} << width) - 1) : bits);
}

Term Algebra::FromCoefficient(ElementType type, int64_t coefficient) {
  if (IsInteger(type)) return Integer(type, coefficient);
  if (ExactNumbers::Holds(coefficient)) {
    const Term one = FromDouble(type, 1);
    return nodes_.Join(NodeKind::kMulti, ScalarFn::kAdd, type, 0, {&one, 1}, {&coefficient, 1});
  }
  return FromDouble(type, std::bit_cast<double>(coefficient));
}

Algebra::Summands Algebra::Flatten(ScalarFn fn, Summands parts) {
  Summands flat;
  for (Summand& part : parts) {
    if (!IsMulti(part.term, fn)) {
      flat.push_back(std::move(part));
      continue;
    }
    for (size_t e = 0; e < part.term.node->edges.size(); ++e) {
      flat.push_back({NodeTable::Child(part.term, e), part.term.node->edges[e].count * part.count});
    }
  }
  return flat;
}

void Algebra::Sort(Summands* parts) {
  std::sort(parts->begin(), parts->end(), [](const Summand& a, const Summand& b) {
    if (a.term == b.term) return a.count < b.count;
    return TermLess(a.term, b.term);
  });
}

Term Algebra::JoinMulti(ScalarFn fn, ElementType type, const Summands& parts) {
  std::vector<Term> children;
  std::vector<int64_t> counts;
  for (const Summand& part : parts) {
    children.push_back(part.term);
    counts.push_back(part.count);
  }
  return nodes_.Join(NodeKind::kMulti, fn, type, 0, children, counts);
}

bool Algebra::OrderFree(ElementType type) const {
  if (IsInteger(type) || IsPred(type)) return true;
  return strictness_ >= Strictness::kReassociation;
}

Term Algebra::Fold(ScalarFn fn, ElementType type, std::vector<Term> terms,
                   std::string_view instance) {
  // Equal members of a lattice: the value itself, bit for bit, in every order.
  const bool lattice = fn == ScalarFn::kMaximum || fn == ScalarFn::kMinimum ||
                       fn == ScalarFn::kAnd || fn == ScalarFn::kOr;
  const bool equal = std::all_of(terms.begin(), terms.end(),
                                 [&](const Term& term) { return term == terms[0]; });
  if (terms.size() == 1 || (lattice && equal)) return std::move(terms[0]);
  type = Canonical(type);
  if (!OrderFree(type) && fn == ScalarFn::kAdd && !IsComplex(type) && HasZero(type)) {
    // One value among zeros is that value plus 0, in every order.
    const Term zero = Integer(type, 0);
    const auto other = std::find_if(terms.begin(), terms.end(),
                                    [&](const Term& term) { return !(term == zero); });
    const bool alone = other != terms.end() && std::count(terms.begin(), terms.end(), zero) + 1 ==
                                                   static_cast<std::ptrdiff_t>(terms.size());
    if (alone) return Scalar(fn, type, {std::move(*other), zero});
  }
  if (!OrderFree(type)) return Apply(Function(fn, instance), type, terms, false);
  Summands parts;
  const int64_t once = fn == ScalarFn::kAdd && HasRing(type) ? RingOf(type).One() : 1;
  for (Term& term : terms) parts.push_back({std::move(term), once});
  return Combine(fn, type, std::move(parts));
}

Term Algebra::Combine(ScalarFn fn, ElementType type, Summands parts) {
  if (IsPred(type)) {  // HLO's arithmetic on pred
    if (fn == ScalarFn::kAdd || fn == ScalarFn::kMaximum) fn = ScalarFn::kOr;
    if (fn == ScalarFn::kMultiply || fn == ScalarFn::kMinimum) fn = ScalarFn::kAnd;
  }
  switch (fn) {
    case ScalarFn::kAdd:
      return HasRing(type) ? RingSum(type, std::move(parts))
                           : CountedMulti(fn, type, std::move(parts));
    case ScalarFn::kMultiply:
      return HasRing(type) ? RingProduct(type, std::move(parts))
                           : CountedMulti(fn, type, std::move(parts));
    case ScalarFn::kXor:
      return Xor(type, std::move(parts));
    case ScalarFn::kMaximum:
    case ScalarFn::kMinimum:
    case ScalarFn::kAnd:
    case ScalarFn::kOr:
      return IdempotentMulti(fn, type, std::move(parts));
    default:
      break;
  }
  HV_CHECK(false, "no normal form for this reducer");
}

// Sum of coefficient * term. Constants are coefficients of the constant 1.
Term Algebra::RingSum(ElementType type, Summands parts) {
  const Ring ring = RingOf(type);
  const Term one = FromCoefficient(type, ring.One());
  Summands flat;
  for (Summand& part : parts) {
    if (IsMulti(part.term, ScalarFn::kAdd)) {
      const size_t first = flat.size();
      bool exact = true;
      for (size_t e = 0; e < part.term.node->edges.size() && exact; ++e) {
        const auto count = ring.Multiply(part.term.node->edges[e].count, part.count);
        exact = count.has_value();
        if (exact) flat.push_back({NodeTable::Child(part.term, e), *count});
      }
      if (exact) continue;
      flat.resize(first);
    } else if (const auto value = CoefficientOf(part.term)) {
      if (const auto count = ring.Multiply(*value, part.count)) {
        flat.push_back({one, *count});
        continue;
      }
    }
    flat.push_back(std::move(part));
  }
  Sort(&flat);
  Summands merged;
  for (Summand& part : flat) {
    if (!merged.empty() && merged.back().term == part.term) {
      if (const auto sum = ring.Add(merged.back().count, part.count)) {
        merged.back().count = *sum;
        continue;
      }
    }
    merged.push_back(std::move(part));
  }
  std::erase_if(merged, [&](const Summand& part) { return ring.IsZero(part.count); });
  if (merged.empty()) return FromCoefficient(type, ring.FromInteger(0));
  if (merged.size() == 1) {
    if (merged[0].term == one) return FromCoefficient(type, merged[0].count);
    if (ring.IsOne(merged[0].count)) return std::move(merged[0].term);
  }
  return JoinMulti(ScalarFn::kAdd, type, merged);
}

// coefficient * product of term^count, sums among the factors written out where that stays small.
Term Algebra::RingProduct(ElementType type, Summands parts) {
  const Ring ring = RingOf(type);
  int64_t coefficient = ring.One();
  Summands factors;
  parts = Flatten(ScalarFn::kMultiply, std::move(parts));
  for (size_t i = 0; i < parts.size(); ++i) {
    Summand part = std::move(parts[i]);
    std::optional<int64_t> scale = CoefficientOf(part.term);
    const bool scaled_term =
        IsMulti(part.term, ScalarFn::kAdd) && part.term.node->edges.size() == 1 && part.count == 1;
    if (scaled_term) scale = part.term.node->edges[0].count;
    std::optional<int64_t> product = coefficient;
    for (int64_t k = 0; scale && product && k < part.count; ++k) {
      product = part.count <= kLargestPower ? ring.Multiply(*product, *scale) : std::nullopt;
    }
    if (!scale || !product) {
      factors.push_back(std::move(part));
      continue;
    }
    coefficient = *product;
    if (!scaled_term) continue;
    for (Summand& inner : Flatten(ScalarFn::kMultiply, {{NodeTable::Child(part.term, 0), 1}})) {
      parts.push_back(std::move(inner));
    }
  }
  if (ring.IsZero(coefficient)) return FromCoefficient(type, coefficient);
  Sort(&factors);
  Summands merged;
  for (Summand& part : factors) {
    if (!merged.empty() && merged.back().term == part.term) {
      merged.back().count += part.count;
    } else {
      merged.push_back(std::move(part));
    }
  }
  return Distribute(type, merged, coefficient);
}

Term Algebra::Distribute(ElementType type, const Summands& factors, int64_t coefficient) {
  const Ring ring = RingOf(type);
  size_t sums = 0, products = 1;
  for (const Summand& factor : factors) {
    if (factor.count != 1 || !IsMulti(factor.term, ScalarFn::kAdd)) continue;
    ++sums;
    products = std::min(products * factor.term.node->edges.size(), kLargestSum + 1);
  }
  const bool write_out = sums > 0 && !IsExhausted() &&
                         (products <= kMostProducts || factors.size() == 1 ||
                                      (sums == 1 && products <= kLargestSum));
  if (!write_out) {
    if (factors.empty()) return FromCoefficient(type, coefficient);
    Term monomial = factors.size() == 1 && factors[0].count == 1
                        ? factors[0].term
                        : JoinMulti(ScalarFn::kMultiply, type, factors);
    if (ring.IsOne(coefficient)) return monomial;
    return JoinMulti(ScalarFn::kAdd, type, {{std::move(monomial), coefficient}});
  }
  Summands rest;
  const Summand* sum = nullptr;
  for (const Summand& factor : factors) {
    if (sum == nullptr && factor.count == 1 && IsMulti(factor.term, ScalarFn::kAdd)) {
      sum = &factor;
    } else {
      rest.push_back(factor);
    }
  }
  Summands summands;
  for (size_t e = 0; e < sum->term.node->edges.size(); ++e) {
    Summands product = rest;
    product.push_back({NodeTable::Child(sum->term, e), 1});
    const auto scale = ring.Multiply(coefficient, sum->term.node->edges[e].count);
    Term term =
        product.size() == 1 ? std::move(product[0].term) : RingProduct(type, std::move(product));
    if (scale) {
      summands.push_back({std::move(term), *scale});
    } else {  // a coefficient that would round stays a factor
      term = JoinMulti(ScalarFn::kAdd, type, {{std::move(term), sum->term.node->edges[e].count}});
      summands.push_back({std::move(term), coefficient});
    }
  }
  return RingSum(type, std::move(summands));
}

// Float sums and products below the reals: a multiset.
Term Algebra::CountedMulti(ScalarFn fn, ElementType type, Summands parts) {
  if (strictness_ >= Strictness::kNestedSums) parts = Flatten(fn, std::move(parts));
  const Term neutral = Integer(type, fn == ScalarFn::kMultiply ? 1 : 0);
  const Term negative_zero = FromDouble(type, -0.0);
  std::erase_if(parts, [&](const Summand& part) {
    if (fn == ScalarFn::kMultiply) return part.term == neutral;
    return HasZero(type) && (part.term == neutral || part.term == negative_zero);
  });
  Sort(&parts);
  Summands merged;
  for (Summand& part : parts) {
    if (!merged.empty() && merged.back().term == part.term) {
      merged.back().count += part.count;
    } else {
      merged.push_back(std::move(part));
    }
  }
  if (merged.empty()) return neutral;
  if (merged.size() == 1 && merged[0].count == 1) return std::move(merged[0].term);
  return JoinMulti(fn, type, merged);
}

Term Algebra::FoldConstants(ScalarFn fn, const Term& a, const Term& b) {
  const ElementType type = a.node->type;
  const std::byte* in[] = {a.node->bytes.data(), b.node->bytes.data()};
  std::byte out[16];
  const auto op = ScalarOp::Make(fn, type);
  HV_CHECK(op.has_value(), "a reducer that its type does not have");
  op->Run(in, out, 1);
  return ConstantBytes(type, {out, static_cast<size_t>(HostBytes(type))});
}

std::optional<Term> Algebra::IdentityOf(ScalarFn fn, ElementType type) {
  if (IsFloat(type)) {
    if (!HasInfinity(type)) return std::nullopt;
    if (fn == ScalarFn::kMaximum) return FromDouble(type, -INFINITY);
    if (fn == ScalarFn::kMinimum) return FromDouble(type, INFINITY);
    return std::nullopt;
  }
  const int64_t ones = IsPred(type) ? 1 : -1;
  const int width = BitWidth(type);
  const int64_t top = static_cast<int64_t>(uint64_t{1} << (width - 1));
  switch (fn) {
    case ScalarFn::kAnd:
      return Integer(type, ones);
    case ScalarFn::kOr:
      return Integer(type, 0);
    case ScalarFn::kMaximum:
      return Integer(type, IsSigned(type) ? -top : 0);
    case ScalarFn::kMinimum:
      return Integer(type, IsSigned(type) ? top - 1 : -1);
    default:
      return std::nullopt;
  }
}

std::optional<Term> Algebra::NeutralOf(ScalarFn fn, ElementType type) {
  if (!OrderFree(type) || IsComplex(type)) return std::nullopt;
  type = Canonical(type);
  if (IsPred(type) && fn == ScalarFn::kAdd) fn = ScalarFn::kOr;
  if (IsPred(type) && fn == ScalarFn::kMultiply) fn = ScalarFn::kAnd;
  if (fn == ScalarFn::kAdd || fn == ScalarFn::kXor) return Integer(type, 0);
  if (fn == ScalarFn::kMultiply) return Integer(type, 1);
  return IdentityOf(fn, type);
}

// maximum, minimum, and, or: a set with at most one constant.
Term Algebra::IdempotentMulti(ScalarFn fn, ElementType type, Summands parts) {
  parts = Flatten(fn, std::move(parts));
  std::optional<Term> constant = IdentityOf(fn, type);
  const std::optional<Term> identity = constant;
  Summands set;
  for (Summand& part : parts) {
    if (!IsConstant(part.term)) {
      set.push_back({std::move(part.term), 1});
    } else {
      constant = constant ? FoldConstants(fn, *constant, part.term) : std::move(part.term);
    }
  }
  if (IsPred(type) && constant != identity) return std::move(*constant);  // absorbs the rest
  if (constant && constant != identity) DropByRange(fn, &set, &constant);
  if (constant && (constant != identity || set.empty())) set.push_back({std::move(*constant), 1});
  Sort(&set);
  set.erase(std::unique(set.begin(), set.end(),
                        [](const Summand& a, const Summand& b) { return a.term == b.term; }),
            set.end());
  if (set.size() == 1) return std::move(set[0].term);
  return JoinMulti(fn, type, set);
}

// xor: pairs cancel.
Term Algebra::Xor(ElementType type, Summands parts) {
  parts = Flatten(ScalarFn::kXor, std::move(parts));
  Term constant = Integer(type, 0);
  Summands odd;
  for (Summand& part : parts) {
    if (part.count % 2 == 0) continue;
    if (IsConstant(part.term)) {
      constant = FoldConstants(ScalarFn::kXor, constant, part.term);
    } else {
      odd.push_back({std::move(part.term), 1});
    }
  }
  Sort(&odd);
  Summands left;
  for (Summand& part : odd) {
    if (!left.empty() && left.back().term == part.term) {
      left.pop_back();
    } else {
      left.push_back(std::move(part));
    }
  }
  if (!IsZeroBytes(constant.node->bytes) || left.empty()) left.push_back({std::move(constant), 1});
  Sort(&left);
  if (left.size() == 1) return std::move(left[0].term);
  return JoinMulti(ScalarFn::kXor, type, left);
}

}  // namespace hv
