// The kernel kinds over codes. What is native alone is evaluated natively; indices must be.
#include "eval/code_domain.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "eval/code_combiner.h"
#include "eval/code_repeats.h"
#include "eval/code_scalar.h"
#include "eval/convolution.h"
#include "eval/dot.h"
#include "eval/elementwise_call.h"
#include "eval/gather_scatter.h"
#include "eval/keyed_hash.h"
#include "eval/move.h"
#include "eval/native_kernels.h"
#include "eval/op_hash.h"
#include "eval/reduce.h"
#include "eval/window.h"

namespace hv {
namespace {

tl::unexpected<Error> DataDependentIndex(const KernelCall& call) {
  return NotImplemented(call, "data-dependent index");
}

}  // namespace

bool AllNative(std::span<const Value> values) {
  return std::all_of(values.begin(), values.end(), [](const Value& v) {
    if (v.shape()->IsTuple()) return AllNative(v.elements());
    return v.IsNative() || v.shape()->IsToken();
  });
}

CodeDomain::CodeDomain(std::unique_ptr<CodeAlgebra> algebra)
    : algebra_(std::move(algebra)), native_(MakeNativeDomain()) {}

std::unique_ptr<CodeDomain> MakeFieldDomain(uint64_t seed) {
  return std::make_unique<CodeDomain>(MakeFieldAlgebra(seed));
}
std::unique_ptr<CodeDomain> MakeGrossFieldDomain(uint64_t seed) {
  return std::make_unique<CodeDomain>(MakeFieldAlgebra(seed, true));
}
std::unique_ptr<CodeDomain> MakeWrapDomain(uint64_t seed) {
  return std::make_unique<CodeDomain>(MakeWrapAlgebra(seed));
}
std::unique_ptr<CodeDomain> MakeMagnitudeDomain() {
  return std::make_unique<CodeDomain>(MakeMagnitudeAlgebra());
}

std::unique_ptr<CodeDomain> MakeSetDomain() {
  return std::make_unique<CodeDomain>(MakeSetAlgebra());
}

Value CodeDomain::EncodeLeaf(const Shape* shape, const LeafFn& word) const {
  Value codes = NewCodes(shape);
  std::byte* out = codes.MutableBytes().data();
  for (int64_t i = 0; i < shape->element_count; ++i) {
    algebra_->Encode({word(i, 0), word(i, 1)}, out + i * code_bytes());
  }
  return codes;
}

std::array<uint64_t, 2> CodeDomain::CodeAt(const Value& value, int64_t element) const {
  return algebra_->Decode(value.bytes().data() + element * value.element_bytes());
}

Value CodeDomain::Lift(const Value& value) const {
  if (value.shape()->IsTuple()) {
    std::vector<Value> elements;
    for (const Value& element : value.elements()) elements.push_back(Lift(element));
    return Value::Tuple(value.shape(), std::move(elements));
  }
  if (!value.IsNative()) return value;
  Value codes = NewCodes(value.shape());
  algebra_->Lift(value.shape()->type, value.bytes().data(),
                 static_cast<size_t>(value.element_count()), codes.MutableBytes().data());
  return codes;
}

Value CodeDomain::Finish(const Value& value) const {
  if (value.shape()->IsTuple()) {
    std::vector<Value> elements;
    for (const Value& element : value.elements()) elements.push_back(Finish(element));
    return Value::Tuple(value.shape(), std::move(elements));
  }
  if (!value.IsDense()) return value;
  const Value lifted = Lift(value);
  Value out = NewCodes(value.shape());
  algebra_->Finish(value.shape()->type, lifted.bytes().data(), out.MutableBytes().data(),
                   static_cast<size_t>(value.element_count()));
  return out;
}

void CodeDomain::LiftAll(std::vector<Value>* values) const {
  for (Value& v : *values) v = Lift(v);
}

Value CodeDomain::LiftInit(ScalarFn fn, const Value& init) const {
  Value code = Lift(init);
  if (!init.IsNative() || !IsFreeOp(fn) ||
      !IsIdentityOf(fn, init.shape()->type, init.bytes().data(), 0)) {
    return code;
  }
  algebra_->Empty(fn, code.MutableBytes().data(), 1);
  return code;
}

Result<Value> CodeDomain::Scalar(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Scalar(call, std::move(operands));
  return CodeScalar(*this, call).Evaluate(std::move(operands));
}

Result<Value> CodeDomain::Reduce(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Reduce(call, std::move(operands));
  const size_t n = operands.size() / 2;
  CodeCombiner combiner(
      *this, call.module, call.instruction.Computation(Attr::kToApply),
      ParameterTypes(call.module, call.instruction.Computation(Attr::kToApply), n));
  std::vector<Value> inits;
  for (size_t k = 0; k < n; ++k) {
    operands[k] = Lift(operands[k]);
    inits.push_back(LiftInit(combiner.fn(), operands[n + k]));
  }
  const ReduceGeometry geometry =
      GeometryOfReduce(*operands[0].shape(), call.instruction.Ints(Attr::kDimensions));
  if (IsFreeOp(combiner.fn())) {
    DropRepeatsAlong(*algebra_, combiner.fn(), geometry, &operands[0]);
  }
  HV_ASSIGN(std::vector<Value> results, ReduceWith(geometry, std::span(operands).first(n), inits,
                                                   ResultShapes(call), combiner));
  return PackResults(call, std::move(results));
}

Result<Value> CodeDomain::Fold(const Module& module, ComputationIndex reducer,
                               std::vector<Value> values, bool accumulate_wide) {
  if (AllNative(values)) return native_->Fold(module, reducer, std::move(values), accumulate_wide);
  LiftAll(&values);
  if (values.size() == 1) return values[0];
  CodeCombiner combiner(*this, module, reducer, ParameterTypes(module, reducer, 1));
  if (IsFreeOp(combiner.fn())) DropRepeatsAcross(*algebra_, combiner.fn(), &values);
  Value result = NewCodes(values[0].shape());
  if (result.bytes().empty()) return result;
  std::memcpy(result.MutableBytes().data(), values[0].bytes().data(), result.bytes().size());
  std::byte* accumulators[1] = {result.MutableBytes().data()};
  for (size_t i = 1; i < values.size(); ++i) {
    const std::byte* terms[1] = {values[i].bytes().data()};
    HV_RETURN_IF_ERROR(
        combiner.Combine(accumulators, terms, static_cast<size_t>(result.element_count())));
  }
  return result;
}

Result<Value> CodeDomain::Gather(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Gather(call, std::move(operands));
  if (!operands[1].IsNative()) return DataDependentIndex(call);
  const IndexPlan plan =
      PlanGather(call.instruction, *operands[0].shape(), *operands[1].shape(), *call.shape);
  return GatherWith(plan, operands[0], operands[1], call.shape);
}

Result<Value> CodeDomain::Scatter(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Scatter(call, std::move(operands));
  const size_t n = (operands.size() - 1) / 2;
  if (!operands[n].IsNative()) return DataDependentIndex(call);
  const ComputationIndex body = call.instruction.Computation(Attr::kToApply);
  CodeCombiner combiner(*this, call.module, body, ParameterTypes(call.module, body, n));
  const IndexPlan plan = PlanScatter(call.instruction, *operands[0].shape(), *operands[n].shape(),
                                     *operands[n + 1].shape());
  std::vector<Value> results, updates;
  for (size_t k = 0; k < n; ++k) {
    const Value operand = std::exchange(operands[k], Value());
    results.push_back(Owned(Lift(operand)).WithShape(ResultShapes(call)[k]));
    updates.push_back(Lift(operands[n + 1 + k]));
  }
  HV_RETURN_IF_ERROR(ScatterWith(plan, results, operands[n], updates, combiner));
  return PackResults(call, std::move(results));
}

Result<Value> CodeDomain::Contract(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Contract(call, std::move(operands));
  if (call.instruction.opcode != Opcode::kDot || IsPred(call.shape->type)) {
    return ByPosition(call, operands);
  }
  trace_.products |= !operands[0].IsNative() && !operands[1].IsNative();
  LiftAll(&operands);
  const DotGeometry g = GeometryOfDot(call.instruction, *operands[0].shape(), *operands[1].shape());
  const Value lhs = ArrangeMatrices(operands[0], g.lhs), rhs = ArrangeMatrices(operands[1], g.rhs);
  Value out = NewCodes(call.shape);
  if (out.bytes().empty()) return out;
  std::memset(out.MutableBytes().data(), 0, out.bytes().size());
  const int64_t width = code_bytes();
  for (int64_t i = 0; i < g.batch; ++i) {
    algebra_->MatrixMultiply(g.m, g.n, g.k, lhs.bytes().data() + i * g.m * g.k * width,
                             rhs.bytes().data() + i * g.k * g.n * width,
                             out.MutableBytes().data() + i * g.m * g.n * width);
  }
  return out;
}

Result<Value> CodeDomain::Window(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Window(call, std::move(operands));
  if (call.instruction.opcode == Opcode::kReduceWindow) {
    return ReduceWindow(call, std::move(operands));
  }
  if (call.instruction.opcode != Opcode::kConvolution || IsPred(call.shape->type) ||
      !IsForward(call.instruction)) {
    return ByPosition(call, operands);
  }
  trace_.products |= !operands[0].IsNative() && !operands[1].IsNative();
  LiftAll(&operands);
  return ConvolveWith({call.instruction, call.shape, operands[0], operands[1]},
                      [this](const std::byte* factor, const std::byte* row, std::byte* sums,
                             size_t count) { algebra_->MultiplyAdd(factor, row, sums, count); });
}

Result<Value> CodeDomain::ReduceWindow(const KernelCall& call, std::vector<Value> operands) {
  const size_t n = operands.size() / 2;
  const ComputationIndex reducer = call.instruction.Computation(Attr::kToApply);
  CodeCombiner combiner(*this, call.module, reducer, ParameterTypes(call.module, reducer, n));
  std::vector<Value> inits;
  for (size_t k = 0; k < n; ++k) {
    operands[k] = Lift(operands[k]);
    inits.push_back(LiftInit(combiner.fn(), operands[n + k]));
  }
  const std::vector<WindowDim> window =
      WindowOf(call.instruction.List<WindowDim>(Attr::kWindow), operands[0].shape()->dims.size());
  HV_ASSIGN(std::vector<Value> results, ReduceWindowWith(window, std::span(operands).first(n),
                                                         inits, ResultShapes(call), combiner));
  return PackResults(call, std::move(results));
}

Result<Value> CodeDomain::Opaque(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands) || IsAnnotation(call.instruction)) {
    return native_->Opaque(call, std::move(operands));
  }
  return ByPosition(call, operands);
}

