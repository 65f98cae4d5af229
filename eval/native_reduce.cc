// reduce, collective folds and scatter on native values. Source: hlo_ops 3.7, 3.12, 4.3.
#include <utility>

#include "eval/convert.h"
#include "eval/float_sum.h"
#include "eval/gather_scatter.h"
#include "eval/move.h"
#include "eval/native_kernels.h"
#include "eval/reduce.h"
#include "eval/stream_fold.h"

namespace hv {
namespace {

bool IsFloatSum(const Module& module, ComputationIndex computation, ElementType type) {
  if (!IsFloat(type)) return false;
  const Reducer reducer = RecognizeReducer(module, computation);
  return reducer.fn == ScalarFn::kAdd && reducer.element == type;
}

// A float whose values `wide` holds exactly: a sum may widen it as it reads.
bool IsNarrower(ElementType type, ElementType wide) {
  return IsFloat(type) && BitWidth(type) < BitWidth(wide) &&
         (wide == ElementType::kF32 || wide == ElementType::kF64);
}

}  // namespace

Result<Value> NativeReduce(const KernelCall& call, std::vector<Value> operands, bool wide) {
  const size_t n = operands.size() / 2;
  const ComputationIndex reducer = call.instruction.Computation(Attr::kToApply);
  const std::vector<ElementType> types = ParameterTypes(call.module, reducer, n);
  const bool sums = wide && n == 1 && IsFloatSum(call.module, reducer, types[0]);
  std::vector<const Shape*> shapes;
  for (size_t k = 0; k < 2 * n; ++k) {
    if (k >= n || !sums || !IsNarrower(operands[k].shape()->type, types[k])) {
      HV_ASSIGN(operands[k], ConvertValue(call.module, operands[k], types[k % n]));
    }
    if (k < n)
      shapes.push_back(call.module.context->shapes.WithType(*ResultShapes(call)[k], types[k]));
  }
  const ReduceGeometry geometry =
      GeometryOfReduce(*operands[0].shape(), call.instruction.Ints(Attr::kDimensions));
  std::vector<Value> results;
  if (sums) {
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
  HV_ASSIGN(const StreamFold fold, StreamFold::Make(module, reducer, type, accumulate_wide));
  std::vector<const std::byte*> streams;
  for (Value& v : values) {
    HV_ASSIGN(v, ConvertValue(module, v, type));
    streams.push_back(v.bytes().data());
  }
  Value result = values[0].IsUnique() ? std::exchange(values[0], Value())
                                      : NewLike(values[0], values[0].shape());
  fold.Run(streams, result.MutableBytes().data(), static_cast<size_t>(result.element_count()));
  HV_ASSIGN(result, ConvertValue(module, result, shape->type));
  return result.WithShape(shape);
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
  HV_RETURN_IF_ERROR(ScatterWith(plan, results, operands[n], std::span(operands).subspan(n + 1),
                                 *combiner));
  return PackResults(call, std::move(results));
}

}  // namespace hv
