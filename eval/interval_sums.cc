#include "eval/interval_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/combiner.h"
#include "eval/convolution.h"
#include "eval/dot.h"
#include "eval/interval_scalar.h"
#include "eval/move.h"
#include "eval/window.h"
#include "hlo/float_formats.h"

namespace hv {
namespace {

// Sums of intervals without rounding to a type, or their maxima and minima.
class IntervalCombiner : public Combiner {
 public:
  explicit IntervalCombiner(ScalarFn fn) : fn_(fn) {}
  Status Combine(std::span<std::byte* const> accumulators, std::span<const std::byte* const> values,
                 size_t count) override {
    auto* out = reinterpret_cast<Interval*>(accumulators[0]);
    const auto* in = reinterpret_cast<const Interval*>(values[0]);
    for (size_t i = 0; i < count; ++i) {
      const Interval pair[2] = {out[i], in[i]};
      out[i] = fn_ == ScalarFn::kAdd ? Add(pair[0], pair[1]) : Apply(fn_, ElementType::kF64, pair);
    }
    return {};
  }

 private:
  ScalarFn fn_;
};

// Absolute values as points, `at_least` so much.
Value Sizes(const Value& intervals, double at_least = 0) {
  Value sizes = NewLike(intervals, intervals.shape());
  const auto in = intervals.As<Interval>();
  const auto out = sizes.MutableAs<Interval>();
  for (size_t i = 0; i < in.size(); ++i) {
    out[i] = Interval::Point(std::max(in[i].Size(), at_least));
  }
  return sizes;
}

bool AllIntegers(const Value& intervals) {
  const auto all = intervals.As<Interval>();
  return std::all_of(all.begin(), all.end(),
                     [](const Interval& x) { return x.IsPoint() && x.low == std::floor(x.low); });
}

// `sums` of terms_of(i) values each, with the sums of their sizes, made sums in any order.
template <class Terms>
Value AnyOrder(ElementType type, Value sums, const Value& sizes, const Terms& terms_of,
               bool integers) {
  Value out = Owned(std::move(sums));
  const auto size = sizes.As<Interval>();
  const auto result = out.MutableAs<Interval>();
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t terms = terms_of(i);
    if (terms > 0) result[i] = AnyOrderSum(type, result[i], size[i].high, terms, integers);
  }
  return out;
}

// `products` likewise: known if all factors are integers and no product of some of them rounds.
Value AnyOrderProducts(ElementType type, Value products, const Value& sizes, bool integers) {
  Value out = Owned(std::move(products));
  const auto size = sizes.As<Interval>();
  const auto result = out.MutableAs<Interval>();
  for (size_t i = 0; i < result.size(); ++i) {
    const Interval sum = AnyOrderSum(type, result[i], size[i].high, 1, integers);
    result[i] = sum.IsPoint() ? result[i] : Interval::Everything();
  }
  return out;
}

// The fold of `operand` onto `init` that combine(operand, init, combiner) makes, terms_of(i) terms in
// result i.
template <class Terms, class Combine>
Result<Value> FoldInAnyOrder(ElementType type, ScalarFn fn, const Value& operand, const Value& init,
                             const Terms& terms_of, const Combine& combine) {
  const Value input = LiftToCodes(operand), start = LiftToCodes(init);
  IntervalCombiner combiner(fn);
  HV_ASSIGN(Value result, combine(input, start, combiner));
  const bool product = fn == ScalarFn::kMultiply;
  if (fn != ScalarFn::kAdd && !product) return result;
  HV_ASSIGN(const Value sizes, combine(Sizes(input, product), Sizes(start, product), combiner));
  const bool integers = AllIntegers(input) && AllIntegers(start);
  if (product) return AnyOrderProducts(type, std::move(result), sizes, integers);
  return AnyOrder(type, std::move(result), sizes, terms_of, integers);
}

void MultiplyMatrices(const DotGeometry& g, const Value& lhs, const Value& rhs, Value* out) {
  const auto a = lhs.As<Interval>(), b = rhs.As<Interval>();
  const auto c = out->MutableAs<Interval>();
  std::fill(c.begin(), c.end(), Interval{});
  for (int64_t row = 0; row < g.batch * g.m; ++row) {
    const int64_t matrix = row / std::max<int64_t>(g.m, 1);
    for (int64_t p = 0; p < g.k; ++p) {
      const Interval factor = a[static_cast<size_t>(row * g.k + p)];
      for (int64_t column = 0; column < g.n; ++column) {
        Interval& sum = c[static_cast<size_t>(row * g.n + column)];
        sum = Add(sum, Multiply(factor, b[static_cast<size_t>((matrix * g.k + p) * g.n + column)]));
      }
    }
  }
}

// Sums of at most `terms` products of the operands.
Value Products(const KernelCall& call, const std::vector<Value>& operands, Value sums,
               const Value& sizes, int64_t terms) {
  const ElementType type = call.shape->type;
  bool integers = true;
  int64_t roundings = terms + 1;
  for (const Value& operand : operands) {
    const bool narrowed = PrecisionBits(operand.shape()->type) > PrecisionBits(type);
    roundings += narrowed ? 1 : 0;  // it is rounded first
    integers = integers && !narrowed && AllIntegers(LiftToCodes(operand));
  }
  return AnyOrder(type, std::move(sums), sizes, [&](size_t) { return roundings; }, integers);
}

}  // namespace

