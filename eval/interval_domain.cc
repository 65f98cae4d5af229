#include "eval/interval_domain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/code_algebra.h"
#include "eval/combiner.h"
#include "eval/convolution.h"
#include "eval/dot.h"
#include "eval/elementwise_call.h"
#include "eval/gather_scatter.h"
#include "eval/interval_scalar.h"
#include "eval/move.h"
#include "eval/native_kernels.h"
#include "eval/reduce.h"

namespace hv {
namespace {

bool AllNative(std::span<const Value> values) {
  return std::all_of(values.begin(), values.end(),
                     [](const Value& v) { return v.IsNative() || v.shape()->IsToken(); });
}

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

// Absolute values as points.
Value Sizes(const Value& intervals) {
  Value sizes = NewLike(intervals, intervals.shape());
  const auto in = intervals.As<Interval>();
  const auto out = sizes.MutableAs<Interval>();
  for (size_t i = 0; i < in.size(); ++i) out[i] = Interval::Point(in[i].Size());
  return sizes;
}

bool AllIntegers(const Value& intervals) {
  const auto all = intervals.As<Interval>();
  return std::all_of(all.begin(), all.end(),
                     [](const Interval& x) { return x.IsPoint() && x.low == std::floor(x.low); });
}

// `sums` of `terms` values each, with the sums of their sizes, made sums in any order.
Value AnyOrder(ElementType type, Value sums, const Value& sizes, int64_t terms, bool integers) {
  Value out = Owned(std::move(sums));
  const auto size = sizes.As<Interval>();
  const auto result = out.MutableAs<Interval>();
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = AnyOrderSum(type, result[i], size[i].high, terms, integers);
  }
  return out;
}

class IntervalDomain : public Domain {
 public:
  std::string_view name() const override { return "intervals"; }
  int code_bytes() const override { return sizeof(Interval); }

  Result<Value> Scalar(const KernelCall& call, std::vector<Value> operands) override {
    if (AllNative(operands)) return native_->Scalar(call, std::move(operands));
    return IntervalScalar(call, operands);
  }

  Result<Value> Reduce(const KernelCall& call, std::vector<Value> operands) override {
    if (AllNative(operands)) return native_->Reduce(call, std::move(operands));
    const ComputationIndex reducer = call.instruction.Computation(Attr::kToApply);
    const ScalarFn fn = RecognizeReducer(call.module, reducer).fn;
    if (operands.size() != 2 || !CanFold(fn)) return NotImplemented(call, "reducer");
    const ReduceGeometry geometry =
        GeometryOfReduce(*operands[0].shape(), call.instruction.Ints(Attr::kDimensions));
    const auto reduce = [&](const Value& input, const Value& init) -> Result<Value> {
      IntervalCombiner combiner(fn);
      HV_ASSIGN(std::vector<Value> results,
                ReduceWith(geometry, {&input, 1}, {&init, 1}, {&call.shape, 1}, combiner));
      return results[0];
    };
    const Value input = LiftToCodes(operands[0]), init = LiftToCodes(operands[1]);
    HV_ASSIGN(Value result, reduce(input, init));
    if (fn != ScalarFn::kAdd) return result;
    HV_ASSIGN(const Value sizes, reduce(Sizes(input), Sizes(init)));
    return AnyOrder(call.shape->type, std::move(result), sizes, geometry.terms,
                    AllIntegers(input) && AllIntegers(init));
  }

  Result<Value> Fold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                     bool accumulate_wide) override {
    if (AllNative(values)) {
      return native_->Fold(module, reducer, std::move(values), accumulate_wide);
    }
    const ScalarFn fn = RecognizeReducer(module, reducer).fn;
    if (!CanFold(fn)) {
      return Unsupported("unsupported-op", "reducer " + std::string(module.At(reducer).name));
    }
    for (Value& value : values) value = LiftToCodes(value);
    IntervalCombiner combiner(fn);
    Value result = Owned(values[0]), sizes = Owned(Sizes(values[0]));
    const auto count = static_cast<size_t>(result.element_count());
    bool integers = AllIntegers(values[0]);
    for (size_t k = 1; k < values.size(); ++k) {
      const auto fold = [&](Value* into, const Value& value) {
        std::byte* to[1] = {into->MutableBytes().data()};
        const std::byte* from[1] = {value.bytes().data()};
        return combiner.Combine(to, from, count);
      };
      HV_RETURN_IF_ERROR(fold(&result, values[k]));
      HV_RETURN_IF_ERROR(fold(&sizes, Sizes(values[k])));
      integers = integers && AllIntegers(values[k]);
    }
    if (fn != ScalarFn::kAdd) return result;
    return AnyOrder(result.shape()->type, result, sizes, static_cast<int64_t>(values.size()),
                    integers);
  }

