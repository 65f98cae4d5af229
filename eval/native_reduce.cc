// reduce, collective folds and scatter on native values. Source: hlo_ops 3.7, 3.12, 4.3.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "eval/convert.h"
#include "eval/float_sum.h"
#include "eval/gather_scatter.h"
#include "eval/move.h"
#include "eval/narrow_floats.h"
#include "eval/native_kernels.h"
#include "eval/reduce.h"
#include "eval/scalar_op.h"

namespace hv {
namespace {

constexpr int64_t kBlock =
    4096;  // elements folded at a time: accumulator and operand stay in cache

bool IsFloatSum(const Module& module, ComputationIndex computation, ElementType type) {
  if (!IsFloat(type)) return false;
  const Reducer reducer = RecognizeReducer(module, computation);
  return reducer.fn == ScalarFn::kAdd && reducer.element == type;
}

// ((v0 op v1) op v2) .. of narrow floats in f32, rounded once.
Value FoldWide(ScalarFn fn, const std::vector<Value>& values, Value result) {
  const ElementType type = result.shape()->type;
  const ScalarOp op = *ScalarOp::Make(fn, ElementType::kF32);
  const auto width = static_cast<size_t>(result.element_bytes());
  std::vector<float> sum(kBlock), term(kBlock);
  std::byte* out = result.MutableBytes().data();
  for (int64_t at = 0; at < result.element_count(); at += kBlock) {
    const auto now = static_cast<size_t>(std::min(kBlock, result.element_count() - at));
    const size_t offset = static_cast<size_t>(at) * width;
    WidenFloats(type, out + offset, sum.data(), now);
    for (size_t i = 1; i < values.size(); ++i) {
      WidenFloats(type, values[i].bytes().data() + offset, term.data(), now);
      const std::byte* in[2] = {reinterpret_cast<const std::byte*>(sum.data()),
                                reinterpret_cast<const std::byte*>(term.data())};
      op.Run(in, reinterpret_cast<std::byte*>(sum.data()), now);
    }
    NarrowFloats(type, sum.data(), out + offset, now);
  }
  return result;
}

Result<Value> FoldNarrow(const std::vector<Value>& values, Value result, Combiner& combiner) {
  const auto width = static_cast<size_t>(result.element_bytes());
  std::byte* out = result.MutableBytes().data();
  for (int64_t at = 0; at < result.element_count(); at += kBlock) {
    const auto now = static_cast<size_t>(std::min(kBlock, result.element_count() - at));
    const size_t offset = static_cast<size_t>(at) * width;
    for (size_t i = 1; i < values.size(); ++i) {
      std::byte* accumulators[1] = {out + offset};
      const std::byte* terms[1] = {values[i].bytes().data() + offset};
      HV_RETURN_IF_ERROR(combiner.Combine(accumulators, terms, now));
    }
  }
  return result;
}

}  // namespace

Result<Value> NativeReduce(const KernelCall& call, std::vector<Value> operands, bool wide) {
  const size_t n = operands.size() / 2;
  const ComputationIndex reducer = call.instruction.Computation(Attr::kToApply);
  const std::vector<ElementType> types = ParameterTypes(call.module, reducer, n);
  std::vector<const Shape*> shapes;
  for (size_t k = 0; k < 2 * n; ++k) {
    HV_ASSIGN(operands[k], ConvertValue(call.module, operands[k], types[k % n]));
    if (k < n)
      shapes.push_back(call.module.context->shapes.WithType(*ResultShapes(call)[k], types[k]));
  }
  const ReduceGeometry geometry =
      GeometryOfReduce(*operands[0].shape(), call.instruction.Ints(Attr::kDimensions));
  std::vector<Value> results;
  if (wide && n == 1 && IsFloatSum(call.module, reducer, types[0])) {
    results.push_back(SumFloats(geometry, operands[0], operands[1], shapes[0]));
  } else {
    HV_ASSIGN(const auto combiner, MakeNativeCombiner(call.module, reducer, types));
    HV_ASSIGN(results, ReduceWith(geometry, std::span(operands).first(n),
                                  std::span(operands).subspan(n), shapes, *combiner));
  }
  for (size_t k = 0; k < n; ++k) {
    HV_ASSIGN(results[k], ConvertValue(call.module, results[k], ResultShapes(call)[k]->type));
    results[k] = results[k].WithShape(ResultShapes(call)[k]);
  }
  return PackResults(call, std::move(results));
}

Result<Value> NativeFold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                         bool accumulate_wide) {
  const Shape* shape = values[0].shape();
  const ElementType type = ParameterTypes(module, reducer, 1)[0];
  for (Value& v : values) {
    HV_ASSIGN(v, ConvertValue(module, v, type));
  }
  Value first = std::exchange(values[0], Value());
  first = Owned(std::move(first));
  const Reducer known = RecognizeReducer(module, reducer);
  const bool rounds = known.fn == ScalarFn::kAdd || known.fn == ScalarFn::kMultiply;
  if (accumulate_wide && rounds && IsNarrowFloat(type)) {
    first = FoldWide(known.fn, values, std::move(first));
  } else {
    const ElementType types[1] = {type};
    HV_ASSIGN(const auto combiner, MakeNativeCombiner(module, reducer, types));
    HV_ASSIGN(first, FoldNarrow(values, std::move(first), *combiner));
  }
  HV_ASSIGN(first, ConvertValue(module, first, shape->type));
  return first.WithShape(shape);
}

Result<Value> NativeScatter(const KernelCall& call, std::vector<Value> operands) {
  const size_t n = (operands.size() - 1) / 2;
  const ComputationIndex body = call.instruction.Computation(Attr::kToApply);
  const IndexPlan plan = PlanScatter(call.instruction, *operands[0].shape(), *operands[n].shape(),
                                     *operands[n + 1].shape());
  std::vector<Value> results;
  std::vector<ElementType> types;
  for (size_t k = 0; k < n; ++k) {
    types.push_back(operands[k].shape()->type);
    results.push_back(Owned(std::exchange(operands[k], Value())).WithShape(ResultShapes(call)[k]));
    HV_ASSIGN(operands[n + 1 + k], ConvertValue(call.module, operands[n + 1 + k], types[k]));
  }
  HV_ASSIGN(const auto combiner, MakeNativeCombiner(call.module, body, types));
  HV_RETURN_IF_ERROR(ScatterWith(plan, results, IntegersOf(operands[n]),
                                 std::span(operands).subspan(n + 1), *combiner));
  return PackResults(call, std::move(results));
}

}  // namespace hv
