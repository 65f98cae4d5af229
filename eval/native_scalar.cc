// Elementwise ops and map on native values. Source: hlo_ops sections 0, 2 and 3.6.
#include <algorithm>
#include <string>
#include <utility>

#include "eval/convert.h"
#include "eval/elementwise_call.h"
#include "eval/native_kernels.h"
#include "eval/scalar_op.h"
#include "eval/scalar_program.h"

namespace hv {
namespace {

// Float operands of another precision than the op's are converted first: verifiers let them pass.
Status UnifyFloats(const KernelCall& call, ScalarFn fn, std::vector<Value>* operands) {
  if (fn == ScalarFn::kConvert) return {};
  ElementType type = call.shape->type;
  if (!IsFloat(type)) {  // compare, complex: the widest operand decides
    for (const Value& v : *operands) {
      if (IsFloat(v.shape()->type) &&
          (!IsFloat(type) || BitWidth(v.shape()->type) > BitWidth(type)))
        type = v.shape()->type;
    }
  }
  for (Value& v : *operands) {
    if (!IsFloat(v.shape()->type) || !IsFloat(type)) continue;
    HV_ASSIGN(v, ConvertValue(call.module, v, type));
  }
  return {};
}

// Runs `op` over all elements, in the storage of an operand that nobody else needs if one fits.
Value RunElementwise(const ScalarOp& op, const Shape* shape, std::vector<Value> operands) {
  const std::byte* in[3] = {};
  for (size_t i = 0; i < operands.size(); ++i) in[i] = operands[i].bytes().data();
  const std::span<const std::byte* const> inputs(in, operands.size());
  const auto reusable = std::find_if(operands.begin(), operands.end(), [&](const Value& v) {
    return v.IsUnique() && v.element_bytes() == HostBytes(shape->type) &&
           v.element_count() == shape->element_count;
  });
  Value result = reusable == operands.end() ? Value::NewNative(shape)
                                            : std::exchange(*reusable, Value()).WithShape(shape);
  op.Run(inputs, result.MutableBytes().data(), static_cast<size_t>(shape->element_count));
  return result;
}

}  // namespace

Result<Value> NativeScalar(const KernelCall& call, std::vector<Value> operands) {
  const ScalarFn fn = Definition(call.instruction).scalar;
  if (fn == ScalarFn::kBitcastConvert) return BitcastConvertValue(operands[0], call.shape);
  if (fn == ScalarFn::kStochasticConvert) return NativeStochasticConvert(call, operands);
  HV_RETURN_IF_ERROR(UnifyFloats(call, fn, &operands));
  if (fn == ScalarFn::kSelect && operands[0].shape()->IsScalar() && !call.shape->IsScalar()) {
    return operands[operands[0].As<uint8_t>()[0] != 0 ? 1 : 2].WithShape(call.shape);
  }
  if (fn == ScalarFn::kClamp) {
    for (const size_t bound : {size_t{0}, size_t{2}}) {
      if (SameDims(*operands[bound].shape(), *call.shape)) continue;
      operands[bound] = Spread(operands[bound], call.shape);
    }
  }
  std::vector<ElementType> types;
  for (const Value& v : operands) types.push_back(v.shape()->type);
  HV_ASSIGN(const ScalarOp op, ScalarOp::Make(call.instruction, call.shape->type, types));
  return RunElementwise(op, call.shape, std::move(operands));
}

Result<Value> NativeMap(const KernelCall& call, std::vector<Value> operands) {
  HV_ASSIGN(ScalarProgram program,
            ScalarProgram::Compile(call.module, call.instruction.Computation(Attr::kToApply)));
  std::vector<const std::byte*> in;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].shape()->type != program.parameter_types()[k]) {
      HV_ASSIGN(operands[k], ConvertValue(call.module, operands[k], program.parameter_types()[k]));
    }
    in.push_back(operands[k].bytes().data());
  }
  std::vector<Value> results;
  std::vector<std::byte*> out;
  ShapeTable& shapes = call.module.context->shapes;
  for (size_t k = 0; k < ResultShapes(call).size(); ++k) {
    results.push_back(
        Value::NewNative(shapes.WithType(*ResultShapes(call)[k], program.result_types()[k])));
    out.push_back(results.back().MutableBytes().data());
  }
  program.Run(in, out, static_cast<size_t>(operands[0].element_count()));
  for (size_t k = 0; k < results.size(); ++k) {
    const Shape* const shape = ResultShapes(call)[k];
    HV_ASSIGN(const Value converted, ConvertValue(call.module, results[k], shape->type));
    results[k] = converted.WithShape(shape);
  }
  return PackResults(call, std::move(results));
}

}  // namespace hv