  // Sums of products: each product is one more rounding.
  Result<Value> Contract(const KernelCall& call, std::vector<Value> operands) override {
    if (AllNative(operands)) return native_->Contract(call, std::move(operands));
    if (call.instruction.opcode != Opcode::kDot || operands.size() != 2 ||
        !IsFloat(call.shape->type)) {
      return NotImplemented(call);
    }
    const Value a = LiftToCodes(operands[0]), b = LiftToCodes(operands[1]);
    const DotGeometry g = GeometryOfDot(call.instruction, *a.shape(), *b.shape());
    const Value lhs = ArrangeMatrices(a, g.lhs), rhs = ArrangeMatrices(b, g.rhs);
    Value sums = Value::NewCode(call.shape, sizeof(Interval));
    Value sizes = Value::NewCode(call.shape, sizeof(Interval));
    MultiplyMatrices(g, lhs, rhs, &sums);
    MultiplyMatrices(g, Sizes(lhs), Sizes(rhs), &sizes);
    return AnyOrder(call.shape->type, std::move(sums), sizes, g.k + 1,
                    AllIntegers(a) && AllIntegers(b));
  }

  Result<Value> Gather(const KernelCall& call, std::vector<Value> operands) override {
    const std::optional<Value> indices = Concrete(operands[1]);
    if (!indices) return NotImplemented(call, "uncertain index");
    const IndexPlan plan =
        PlanGather(call.instruction, *operands[0].shape(), *indices->shape(), *call.shape);
    return GatherWith(plan, operands[0], IntegersOf(*indices), call.shape);
  }
  Result<Value> Map(const KernelCall& call, std::vector<Value> operands) override {
    if (AllNative(operands)) return native_->Map(call, std::move(operands));
    const Shape& shape = *operands[0].shape();
    HV_ASSIGN(std::vector<Value> results,
              CallElementwise(*this, call.module, call.instruction.Computation(Attr::kToApply),
                              shape.dims, std::move(operands)));
    return PackResults(call, std::move(results));
  }
  Result<Value> Move(const Shape* shape, const Pieces& pieces,
                     std::vector<Value> operands) override {
    if (!AllNative(operands)) {
      for (Value& operand : operands) operand = LiftToCodes(operand);
    }
    return MovePieces(shape, pieces, std::move(operands));
  }
  Result<Value> Scatter(const KernelCall& call, std::vector<Value> operands) override {
    if (AllNative(operands)) return native_->Scatter(call, std::move(operands));
    return NotImplemented(call);
  }
  Result<Value> Window(const KernelCall& call, std::vector<Value> operands) override {
    if (AllNative(operands)) return native_->Window(call, std::move(operands));
    return NotImplemented(call);
  }
  Result<Value> Opaque(const KernelCall& call, std::vector<Value> operands) override {
    if (AllNative(operands)) return native_->Opaque(call, std::move(operands));
    return NotImplemented(call);
  }

 private:
  static bool CanFold(ScalarFn fn) {
    return fn == ScalarFn::kAdd || fn == ScalarFn::kMaximum || fn == ScalarFn::kMinimum;
  }

  static void MultiplyMatrices(const DotGeometry& g, const Value& lhs, const Value& rhs,
                               Value* out) {
    const auto a = lhs.As<Interval>(), b = rhs.As<Interval>();
    const auto c = out->MutableAs<Interval>();
    std::fill(c.begin(), c.end(), Interval{});
    for (int64_t row = 0; row < g.batch * g.m; ++row) {
      const int64_t matrix = row / std::max<int64_t>(g.m, 1);
      for (int64_t p = 0; p < g.k; ++p) {
        const Interval factor = a[static_cast<size_t>(row * g.k + p)];
        for (int64_t column = 0; column < g.n; ++column) {
          Interval& sum = c[static_cast<size_t>(row * g.n + column)];
          sum =
              Add(sum, Multiply(factor, b[static_cast<size_t>((matrix * g.k + p) * g.n + column)]));
        }
      }
    }
  }

  std::unique_ptr<Domain> native_ = MakeNativeDomain();
};

}  // namespace

std::unique_ptr<Domain> MakeIntervalDomain() { return std::make_unique<IntervalDomain>(); }

Interval IntervalAt(const Value& value, int64_t element) {
  if (!value.IsNative()) return value.As<Interval>()[static_cast<size_t>(element)];
  return PointOf(value, element);
}

Value LiftToIntervals(const Value& native) {
  return IsFloat(native.shape()->type) ? LiftToCodes(native) : native;
}

}  // namespace hv