Result<Value> ReduceIntervals(const ReduceGeometry& geometry, const Shape* shape, ScalarFn fn,
                              const Value& operand, const Value& init) {
  return FoldInAnyOrder(
      shape->type, fn, operand, init, [&](size_t) { return geometry.terms; },
      [&](const Value& input, const Value& start, Combiner& combiner) -> Result<Value> {
        HV_ASSIGN(std::vector<Value> results,
                  ReduceWith(geometry, {&input, 1}, {&start, 1}, {&shape, 1}, combiner));
        return results[0];
      });
}

Result<Value> ReduceWindowIntervals(std::span<const WindowDim> window, const Shape* shape,
                                    ScalarFn fn, const Value& operand, const Value& init) {
  int64_t terms = 1;
  for (const WindowDim& dimension : window) terms *= dimension.size;
  return FoldInAnyOrder(
      shape->type, fn, operand, init, [&](size_t) { return terms; },
      [&](const Value& input, const Value& start, Combiner& combiner) -> Result<Value> {
        HV_ASSIGN(std::vector<Value> results,
                  ReduceWindowWith(window, {&input, 1}, {&start, 1}, {&shape, 1}, combiner));
        return results[0];
      });
}

Result<Value> ScatterIntervals(const IndexPlan& plan, const Value& indices, const Shape* shape,
                               ScalarFn fn, const Value& operand, const Value& updates) {
  const auto scatter = [&](const Value& terms, const Value& start,
                           Combiner& combiner) -> Result<Value> {
    std::vector<Value> results = {Owned(start).WithShape(shape)};
    HV_RETURN_IF_ERROR(ScatterWith(plan, results, indices, {&terms, 1}, combiner));
    return results[0];
  };
  // How many updates meet each element.
  const auto all = [](const Value& like, double number) {
    Value value = Value::NewCode(like.shape(), sizeof(Interval));
    for (Interval& x : value.MutableAs<Interval>()) x = Interval::Point(number);
    return value;
  };
  IntervalCombiner sum(ScalarFn::kAdd);
  HV_ASSIGN(const Value counts, scatter(all(updates, 1), all(operand, 0), sum));
  return FoldInAnyOrder(
      shape->type, fn, updates, operand,
      [&](size_t i) { return static_cast<int64_t>(counts.As<Interval>()[i].high); }, scatter);
}

Result<Value> FoldIntervals(ScalarFn fn, std::vector<Value> values) {
  for (Value& value : values) value = LiftToCodes(value);
  IntervalCombiner combiner(fn);
  const bool product = fn == ScalarFn::kMultiply;
  Value result = Owned(values[0]), sizes = Owned(Sizes(values[0], product));
  const auto count = static_cast<size_t>(result.element_count());
  bool integers = AllIntegers(values[0]);
  for (size_t k = 1; k < values.size(); ++k) {
    const auto fold = [&](Value* into, const Value& value) {
      std::byte* to[1] = {into->MutableBytes().data()};
      const std::byte* from[1] = {value.bytes().data()};
      return combiner.Combine(to, from, count);
    };
    HV_RETURN_IF_ERROR(fold(&result, values[k]));
    HV_RETURN_IF_ERROR(fold(&sizes, Sizes(values[k], product)));
    integers = integers && AllIntegers(values[k]);
  }
  if (product) return AnyOrderProducts(result.shape()->type, result, sizes, integers);
  if (fn != ScalarFn::kAdd) return result;
  return AnyOrder(
      result.shape()->type, result, sizes, [&](size_t) { return std::ssize(values); }, integers);
}

bool SumsStayWhole(const Value& start, const Value& terms) {
  const Value a = LiftToCodes(start), b = LiftToCodes(terms);
  double size = 0;
  for (const Interval& x : a.As<Interval>()) size = std::max(size, x.Size());
  for (const Interval& x : b.As<Interval>()) size += x.Size();
  const bool integers = AllIntegers(a) && AllIntegers(b);
  return AnyOrderSum(start.shape()->type, {}, size, 1, integers).IsPoint();
}

Result<Value> ContractIntervals(const KernelCall& call, const std::vector<Value>& operands) {
  const Value a = LiftToCodes(operands[0]), b = LiftToCodes(operands[1]);
  const DotGeometry g = GeometryOfDot(call.instruction, *a.shape(), *b.shape());
  const Value lhs = ArrangeMatrices(a, g.lhs), rhs = ArrangeMatrices(b, g.rhs);
  Value sums = Value::NewCode(call.shape, sizeof(Interval));
  Value sizes = Value::NewCode(call.shape, sizeof(Interval));
  MultiplyMatrices(g, lhs, rhs, &sums);
  MultiplyMatrices(g, Sizes(lhs), Sizes(rhs), &sizes);
  return Products(call, operands, std::move(sums), sizes, g.k);
}

Result<Value> ConvolveIntervals(const KernelCall& call, const std::vector<Value>& operands) {
  const Value lhs = LiftToCodes(operands[0]), rhs = LiftToCodes(operands[1]);
  const auto convolve = [&](const Value& left, const Value& right) {
    const auto add_products = [](const std::byte* factor, const std::byte* row, std::byte* sums,
                                 size_t count) {
      const auto* in = reinterpret_cast<const Interval*>(row);
      auto* out = reinterpret_cast<Interval*>(sums);
      const Interval& x = *reinterpret_cast<const Interval*>(factor);
      for (size_t i = 0; i < count; ++i) out[i] = Add(out[i], Multiply(x, in[i]));
    };
    return ConvolveWith({call.instruction, call.shape, left, right}, add_products);
  };
  const ArrangedConvolution x(call.instruction, call.shape, lhs, rhs);
  const int64_t terms = rhs.element_count() / std::max<int64_t>(x.rhs_dims.back(), 1);
  return Products(call, operands, convolve(lhs, rhs), convolve(Sizes(lhs), Sizes(rhs)), terms);
}

}  // namespace hv
