// What over the reals is another function: square roots, exponentials and powers spelt out,
// quotients as products with reciprocals, selection against zero as a product with zero or one.
// Nothing here holds for rounded numbers or where infinities meet zeros; `real` speaks of neither.
#include <cmath>
#include <cstring>
#include <utility>

#include "verify/symbolic_algebra.h"

namespace hv {
namespace {

constexpr double kHighestPower = 8;  // that is written as a product

double NumberOf(const Term& constant) {
  double number = 0;
  std::memcpy(&number, constant.node->bytes.data(), sizeof number);
  return number;
}

}  // namespace

// x^n for the n that need neither logarithm nor exponential.
std::optional<Term> Algebra::ConstantPower(ElementType type, Term x, double n) {
  Term power = Integer(type, 1);
  if (n < 0) {
    auto inverse = ConstantPower(type, std::move(x), -n);
    return inverse ? std::optional<Term>(Reciprocal(type, *inverse)) : std::nullopt;
  }
  if (n == 0.5) return Scalar(ScalarFn::kSqrt, type, {std::move(x)});
  if (n != std::trunc(n) || n > kHighestPower) return std::nullopt;
  return n == 0 ? power : RingProduct(type, {{std::move(x), static_cast<int64_t>(n)}});
}

std::optional<Term> Algebra::SpeltOut(ScalarFn fn, ElementType type, std::vector<Term>& x) {
  if (!IsReal() || !IsFloat(type) || AnyUnbounded(x)) return std::nullopt;
  const Term one = Integer(type, 1);
  const auto sum = [&](Term a, Term b) {
    return Scalar(ScalarFn::kAdd, type, {std::move(a), std::move(b)});
  };
  switch (fn) {
    case ScalarFn::kRsqrt:
      return Reciprocal(type, Scalar(ScalarFn::kSqrt, type, {x[0]}));
    case ScalarFn::kLogistic:
      return Reciprocal(type, sum(one, Scalar(ScalarFn::kExp, type, {Negate(type, x[0])})));
    case ScalarFn::kExpm1:
      return sum(Scalar(ScalarFn::kExp, type, {x[0]}), Negate(type, one));
    case ScalarFn::kLog1p:
      return Scalar(ScalarFn::kLog, type, {sum(one, x[0])});
    case ScalarFn::kPower:
      if (!IsConstant(x[1])) return std::nullopt;
      return ConstantPower(type, x[0], NumberOf(x[1]));
    default:
      return std::nullopt;
  }
}

// 1 / x: of a product the product of reciprocals, of a reciprocal what it is of; else not looked
// into.
Term Algebra::Reciprocal(ElementType type, const Term& x) {
  const Term one = Integer(type, 1);
  if (x == one) return one;
  if (auto exact = ExactReciprocal(type, x)) return *exact;
  const Node& node = *x.node;
  const int64_t divide = Function(ScalarFn::kDivide, {});
  if (node.kind == NodeKind::kApply && node.aux == divide && NodeTable::Child(x, 0) == one) {
    return NodeTable::Child(x, 1);
  }
  if (node.kind == NodeKind::kMulti && node.fn == ScalarFn::kMultiply) {
    Summands factors;
    for (size_t e = 0; e < node.edges.size(); ++e) {
      factors.push_back({Reciprocal(type, NodeTable::Child(x, e)), node.edges[e].count});
    }
    return RingProduct(type, std::move(factors));
  }
  const bool scaled =
      node.kind == NodeKind::kMulti && node.fn == ScalarFn::kAdd && node.edges.size() == 1 &&
      node.edges[0].node != one.node;
  if (scaled) {
    return RingProduct(type, {{Reciprocal(type, FromCoefficient(type, node.edges[0].count)), 1},
                              {Reciprocal(type, NodeTable::Child(x, 0)), 1}});
  }
  const Term parts[] = {one, x};
  return Apply(divide, type, parts, false);
}

// select(p, x, 0) is p * x, select(p, 0, y) is y - p * y, where p counts as 1 or 0.
std::optional<Term> Algebra::Masked(ElementType type, const std::vector<Term>& arguments) {
  if (!IsReal() || !IsFloat(type)) return std::nullopt;
  const Term zero = Integer(type, 0);
  if (AnyUnbounded(arguments)) return std::nullopt;
  if (arguments[1] != zero && arguments[2] != zero) return std::nullopt;
  const bool keeps = arguments[2] == zero;
  const Term& value = arguments[keeps ? 1 : 2];
  Term kept =
      RingProduct(type, {{Scalar(ScalarFn::kConvert, type, {arguments[0]}), 1}, {value, 1}});
  if (keeps) return kept;
  return Scalar(ScalarFn::kSubtract, type, {value, std::move(kept)});
}

}  // namespace hv
