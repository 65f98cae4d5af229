// reduce-window, select-and-scatter and convolution of native values.
#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>

#include "eval/convert.h"
#include "eval/convolution.h"
#include "eval/elementwise_call.h"
#include "eval/native_kernels.h"
#include "eval/scalar_op.h"
#include "eval/scalar_program.h"
#include "eval/window.h"

namespace hv {
namespace {

Result<Value> ReduceWindow(const KernelCall& call, std::vector<Value> operands) {
  const size_t n = operands.size() / 2;
  const ComputationIndex reducer = call.instruction.Computation(Attr::kToApply);
  const std::vector<ElementType> types = ParameterTypes(call.module, reducer, n);
  std::vector<const Shape*> shapes;
  for (size_t k = 0; k < 2 * n; ++k) {
    HV_ASSIGN(operands[k], ConvertValue(call.module, operands[k], types[k % n]));
    if (k < n) {
      shapes.push_back(call.module.context->shapes.WithType(*ResultShapes(call)[k], types[k]));
    }
  }
  const std::vector<WindowDim> window =
      WindowOf(call.instruction.List<WindowDim>(Attr::kWindow), operands[0].shape()->dims.size());
  HV_ASSIGN(const auto combiner, MakeNativeCombiner(call.module, reducer, types));
  HV_ASSIGN(std::vector<Value> results,
            ReduceWindowWith(window, std::span(operands).first(n), std::span(operands).subspan(n),
                             shapes, *combiner));
  for (size_t k = 0; k < n; ++k) {
    HV_ASSIGN(results[k], ConvertValue(call.module, results[k], ResultShapes(call)[k]->type));
    results[k] = results[k].WithShape(ResultShapes(call)[k]);
  }
  return PackResults(call, std::move(results));
}

// The element each window keeps: -1 where the window lies in padding alone.
Result<std::vector<int64_t>> SelectElements(const KernelCall& call, const Value& given,
                                            const Value& source) {
  HV_ASSIGN(ScalarProgram select,
            ScalarProgram::Compile(call.module, call.instruction.Computation(Attr::kSelect)));
  HV_ASSIGN(const Value operand, ConvertValue(call.module, given, select.parameter_types()[0]));
  const std::vector<WindowDim> window =
      WindowOf(call.instruction.List<WindowDim>(Attr::kWindow), operand.shape()->dims.size());
  const WindowWalk walk(window, operand.shape()->dims, source.shape()->dims);
  const auto width = static_cast<size_t>(operand.element_bytes());
  const std::byte* elements = operand.bytes().data();
  std::vector<int64_t> kept(static_cast<size_t>(source.element_count()), -1);
  HV_RETURN_IF_ERROR(walk.ForEachRow([&](const WindowWalk::Row& row) -> Status {
    for (const WindowHit& hit : row.hits) {
      int64_t& keep = kept[static_cast<size_t>(row.output + hit.output)];
      const int64_t current = row.input + hit.input;
      uint8_t stays = 0;
      if (keep >= 0) {
        const std::byte* in[2] = {elements + static_cast<size_t>(keep) * width,
                                  elements + static_cast<size_t>(current) * width};
        std::byte* out[1] = {reinterpret_cast<std::byte*>(&stays)};
        select.Run(in, out, 1);
      }
      if (stays == 0) keep = current;
    }
    return {};
  }));
  return kept;
}

Result<Value> SelectAndScatter(const KernelCall& call, const std::vector<Value>& operands) {
  const Value& operand = operands[0];
  // Floats of other widths are taken to the type of the result.
  HV_ASSIGN(const Value source, ConvertValue(call.module, operands[1], call.shape->type));
  HV_ASSIGN(const Value init, ConvertValue(call.module, operands[2], call.shape->type));
  Value result = Spread(init, call.shape);
  if (operand.element_count() == 0 || source.element_count() == 0) return result;
  HV_ASSIGN(const std::vector<int64_t> kept, SelectElements(call, operand, source));
  const ElementType types[1] = {call.shape->type};
  // XLA's evaluator passes the source value first.
  HV_ASSIGN(const auto scatter,
            MakeNativeCombiner(call.module, call.instruction.Computation(Attr::kScatter), types,
                               ReducerOrder::kValueFirst));
  const auto width = static_cast<size_t>(result.element_bytes());
  std::byte* out = result.MutableBytes().data();
  for (size_t o = 0; o < kept.size(); ++o) {
    if (kept[o] < 0) continue;
    std::byte* into[1] = {out + static_cast<size_t>(kept[o]) * width};
    const std::byte* value[1] = {source.bytes().data() + o * width};
    HV_RETURN_IF_ERROR(scatter->Combine(into, value, 1));
  }
  return result;
}

template <class T>
void MultiplyAdd(const std::byte* factor, const std::byte* row, std::byte* sums, size_t count) {
  const T f = *reinterpret_cast<const T*>(factor);
  const T* from = reinterpret_cast<const T*>(row);
  T* to = reinterpret_cast<T*>(sums);
  for (size_t i = 0; i < count; ++i) to[i] += f * from[i];
}

// The type in which sums run: integers in 64 bits (unsigned arithmetic wraps, bits are the same).
ElementType SumType(ElementType type) {
  if (IsInteger(type)) return IsSigned(type) ? ElementType::kS64 : ElementType::kU64;
  return IsNarrowFloat(type) ? ElementType::kF32 : type;
}

Value Convolve(const ArrangedConvolution& x, ElementType sum_type) {
  if (sum_type == ElementType::kC64) return ConvolveWith(x, MultiplyAdd<std::complex<float>>);
  if (sum_type == ElementType::kC128) return ConvolveWith(x, MultiplyAdd<std::complex<double>>);
  return ConvolveByTiles(x);
}

// XLA's evaluator saturates integer convolutions of 8 bits and more.
void Saturate(ElementType type, Value* sums) {
  const int width = BitWidth(type);
  if (width < 8 || width == 64) return;
  if (IsSigned(type)) {
    const int64_t top = (int64_t{1} << (width - 1)) - 1;
    for (int64_t& s : sums->MutableAs<int64_t>()) s = std::clamp(s, -top - 1, top);
  } else {
    const uint64_t top = (uint64_t{1} << width) - 1;
    for (uint64_t& s : sums->MutableAs<uint64_t>()) s = std::min(s, top);
  }
}

Result<Value> Convolution(const KernelCall& call, const std::vector<Value>& operands) {
  if (!IsForward(call.instruction)) return NotImplemented(call, "a back end's backward kind");
  const ElementType type = call.shape->type, sum_type = SumType(type);
  if (IsPred(type)) return NotImplemented(call, "element type");
  Value sides[2];
  for (size_t k = 0; k < 2; ++k) {
    HV_ASSIGN(sides[k], ConvertValue(call.module, operands[k], type));
    HV_ASSIGN(sides[k], ConvertValue(call.module, sides[k], sum_type));
  }
  const Shape* sum_shape = call.module.context->shapes.WithType(*call.shape, sum_type);
  Value sums = Convolve({call.instruction, sum_shape, sides[0], sides[1]}, sum_type);
  if (IsInteger(type)) Saturate(type, &sums);
  HV_ASSIGN(sums, ConvertValue(call.module, sums, type));
  return sums.WithShape(call.shape);
}

}  // namespace

Result<Value> NativeWindow(const KernelCall& call, std::vector<Value> operands) {
  switch (call.instruction.opcode) {
    case Opcode::kReduceWindow:
      return ReduceWindow(call, std::move(operands));
    case Opcode::kSelectAndScatter:
      return SelectAndScatter(call, operands);
    case Opcode::kConvolution:
      return Convolution(call, operands);
    default:
      return NotImplemented(call);
  }
}

}  // namespace hv
