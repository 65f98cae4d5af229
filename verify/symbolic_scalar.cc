// Normal forms of elementwise functions. Every rule is exact on all values of its types (NaNs count
// as one value) unless it asks for a weaker strictness.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "eval/scalar_op.h"
#include "verify/symbolic_algebra.h"

namespace hv {
namespace {

bool IsExact(ElementType type) { return IsInteger(type) || IsPred(type); }

// Is every value of float type `narrow` a value of `wide`?
bool Embeds(ElementType narrow, ElementType wide) {
  if (wide == ElementType::kF64)
    return narrow == ElementType::kF32 || narrow == ElementType::kBF16 ||
           narrow == ElementType::kF16;
  return wide == ElementType::kF32 && (narrow == ElementType::kBF16 || narrow == ElementType::kF16);
}

bool IsApply(const Term& term) { return term.node->kind == NodeKind::kApply; }

// Functions of floats that round their exact result, or none.
bool IsBasic(ScalarFn fn) {
  return fn == ScalarFn::kAdd || fn == ScalarFn::kSubtract || fn == ScalarFn::kMultiply ||
         fn == ScalarFn::kDivide || fn == ScalarFn::kMaximum || fn == ScalarFn::kMinimum ||
         fn == ScalarFn::kSqrt || fn == ScalarFn::kNegate || fn == ScalarFn::kAbs;
}

// What a comparison of integers gives if their ranges decide it; `direction` is LT, LE, EQ or NE.
std::optional<bool> CompareRanges(std::string_view direction, const Term& a, const Term& b) {
  const IntegerRange x = a.node->range, y = b.node->range;
  if (!IsExact(a.node->type)) return std::nullopt;
  if (a == b) return direction == "LE" || direction == "EQ";
  if (!x.known() || !y.known()) return std::nullopt;
  const bool apart = x.high < y.low || y.high < x.low;
  if (direction == "EQ" || direction == "NE") {
    return apart ? std::optional<bool>(direction == "NE") : std::nullopt;
  }
  const bool or_equal = direction == "LE";
  if (x.high < y.low || (or_equal && x.high == y.low)) return true;
  if (x.low > y.high || (!or_equal && x.low == y.high)) return false;
  return std::nullopt;
}

// Does the function commute bit for bit on `type`?
bool Commutes(ScalarFn fn, ElementType type) {
  switch (fn) {
    case ScalarFn::kAdd:
    case ScalarFn::kMultiply:
      return !IsComplex(type);
    case ScalarFn::kMulhi:
      return true;
    default:
      return false;
  }
}

bool IsApplyOf(Algebra* algebra, const Term& term, ScalarFn fn) {
  return IsApply(term) && algebra->FunctionOf(term.node->aux) == fn;
}

bool IsNaN(const Term& term) {
  const ElementType type = term.node->type;
  if (!IsFloat(type) || !Algebra::IsConstant(term)) return false;
  double value = 0;
  const std::byte* in = term.node->bytes.data();
  ScalarOp::Convert(type, ElementType::kF64)
      ->Run({&in, 1}, reinterpret_cast<std::byte*>(&value), 1);
  return std::isnan(value);
}

// x << k is x * 2^k.
std::optional<Term> ShiftedLeft(Algebra* algebra, ElementType type, const std::vector<Term>& x) {
  const IntegerRange by = x[1].node->range;
  if (!IsInteger(type) || !by.known() || !by.IsPoint()) return std::nullopt;
  if (by.low < 0 || by.low >= BitWidth(type)) return std::nullopt;
  const Term power = algebra->Integer(type, static_cast<int64_t>(uint64_t{1} << by.low));
  return algebra->Scalar(ScalarFn::kMultiply, type, {x[0], power});
}

// not of a predicate: inside `and` and `or`, and of a comparison the opposite one.
std::optional<Term> Opposite(Algebra* algebra, const Term& x) {
  const bool is_and = x.node->kind == NodeKind::kMulti && x.node->fn == ScalarFn::kAnd;
  const bool is_or = x.node->kind == NodeKind::kMulti && x.node->fn == ScalarFn::kOr;
  if (is_and || is_or) {
    std::vector<Term> parts;
    for (size_t e = 0; e < x.node->edges.size(); ++e) {
      parts.push_back(
          algebra->Scalar(ScalarFn::kNot, ElementType::kPred, {NodeTable::Child(x, e)}));
    }
    const ScalarFn dual = is_and ? ScalarFn::kOr : ScalarFn::kAnd;
    return algebra->Fold(dual, ElementType::kPred, std::move(parts), {});
  }
  if (!IsApplyOf(algebra, x, ScalarFn::kCompare)) return std::nullopt;
  std::vector<Term> sides = {NodeTable::Child(x, 0), NodeTable::Child(x, 1)};
  const std::string_view direction = algebra->AttributesOf(x.node->aux);
  const bool ordered = IsExact(sides[0].node->type);  // no NaN
  std::string_view opposite = direction == "EQ" ? "NE" : direction == "NE" ? "EQ" : "";
  if (ordered && (direction == "LT" || direction == "LE")) {
    opposite = direction == "LT" ? "LE" : "LT";
    std::swap(sides[0], sides[1]);
  }
  if (opposite.empty()) return std::nullopt;
  return algebra->Scalar(algebra->Function(ScalarFn::kCompare, opposite), ElementType::kPred,
                         std::move(sides));
}

// Exclusive or of predicates with `not` and constants outside; nothing if there are none.
std::optional<Term> PlainXor(Algebra* algebra, const std::vector<Term>& x) {
  bool flips = false, plain = true;
  Term result = algebra->Integer(ElementType::kPred, 0);
  for (Term part : x) {
    const bool is_not = IsApplyOf(algebra, part, ScalarFn::kNot);
    if (!is_not && !Algebra::IsConstant(part)) continue;
    plain = false;
    flips ^= is_not || part.node->bytes[0] != std::byte{0};
  }
  if (plain) return std::nullopt;
  for (Term part : x) {
    if (Algebra::IsConstant(part)) continue;
    if (IsApplyOf(algebra, part, ScalarFn::kNot)) part = NodeTable::Child(part, 0);
    result = Algebra::IsConstant(result)
                 ? std::move(part)
                 : algebra->Scalar(ScalarFn::kXor, ElementType::kPred, {result, std::move(part)});
  }
  if (flips) return algebra->Scalar(ScalarFn::kNot, ElementType::kPred, {std::move(result)});
  return result;
}

// Comparisons of predicates as logic.
std::optional<Term> ComparedPredicates(Algebra* algebra, std::string_view direction,
                                       const std::vector<Term>& x) {
  constexpr ElementType kPred = ElementType::kPred;
  if (!IsPred(x[0].node->type)) return std::nullopt;
  if (direction == "EQ" || direction == "NE") {
    Term differ = algebra->Scalar(ScalarFn::kXor, kPred, x);
    if (direction == "NE") return differ;
    return algebra->Scalar(ScalarFn::kNot, kPred, {std::move(differ)});
  }
  if (direction != "LT" && direction != "LE") return std::nullopt;
  Term first = algebra->Scalar(ScalarFn::kNot, kPred, {x[0]});
  return algebra->Scalar(direction == "LT" ? ScalarFn::kAnd : ScalarFn::kOr, kPred,
                         {std::move(first), x[1]});
}

// The low bits of a sum or product of integers are the sum or product of the low bits.
std::optional<Term> LowBits(Algebra* algebra, ElementType type, const Term& x) {
  constexpr int64_t kLargestPower = 16;
  const ElementType from = x.node->type;
  const ScalarFn fn = x.node->fn;
  const bool sum = fn == ScalarFn::kAdd;
  if (!IsInteger(type) || !IsInteger(from) || BitWidth(from) < BitWidth(type) ||
      x.node->kind != NodeKind::kMulti || (!sum && fn != ScalarFn::kMultiply)) {
    return std::nullopt;
  }
  std::vector<Term> parts;
  for (size_t e = 0; e < x.node->edges.size(); ++e) {
    const int64_t count = x.node->edges[e].count;
    Term part = algebra->Scalar(ScalarFn::kConvert, type, {NodeTable::Child(x, e)});
    if (sum) {
      part = algebra->Scalar(ScalarFn::kMultiply, type, {part, algebra->Integer(type, count)});
    } else if (count < 1 || count > kLargestPower) {
      return std::nullopt;
    }
    parts.insert(parts.end(), sum ? 1 : static_cast<size_t>(count), part);
  }
  return algebra->Fold(fn, type, std::move(parts), {});
}

// real and imag of complex, and complex of both parts of one number.
std::optional<Term> ComplexPart(Algebra* algebra, ScalarFn fn, ElementType type,
                                const std::vector<Term>& x) {
  if (fn != ScalarFn::kComplex) {
    if (!IsApplyOf(algebra, x[0], ScalarFn::kComplex)) return std::nullopt;
    Term part = NodeTable::Child(x[0], fn == ScalarFn::kReal ? 0 : 1);
    if (part.node->type != type) return std::nullopt;
    return part;
  }
  if (!IsApplyOf(algebra, x[0], ScalarFn::kReal) || !IsApplyOf(algebra, x[1], ScalarFn::kImag)) {
    return std::nullopt;
  }
  Term whole = NodeTable::Child(x[0], 0);
  if (!(whole == NodeTable::Child(x[1], 0)) || whole.node->type != type) return std::nullopt;
  return whole;
}

}  // namespace

Term Algebra::Apply(int64_t function, ElementType type, std::span<const Term> arguments,
                    bool commutes) {
  if (!commutes || !TermLess(arguments[1], arguments[0])) {
    return nodes_.Join(NodeKind::kApply, FunctionOf(function), type, function, arguments, {});
  }
  const Term swapped[] = {arguments[1], arguments[0]};
  return nodes_.Join(NodeKind::kApply, FunctionOf(function), type, function, swapped, {});
}

// What the native domain would compute. Over the reals float constants are left alone: their
// functions would round.
std::optional<Term> Algebra::EvaluateConstant(int64_t function, ElementType type,
                                              std::span<const Term> arguments) {
  std::vector<ElementType> types;
  std::vector<const std::byte*> in;
  for (const Term& argument : arguments) {
    if (!IsConstant(argument)) return std::nullopt;
    types.push_back(argument.node->type);
    in.push_back(argument.node->bytes.data());
    if (IsReal() && !IsExact(types.back())) return std::nullopt;
  }
  if (arguments.empty() || (IsReal() && !IsExact(type))) return std::nullopt;
  const FunctionRow& row = functions_[Index(function)];
  if (row.sample != nullptr && row.sample->Has(Attr::kResultAccuracy)) return std::nullopt;
  std::optional<ScalarOp> op;
  if (row.sample != nullptr) {
    if (auto made = ScalarOp::Make(*row.sample, type, types)) op = std::move(*made);
  } else if (row.fn == ScalarFn::kConvert) {
    op = ScalarOp::Convert(types[0], type);
  } else if (row.attributes.empty() && row.fn != ScalarFn::kSelect &&
             std::all_of(types.begin(), types.end(), [&](ElementType t) { return t == type; })) {
    op = ScalarOp::Make(row.fn, type);
  }
  if (!op) return std::nullopt;
  std::byte out[16];
  op->Run(in, out, 1);
  return ConstantBytes(type, {out, static_cast<size_t>(HostBytes(type))});
}

Term Algebra::Scalar(int64_t function, ElementType type, std::vector<Term> arguments) {
  type = Canonical(type);
  if (auto constant = EvaluateConstant(function, type, arguments)) return std::move(*constant);
  const ScalarFn fn = FunctionOf(function);
  if (!AttributesOf(function).empty() && fn != ScalarFn::kCompare) {  // a fold in order, or opaque
    if (fn == ScalarFn::kReducePrecision && IsReal()) return std::move(arguments[0]);
    return Apply(function, type, arguments, false);
  }
  switch (fn) {
    case ScalarFn::kAdd:
    case ScalarFn::kSubtract:
    case ScalarFn::kMultiply:
      return Arithmetic(function, type, std::move(arguments));
    case ScalarFn::kNegate:
      return Negate(type, std::move(arguments[0]));
    case ScalarFn::kDivide:
      return Divide(type, std::move(arguments));
    case ScalarFn::kMaximum:
    case ScalarFn::kMinimum:
      if (arguments[0] == arguments[1]) return std::move(arguments[0]);
      for (Term& argument : arguments) {
        if (IsNaN(argument)) return std::move(argument);
      }
      if (!OrderFree(type)) break;
      return Combine(fn, type, {{std::move(arguments[0]), 1}, {std::move(arguments[1]), 1}});
    case ScalarFn::kAnd:
    case ScalarFn::kOr:
    case ScalarFn::kXor:
      if (fn == ScalarFn::kXor && IsPred(type)) {
        if (auto plain = PlainXor(this, arguments)) return std::move(*plain);
      }
      return Combine(fn, type, {{std::move(arguments[0]), 1}, {std::move(arguments[1]), 1}});
    case ScalarFn::kNot:
      if (IsApply(arguments[0]) && arguments[0].node->aux == function) {
        return NodeTable::Child(arguments[0], 0);
      }
      if (IsPred(type)) {
        if (auto opposite = Opposite(this, arguments[0])) return std::move(*opposite);
      }
      break;
    case ScalarFn::kShiftLeft:
      if (auto shifted = ShiftedLeft(this, type, arguments)) return std::move(*shifted);
      break;
    case ScalarFn::kReal:
    case ScalarFn::kImag:
    case ScalarFn::kComplex:
      if (auto part = ComplexPart(this, fn, type, arguments)) return std::move(*part);
      break;
    case ScalarFn::kRsqrt:
    case ScalarFn::kLogistic:
    case ScalarFn::kExpm1:
    case ScalarFn::kLog1p:
    case ScalarFn::kPower:
      if (auto spelt = SpeltOut(fn, type, arguments)) return std::move(*spelt);
      break;
    case ScalarFn::kSelect:
      return Select(function, type, std::move(arguments));
    case ScalarFn::kCompare:
      return Compare(function, std::move(arguments));
    case ScalarFn::kConvert:
      return Convert(function, type, std::move(arguments[0]));
    case ScalarFn::kClamp:
      return Clamp(function, type, std::move(arguments));
    default:
      break;
  }
  return Apply(function, type, arguments, Commutes(fn, type));
}

// add, subtract, multiply.
Term Algebra::Arithmetic(int64_t function, ElementType type, std::vector<Term> arguments) {
  const ScalarFn fn = FunctionOf(function);
  if (IsPred(type)) {
    return Combine(fn, type, {{std::move(arguments[0]), 1}, {std::move(arguments[1]), 1}});
  }
  if (HasRing(type) && AnyUnbounded(arguments)) {
    return Apply(function, type, arguments, Commutes(fn, type));
  }
  if (HasRing(type)) {
    const Ring ring = RingOf(type);
    if (fn == ScalarFn::kMultiply) {
      return RingProduct(type, {{std::move(arguments[0]), 1}, {std::move(arguments[1]), 1}});
    }
    const int64_t sign = ring.FromInteger(fn == ScalarFn::kSubtract ? -1 : 1);
    return RingSum(type, {{std::move(arguments[0]), ring.One()}, {std::move(arguments[1]), sign}});
  }
  if (fn == ScalarFn::kMultiply) {
    const Term one = Integer(type, 1);
    for (size_t i = 0; i < 2 && !IsComplex(type); ++i) {
      if (arguments[i] == one) return std::move(arguments[1 - i]);
    }
    return Apply(function, type, arguments, Commutes(fn, type));
  }
  // x - y is x + (-y), and x + (-0) is x, in every bit.
  if (strictness_ >= Strictness::kReassociation) {
    if (fn == ScalarFn::kSubtract) arguments[1] = Negate(type, std::move(arguments[1]));
    return Combine(ScalarFn::kAdd, type,
                   {{std::move(arguments[0]), 1}, {std::move(arguments[1]), 1}});
  }
  // (x + 0) + 0 is x + 0: the first sum leaves no -0 behind.
  const Term zero = Integer(type, 0);
  for (size_t i = 0; i < 2 && fn == ScalarFn::kAdd && !IsComplex(type); ++i) {
    const Term& sum = arguments[1 - i];
    if (arguments[i] != zero || !IsApply(sum) || sum.node->aux != function) continue;
    if (NodeTable::Child(sum, 0) == zero || NodeTable::Child(sum, 1) == zero) return sum;
  }
  return Apply(function, type, arguments, Commutes(fn, type));
}

Term Algebra::Negate(ElementType type, Term x) {
  if (HasRing(type) && x.node->unbounded == 0) {
    return RingSum(type, {{std::move(x), RingOf(type).FromInteger(-1)}});
  }
  const int64_t negate = Function(ScalarFn::kNegate, {});
  if (auto constant = EvaluateConstant(negate, type, {&x, 1})) return std::move(*constant);
  if (IsApply(x) && x.node->aux == negate) return NodeTable::Child(x, 0);
  return Apply(negate, type, {&x, 1}, false);
}

// 1 / c if c is a power of two: x / c and x * (1 / c) are the same real number then, rounded alike.
std::optional<Term> Algebra::ExactReciprocal(ElementType type, const Term& c) {
  if (!IsFloat(type) || type == ElementType::kF8E8M0FNU || !IsConstant(c)) return std::nullopt;
  const auto number = [type](const Term& constant) {
    double value = 0;
    const std::byte* in = constant.node->bytes.data();
    ScalarOp::Convert(type, ElementType::kF64)
        ->Run({&in, 1}, reinterpret_cast<std::byte*>(&value), 1);
    return value;
  };
  int exponent = 0;
  const double value = number(c);
  if (!std::isfinite(value) || std::fabs(std::frexp(value, &exponent)) != 0.5) return std::nullopt;
  Term reciprocal = FromDouble(type, 1 / value);
  if (number(reciprocal) != 1 / value) return std::nullopt;
  return reciprocal;
}

// Over the reals x / y is x times a reciprocal.
Term Algebra::Divide(ElementType type, std::vector<Term> arguments) {
  const int64_t divide = Function(ScalarFn::kDivide, {});
  const Term one = Integer(type, 1);
  if (arguments[1] == one && !IsComplex(type)) return std::move(arguments[0]);
  if (auto reciprocal = ExactReciprocal(type, arguments[1])) {
    return Arithmetic(Function(ScalarFn::kMultiply, {}), type,
                      {std::move(arguments[0]), std::move(*reciprocal)});
  }
  if (!IsReal() || IsExact(type) || AnyUnbounded(arguments)) {
    return Apply(divide, type, arguments, false);
  }
  if (IsComplex(type)) {
    const Term parts[] = {one, std::move(arguments[1])};
    return RingProduct(type, {{std::move(arguments[0]), 1}, {Apply(divide, type, parts, false), 1}});
  }
  return RingProduct(type,
                     {{std::move(arguments[0]), 1}, {Reciprocal(type, arguments[1]), 1}});
}

// Of a predicate and its opposite one stands for both: EQ and LT, what is below a `not`. The opposite
// where `predicate` is the other one.
std::optional<Term> Algebra::Turned(const Term& predicate) {
  if (IsApplyOf(this, predicate, ScalarFn::kNot)) return NodeTable::Child(predicate, 0);
  if (!IsApplyOf(this, predicate, ScalarFn::kCompare)) return std::nullopt;
  const std::string_view by = AttributesOf(predicate.node->aux);
  return by == "NE" || by == "LE" ? Opposite(this, predicate) : std::nullopt;
}

Term Algebra::Select(int64_t function, ElementType type, std::vector<Term> arguments) {
  if (arguments[1] == arguments[2]) return std::move(arguments[1]);
  if (IsConstant(arguments[0])) {
    const bool chosen = arguments[0].node->bytes[0] != std::byte{0};
    return std::move(arguments[chosen ? 1 : 2]);
  }
  if (IsPred(type) && arguments[1] == Integer(type, 1) && arguments[2] == Integer(type, 0)) {
    return std::move(arguments[0]);
  }
  if (auto product = Masked(type, arguments)) return std::move(*product);
  if (IsPred(type) && arguments[1] == Integer(type, 0) && arguments[2] == Integer(type, 1)) {
    return Scalar(ScalarFn::kNot, type, {std::move(arguments[0])});
  }
  if (auto opposite = Turned(arguments[0])) {
    arguments[0] = std::move(*opposite);
    std::swap(arguments[1], arguments[2]);
  }
  return Apply(function, type, arguments, false);
}

// a > b is b < a, a >= b is b <= a; equality commutes.
Term Algebra::Compare(int64_t function, std::vector<Term> arguments) {
  std::string attributes(AttributesOf(function));
  const bool is_greater = attributes.starts_with("G");
  const bool commutes = attributes.starts_with("EQ") || attributes.starts_with("NE");
  if (is_greater || (commutes && TermLess(arguments[1], arguments[0]))) {
    std::swap(arguments[0], arguments[1]);
    if (is_greater) attributes[0] = 'L';
    function = Function(ScalarFn::kCompare, attributes);
  }
  if (const auto known = CompareRanges(attributes, arguments[0], arguments[1])) {
    return Integer(ElementType::kPred, *known ? 1 : 0);
  }
  if (auto logic = ComparedPredicates(this, attributes, arguments)) return std::move(*logic);
  return Apply(function, ElementType::kPred, arguments, false);
}

// bf16 and f16 compute in f32 and round once, so doing that by hand is the function itself.
std::optional<Term> Algebra::Narrowed(ElementType type, const Term& x) {
  const bool narrow = type == ElementType::kBF16 || type == ElementType::kF16;
  if (!narrow || x.node->type != ElementType::kF32 || !IsApply(x)) return std::nullopt;
  const int64_t function = x.node->aux;
  if (!IsBasic(FunctionOf(function)) || !AttributesOf(function).empty()) return std::nullopt;
  std::vector<Term> arguments;
  for (size_t i = 0; i < x.node->edges.size(); ++i) {
    const Term wide = NodeTable::Child(x, i);
    if (!IsApply(wide) || FunctionOf(wide.node->aux) != ScalarFn::kConvert) return std::nullopt;
    arguments.push_back(NodeTable::Child(wide, 0));
    if (arguments.back().node->type != type) return std::nullopt;
  }
  return Scalar(function, type, std::move(arguments));
}

Term Algebra::Convert(int64_t function, ElementType type, Term x) {
  const ElementType from = x.node->type;
  if (from == type) return x;
  if (IsReal() && IsFloat(type) && IsPred(from)) {  // not p counts as 1 - p
    if (auto opposite = Turned(x)) {
      Term counted = Convert(function, type, std::move(*opposite));
      return Scalar(ScalarFn::kSubtract, type, {Integer(type, 1), std::move(counted)});
    }
  }
  if (auto narrowed = Narrowed(type, x)) return std::move(*narrowed);
  if (auto low = LowBits(this, type, x)) return std::move(*low);
  if (IsApply(x) && FunctionOf(x.node->aux) == ScalarFn::kConvert) {
    Term inner = NodeTable::Child(x, 0);
    const ElementType first = inner.node->type;
    const bool low_bits =
        IsInteger(first) && IsInteger(from) && IsInteger(type) && BitWidth(from) >= BitWidth(type);
    const IntegerRange in = inner.node->range, through = RangeOfType(from);
    const bool all_fit =
        in.known() && through.known() && through.low <= in.low && in.high <= through.high;
    if (low_bits || (all_fit && IsExact(type))) return Convert(function, type, std::move(inner));
    if (first == type && Embeds(type, from)) return inner;
  }
  return Apply(function, type, {&x, 1}, false);
}

// clamp(lo, x, hi) is min(hi, max(x, lo)), on floats up to the sign of a zero that ties.
Term Algebra::Clamp(int64_t function, ElementType type, std::vector<Term> arguments) {
  if (IsPred(type) || !OrderFree(type)) return Apply(function, type, arguments, false);
  for (Term& argument : arguments) {
    if (IsNaN(argument)) return std::move(argument);
  }
  Term low = Combine(ScalarFn::kMaximum, type,
                     {{std::move(arguments[1]), 1}, {std::move(arguments[0]), 1}});
  return Combine(ScalarFn::kMinimum, type, {{std::move(low), 1}, {std::move(arguments[2]), 1}});
}

}  // namespace hv