Result<Value> CodeDomain::Map(const KernelCall& call, std::vector<Value> operands) {
  if (AllNative(operands)) return native_->Map(call, std::move(operands));
  const Shape& shape = *operands[0].shape();
  HV_ASSIGN(std::vector<Value> results,
            CallElementwise(*this, call.module, call.instruction.Computation(Attr::kToApply),
                            shape.dims, std::move(operands)));
  for (size_t k = 0; k < results.size(); ++k) {
    results[k] = Lift(results[k]).WithShape(ResultShapes(call)[k]);
  }
  return PackResults(call, std::move(results));
}

Result<Value> CodeDomain::Move(const Shape* shape, const Pieces& pieces,
                               std::vector<Value> operands) {
  if (AllNative(operands)) return MovePieces(shape, pieces, std::move(operands));
  LiftAll(&operands);
  return MovePieces(shape, pieces, std::move(operands));
}

Result<Value> CodeDomain::ElidedConstant(const Instruction& constant) {
  if (!constant.shape->IsArray()) return Domain::ElidedConstant(constant);
  Value codes = NewCodes(constant.shape);
  for (int64_t i = 0; i < constant.shape->element_count; ++i) {
    KeyedHash key(static_cast<uint64_t>(i));
    key.Add(constant.name).Add(ToString(*constant.shape, false));
    algebra_->Function({key.First(), key.Second()}, {},
                       codes.MutableBytes().data() + i * code_bytes(), 1);
  }
  return codes;
}

Value CodeDomain::ByPosition(const KernelCall& call, std::span<const Value> operands) {
  trace_.functions = true;
  KeyedHash digest(HashOfOp(call.module, call.instruction));
  for (const Value& operand : operands) {
    const Value finished = Finish(operand);
    for (const Value& leaf : Leaves(finished)) {
      digest.Add({reinterpret_cast<const char*>(leaf.bytes().data()), leaf.bytes().size()});
    }
  }
  std::vector<Value> results;
  for (const Shape* shape : ResultShapes(call)) {
    Value out = NewCodes(shape);
    std::byte* codes = out.MutableBytes().data();
    for (int64_t i = 0; i < shape->element_count; ++i) {
      KeyedHash element = digest;
      element.Add(results.size()).Add(static_cast<uint64_t>(i));
      algebra_->Function({element.First(), element.Second()}, {}, codes + i * code_bytes(), 1);
    }
    results.push_back(std::move(out));
  }
  return PackResults(call, std::move(results));
}

}  // namespace hv
