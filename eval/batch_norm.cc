// batch-norm-* as XLA expands them, every step rounded in the element type. Source: hlo_ops 3.17.
#include <utility>

#include "eval/convert.h"
#include "eval/elementwise_call.h"
#include "eval/float_sum.h"
#include "eval/move.h"
#include "eval/native_opaque.h"
#include "eval/scalar_op.h"

namespace hv {
namespace {

// Arithmetic on arrays of the operand's shape and on vectors with one element per feature.
class Arithmetic {
 public:
  Arithmetic(const KernelCall& call, const Value& x)
      : module_(call.module),
        full_(x.shape()),
        type_(x.shape()->type),
        feature_(static_cast<size_t>(call.instruction.Int(Attr::kFeatureIndex, 0))),
        epsilon_(0) {
    const Attribute* epsilon = call.instruction.Find(Attr::kEpsilon);
    if (epsilon != nullptr) epsilon_ = epsilon->real;
    for (size_t d = 0; d < full_->dims.size(); ++d) {
      if (d != feature_) others_.push_back(static_cast<int64_t>(d));
    }
    const int64_t features = full_->dims[feature_];
    vector_ = module_.context->shapes.Array(type_, {features});
    count_ = features == 0 ? 0 : full_->element_count / features;
  }

  // Operands of one shape each, or a vector broadcast over the full shape.
  Value Apply(ScalarFn fn, const Value& x, const Value& y) const {
    const Shape* shape = x.shape()->rank() >= y.shape()->rank() ? x.shape() : y.shape();
    const Value a = OnShape(x, shape), b = OnShape(y, shape);
    Value out = Value::NewNative(shape);
    const std::byte* in[2] = {a.bytes().data(), b.bytes().data()};
    ScalarOp::Make(fn, type_)->Run(in, out.MutableBytes().data(),
                                   static_cast<size_t>(shape->element_count));
    return out;
  }
  Value Add(const Value& x, const Value& y) const { return Apply(ScalarFn::kAdd, x, y); }
  Value Subtract(const Value& x, const Value& y) const { return Apply(ScalarFn::kSubtract, x, y); }
  Value Multiply(const Value& x, const Value& y) const { return Apply(ScalarFn::kMultiply, x, y); }
  Value Divide(const Value& x, const Value& y) const { return Apply(ScalarFn::kDivide, x, y); }
  Value Rsqrt(const Value& x) const {
    Value out = Value::NewNative(x.shape());
    const std::byte* in[1] = {x.bytes().data()};
    ScalarOp::Make(ScalarFn::kRsqrt, type_)
        ->Run(in, out.MutableBytes().data(), static_cast<size_t>(x.element_count()));
    return out;
  }
  // Per feature, over all other dimensions.
  Value Sum(const Value& x) const {
    return SumFloats(GeometryOfReduce(*x.shape(), others_), x,
                     Number(0, module_.context->shapes.Scalar(type_)), vector_);
  }
  Value Count() const { return Number(static_cast<double>(count_), vector_); }
  Value Epsilon() const { return Number(epsilon_, vector_); }

 private:
  Value Number(double number, const Shape* shape) const {
    ShapeTable& shapes = module_.context->shapes;
    Value scalar = Value::NewNative(shapes.Scalar(ElementType::kF64));
    scalar.MutableAs<double>()[0] = number;
    return Spread(*ConvertValue(module_, scalar, type_), shape);
  }

  Value OnShape(const Value& value, const Shape* shape) const {
    if (value.element_count() == shape->element_count && value.shape()->rank() == shape->rank()) {
      return value;
    }
    const std::vector<int64_t> strides = RowMajorStrides(full_->dims);
    Piece piece;
    for (size_t d = 0; d < full_->dims.size(); ++d) {
      piece.digits.push_back({full_->dims[d], d == feature_ ? 1 : 0, strides[d]});
    }
    Normalize(&piece);
    Pieces pieces;
    if (full_->element_count > 0) pieces.push_back(piece);
    return MovePieces(full_, pieces, {value});
  }

  const Module& module_;
  const Shape* full_;
  const Shape* vector_ = nullptr;
  ElementType type_;
  size_t feature_;
  double epsilon_;
  int64_t count_ = 0;
  std::vector<int64_t> others_;
};

std::vector<Value> Training(const Arithmetic& c, const std::vector<Value>& o) {
  const Value &x = o[0], &scale = o[1], &offset = o[2];
  const Value mean = c.Divide(c.Sum(x), c.Count());
  const Value square = c.Divide(c.Sum(c.Multiply(x, x)), c.Count());
  const Value variance = c.Subtract(square, c.Multiply(mean, mean));
  const Value normal = c.Multiply(c.Subtract(x, mean), c.Rsqrt(c.Add(variance, c.Epsilon())));
  return {c.Add(c.Multiply(normal, scale), offset), mean, variance};
}

std::vector<Value> Inference(const Arithmetic& c, const std::vector<Value>& o) {
  const Value &x = o[0], &scale = o[1], &offset = o[2], &mean = o[3], &variance = o[4];
  const Value a = c.Multiply(scale, c.Rsqrt(c.Add(variance, c.Epsilon())));
  return {c.Add(c.Multiply(x, a), c.Subtract(offset, c.Multiply(mean, a)))};
}

std::vector<Value> Grad(const Arithmetic& c, const std::vector<Value>& o) {
  const Value &x = o[0], &scale = o[1], &mean = o[2], &variance = o[3], &dy = o[4];
  const Value centred = c.Subtract(x, mean);
  const Value weighted = c.Sum(c.Multiply(dy, centred));
  const Value d_offset = c.Sum(dy);
  const Value spread = c.Add(variance, c.Epsilon());
  const Value inverse = c.Rsqrt(spread);
  const Value factor = c.Divide(c.Multiply(scale, inverse), c.Count());
  const Value inner = c.Subtract(c.Subtract(c.Multiply(dy, c.Count()), d_offset),
                                 c.Divide(c.Multiply(weighted, centred), spread));
  return {c.Multiply(factor, inner), c.Multiply(weighted, inverse), d_offset};
}

}  // namespace

Result<Value> NativeBatchNorm(const KernelCall& call, const std::vector<Value>& operands) {
  const Arithmetic arithmetic(call, operands[0]);
  std::vector<Value> same;  // floats of other widths are taken to the type of the first operand
  for (const Value& operand : operands) {
    HV_ASSIGN(Value converted, ConvertValue(call.module, operand, operands[0].shape()->type));
    same.push_back(std::move(converted));
  }
  std::vector<Value> results;
  switch (call.instruction.opcode) {
    case Opcode::kBatchNormTraining:
      results = Training(arithmetic, same);
      break;
    case Opcode::kBatchNormInference:
      results = Inference(arithmetic, same);
      break;
    default:
      results = Grad(arithmetic, same);
      break;
  }
  for (size_t k = 0; k < results.size(); ++k) {
    HV_ASSIGN(results[k], ConvertValue(call.module, results[k], ResultShapes(call)[k]->type));
    results[k] = results[k].WithShape(ResultShapes(call)[k]);
  }
  return PackResults(call, std::move(results));
}

}  // namespace hv
