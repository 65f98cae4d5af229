#include "eval/interval_scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/code_algebra.h"
#include "eval/elementwise_call.h"
#include "eval/native_kernels.h"
#include "eval/scalar_op.h"

namespace hv {
namespace {

constexpr double kExactIntegers = 0x1p53;

enum class Truth : uint8_t { kNo, kYes, kOpen };

Truth Holds(std::string_view direction, const Interval& x, const Interval& y) {
  const auto decide = [](bool yes, bool no) {
    return yes ? Truth::kYes : no ? Truth::kNo : Truth::kOpen;
  };
  if (direction == "LT") return decide(x.high < y.low, x.low >= y.high);
  if (direction == "LE") return decide(x.high <= y.low, x.low > y.high);
  if (direction == "GT") return decide(x.low > y.high, x.high <= y.low);
  if (direction == "GE") return decide(x.low >= y.high, x.high < y.low);
  const bool equal = x.IsPoint() && y.IsPoint() && x.low == y.low;
  if (direction == "EQ") return decide(equal, x.IsApartFrom(y));
  return decide(x.IsApartFrom(y), equal);
}

// Towards zero, as convert does; beyond the range anything.
Interval Truncated(ElementType type, const Interval& x) {
  const Interval range = RangeOf(type);
  const Interval whole{std::trunc(x.low), std::trunc(x.high)};
  return whole.low < range.low || whole.high >= range.high ? range : whole;
}

Interval Converted(ElementType from, ElementType to, const Interval& x) {
  if (IsFloat(to)) return Rounded(to, x);
  if (IsPred(to)) {
    if (x.IsPoint()) return Interval::Point(x.low != 0 ? 1 : 0);
    return x.low > 0 || x.high < 0 ? Interval::Point(1) : Interval{0, 1};
  }
  if (IsFloat(from)) return Truncated(to, x);
  const Interval range = RangeOf(to);
  return x.low >= range.low && x.high < range.high ? x : range;
}

Interval Selected(const Interval& choose, const Interval& yes, const Interval& no) {
  if (choose.IsPoint()) return choose.low != 0 ? yes : no;
  return {std::min(yes.low, no.low), std::max(yes.high, no.high)};
}

// One element of a float, integer or truth value.
Interval Element(const KernelCall& call, ScalarFn fn, ElementType from,
                 std::span<const Interval> x) {
  const ElementType type = call.shape->type;
  switch (fn) {
    case ScalarFn::kCompare: {
      const Truth truth = Holds(call.instruction.Text(Attr::kCompareDirection), x[0], x[1]);
      if (truth == Truth::kOpen) return {0, 1};
      return Interval::Point(truth == Truth::kYes ? 1 : 0);
    }
    case ScalarFn::kSelect:
      return Selected(x[0], x[1], x[2]);
    case ScalarFn::kConvert:
      return Converted(from, type, x[0]);
    case ScalarFn::kIsFinite:
      return std::isfinite(x[0].low) && std::isfinite(x[0].high) ? Interval::Point(1)
                                                                 : Interval{0, 1};
    default:
      break;
  }
  if (IsFloat(type)) return Apply(fn, type, x);
  if (fn == ScalarFn::kMaximum || fn == ScalarFn::kMinimum) return Apply(fn, ElementType::kF64, x);
  return RangeOf(type);
}

}  // namespace

Interval RangeOf(ElementType type) {
  if (IsPred(type)) return {0, 1};
  if (!IsInteger(type)) return Interval::Everything();
  const int bits = BitWidth(type);
  if (IsSigned(type)) return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1)};
  return {0, std::ldexp(1, bits)};
}

Value NativeIfCertain(const Value& value) {
  const ElementType type = value.shape()->type;
  if (!value.IsDense() || value.IsNative()) return value;
  const auto all = value.As<Interval>();
  const bool certain = std::all_of(all.begin(), all.end(), [&](const Interval& x) {
    return x.IsPoint() && (IsFloat(type) || std::fabs(x.low) <= kExactIntegers);
  });
  if (!certain) return value;
  std::vector<double> numbers;
  for (const Interval& x : all) numbers.push_back(x.low);
  Value native = Value::NewNative(value.shape());
  const std::byte* in[1] = {reinterpret_cast<const std::byte*>(numbers.data())};
  ScalarOp::Convert(ElementType::kF64, type)->Run(in, native.MutableBytes().data(), numbers.size());
  return native;
}

Interval PointOf(const Value& native, int64_t element) {
  const NativeNumber n =
      NumberAt(native.shape()->type, native.bytes().data(), static_cast<size_t>(element));
  double value = n.real;
  if (n.kind == NativeNumber::Kind::kComplex) return Interval::Everything();
  if (n.kind == NativeNumber::Kind::kInteger) {
    value = n.is_unsigned ? static_cast<double>(static_cast<uint64_t>(n.integer))
                          : static_cast<double>(n.integer);
    if (std::fabs(value) > kExactIntegers) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      return {std::nextafter(value, -kInfinity), std::nextafter(value, kInfinity)};
    }
  }
  return std::isnan(value) ? Interval::Everything() : Interval::Point(value);
}

Value LiftToCodes(const Value& value) {
  if (!value.IsNative()) return value;
  Value codes = Value::NewCode(value.shape(), sizeof(Interval));
  const auto out = codes.MutableAs<Interval>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = PointOf(value, static_cast<int64_t>(i));
  return codes;
}

Result<Value> IntervalScalar(const KernelCall& call, const std::vector<Value>& operands) {
  const ElementType from = operands[0].shape()->type;
  const ScalarFn fn = Definition(call.instruction).scalar;
  std::vector<Value> lifted;
  for (const Value& operand : operands) {
    const Value codes = LiftToCodes(operand);
    const bool scalar = !SameDims(*codes.shape(), *call.shape);
    ShapeTable& shapes = call.module.context->shapes;
    lifted.push_back(scalar ? Spread(codes, shapes.WithType(*call.shape, codes.shape()->type))
                            : codes);
  }
  Value out = Value::NewCode(call.shape, sizeof(Interval));
  const auto result = out.MutableAs<Interval>();
  Interval x[3];
  for (size_t i = 0; i < result.size(); ++i) {
    for (size_t k = 0; k < lifted.size(); ++k) x[k] = lifted[k].As<Interval>()[i];
    result[i] = Element(call, fn, from, {x, lifted.size()});
  }
  return IsFloat(call.shape->type) ? out : NativeIfCertain(out);
}

}  // namespace hv
