// Rows of the element-wise ops with one operand. Source: XLA operation semantics, "Element-wise unary
// functions".
#include <fmt/format.h>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kAccuracyAttrs[] = {{Attr::kResultAccuracy}};
constexpr AttrSpec kReducePrecisionAttrs[] = {{Attr::kExponentBits, kRequired},
                                              {Attr::kMantissaBits, kRequired}};

// The shape of the operand.
Result<const Shape*> InferSame(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 0, Definition(context.instruction).accepts));
  return &context.operand(0);
}

// The shape of the operand with pred elements.
Result<const Shape*> InferPred(const OpContext& context) {
  HV_ASSIGN(const Shape* same, InferSame(context));
  return WithType(context, *same, ElementType::kPred);
}

// The shape of the operand, of the parts if it is complex.
Result<const Shape*> InferComponent(const OpContext& context) {
  HV_ASSIGN(const Shape* same, InferSame(context));
  return WithType(context, *same, ComponentType(same->type));
}

Status CheckConvert(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape& result = *context.instruction.shape;
  if (!result.IsArray()) return Wrong(context, "result-shape", "result must be an array");
  return CheckResult(context, *WithType(context, context.operand(0), result.type),
                     FloatWidth::kExact);
}

// Widths a -> b: equal dims if a == b, else a last dimension of a/b appears or one of b/a goes.
Status CheckBitcastConvert(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape &from = context.operand(0), &to = *context.instruction.shape;
  if (!to.IsArray()) return Wrong(context, "result-shape", "result must be an array");
  if (IsComplex(from.type) != IsComplex(to.type)) {
    return Wrong(context, "operand-type", "between complex and real types");
  }
  const int a = BitWidth(from.type), b = BitWidth(to.type);
  if (std::max(a, b) % std::min(a, b) != 0) {
    return Wrong(context, "operand-type", fmt::format("between widths of {} and {} bits", a, b));
  }
  std::vector<int64_t> dims(from.dims.begin(), from.dims.end());
  if (a > b) dims.push_back(a / b);
  if (a < b) {
    if (dims.empty() || dims.back() != b / a) {
      return Wrong(context, "operand-dims",
                   fmt::format("last dimension of {} must be {}", Text(from), b / a));
    }
    dims.pop_back();
  }
  HV_ASSIGN(const Shape* expected, MakeArray(context, to.type, dims));
  return CheckResult(context, *expected, FloatWidth::kExact);
}

Result<const Shape*> InferReducePrecision(const OpContext& context) {
  if (context.instruction.Int(Attr::kExponentBits, 0) < 1) {
    return Wrong(context, Attr::kExponentBits, "precision-bits", "needs at least one exponent bit");
  }
  if (context.instruction.Int(Attr::kMantissaBits, 0) < 0) {
    return Wrong(context, Attr::kMantissaBits, "precision-bits", "negative mantissa bits");
  }
  return InferSame(context);
}

Status CheckStochasticConvert(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 0, kFloats));
  HV_RETURN_IF_ERROR(CheckSameDims(context, 0, 1));
  const ElementType value = context.operand(0).type, random = context.operand(1).type;
  if (!IsUnsigned(random) || BitWidth(random) != BitWidth(value)) {
    return Wrong(context, "operand-type",
                 fmt::format("random operand of type {} for {}", ToString(random), ToString(value)));
  }
  return CheckConvert(context);
}

constexpr OpDef Unary(Opcode opcode, ScalarFn fn, Exactness exactness, Tier tier, TypeSet accepts,
                      std::string_view doc, InferFn infer = InferSame) {
  return {.opcode = opcode,
          .min_operands = 1,
          .max_operands = 1,
          .infer = infer,
          .kernel = KernelKind::kScalar,
          .scalar = fn,
          .accepts = accepts,
          .exactness = exactness,
          .tier = tier,
          .doc = doc};
}

// A function of the math library: differs by a few units in the last place between implementations.
constexpr OpDef Library(Opcode opcode, ScalarFn fn, Tier tier, std::string_view doc,
                        TypeSet accepts = kFloats | kComplexes) {
  OpDef def = Unary(opcode, fn, Exactness::kLibrary, tier, accepts, doc);
  def.attributes = kAccuracyAttrs;
  return def;
}

}  // namespace

using enum Exactness;
using enum Tier;

constinit const OpDef kAbsOp =
    Unary(Opcode::kAbs, ScalarFn::kAbs, kExact, kT1, kSigneds | kFloats | kComplexes,
          "Absolute value; the least integer stays itself. (Abs)", InferComponent);
constinit const OpDef kAcosOp =
    Library(Opcode::kAcos, ScalarFn::kAcos, kT3, "Inverse cosine. (Acos)");
constinit const OpDef kAcoshOp =
    Library(Opcode::kAcosh, ScalarFn::kAcosh, kT3, "Inverse hyperbolic cosine. (Acosh)");
constinit const OpDef kAsinOp =
    Library(Opcode::kAsin, ScalarFn::kAsin, kT3, "Inverse sine. (Asin)");
constinit const OpDef kAsinhOp =
    Library(Opcode::kAsinh, ScalarFn::kAsinh, kT3, "Inverse hyperbolic sine. (Asinh)");
constinit const OpDef kAtanhOp =
    Library(Opcode::kAtanh, ScalarFn::kAtanh, kT3, "Inverse hyperbolic tangent. (Atanh)");
constinit const OpDef kCbrtOp =
    Library(Opcode::kCbrt, ScalarFn::kCbrt, kT3, "Real cube root, sign kept. (Cbrt)", kFloats);
constinit const OpDef kCeilOp = Unary(Opcode::kCeil, ScalarFn::kCeil, kExact, kT2, kFloats,
                                      "Rounds toward plus infinity. (Ceil)");
constinit const OpDef kCoshOp =
    Library(Opcode::kCosh, ScalarFn::kCosh, kT3, "Hyperbolic cosine. (Cosh)");
constinit const OpDef kCosineOp = Library(Opcode::kCosine, ScalarFn::kCos, kT2, "Cosine. (Cos)");
constinit const OpDef kCountLeadingZerosOp =
    Unary(Opcode::kCountLeadingZeros, ScalarFn::kCountLeadingZeros, kExact, kT3, kIntegers,
          "Number of leading zero bits within the width of the type. (Clz)");
constinit const OpDef kErfOp =
    Library(Opcode::kErf, ScalarFn::kErf, kT2, "Error function. (Erf)", kFloats);
constinit const OpDef kExponentialOp =
    Library(Opcode::kExponential, ScalarFn::kExp, kT2, "e to the x. (Exp)");
constinit const OpDef kExponentialMinusOneOp =
    Library(Opcode::kExponentialMinusOne, ScalarFn::kExpm1, kT2, "e to the x, minus one. (Expm1)");
constinit const OpDef kFloorOp = Unary(Opcode::kFloor, ScalarFn::kFloor, kExact, kT2, kFloats,
                                       "Rounds toward minus infinity. (Floor)");
constinit const OpDef kImagOp =
    Unary(Opcode::kImag, ScalarFn::kImag, kExact, kT3, kFloats | kComplexes,
          "Imaginary part; zero for a real operand. (Imag)", InferComponent);
constinit const OpDef kIsFiniteOp =
    Unary(Opcode::kIsFinite, ScalarFn::kIsFinite, kExact, kT2, kFloats,
          "True where the operand is neither infinite nor NaN. (IsFinite)", InferPred);
constinit const OpDef kLogOp =
    Library(Opcode::kLog, ScalarFn::kLog, kT2, "Natural logarithm. (Log)");
constinit const OpDef kLogPlusOneOp = Library(Opcode::kLogPlusOne, ScalarFn::kLog1p, kT2,
                                              "Natural logarithm of one plus x. (Log1p)");
constinit const OpDef kLogisticOp =
    Library(Opcode::kLogistic, ScalarFn::kLogistic, kT2, "1 / (1 + exp(-x)). (Logistic)");
constinit const OpDef kNegateOp =
    Unary(Opcode::kNegate, ScalarFn::kNegate, kExact, kT1, kIntegers | kFloats | kComplexes,
          "Changes the sign; integers wrap. (Neg)");
constinit const OpDef kNotOp = Unary(Opcode::kNot, ScalarFn::kNot, kExact, kT1, kPreds | kIntegers,
                                     "Bitwise complement, logical on pred. (Not)");
constinit const OpDef kPopcntOp = Unary(Opcode::kPopcnt, ScalarFn::kPopcnt, kExact, kT3, kIntegers,
                                        "Number of one bits. (PopulationCount)");
constinit const OpDef kRealOp =
    Unary(Opcode::kReal, ScalarFn::kReal, kExact, kT3, kFloats | kComplexes,
          "Real part; a real operand itself. (Real)", InferComponent);
constinit const OpDef kRoundNearestAfzOp =
    Unary(Opcode::kRoundNearestAfz, ScalarFn::kRoundNearestAfz, kExact, kT2, kFloats,
          "Rounds to the nearest integer, ties away from zero. (Round)");
constinit const OpDef kRoundNearestEvenOp =
    Unary(Opcode::kRoundNearestEven, ScalarFn::kRoundNearestEven, kExact, kT2, kFloats,
          "Rounds to the nearest integer, ties to even. (RoundNearestEven)");
constinit const OpDef kRsqrtOp =
    Library(Opcode::kRsqrt, ScalarFn::kRsqrt, kT2, "One over the square root. (Rsqrt)");
constinit const OpDef kSignOp =
    Unary(Opcode::kSign, ScalarFn::kSign, kExact, kT1, kSigneds | kFloats | kComplexes,
          "-1, 0 or 1; floats keep signed zeros and NaN. (Sign)");
constinit const OpDef kSineOp = Library(Opcode::kSine, ScalarFn::kSin, kT2, "Sine. (Sin)");
constinit const OpDef kSinhOp =
    Library(Opcode::kSinh, ScalarFn::kSinh, kT3, "Hyperbolic sine. (Sinh)");
constinit const OpDef kSqrtOp = [] {
  OpDef def = Library(Opcode::kSqrt, ScalarFn::kSqrt, kT2, "Square root. (Sqrt)");
  def.exactness = kRounded;
  return def;
}();
constinit const OpDef kTanOp = Library(Opcode::kTan, ScalarFn::kTan, kT3, "Tangent. (Tan)");
constinit const OpDef kTanhOp =
    Library(Opcode::kTanh, ScalarFn::kTanh, kT2, "Hyperbolic tangent. (Tanh)");

// Ops that change the element type: the declared shape says to what.
constinit const OpDef kBitcastConvertOp{
    .opcode = Opcode::kBitcastConvert,
    .min_operands = 1,
    .max_operands = 1,
    .shape_required = true,
    .rule = CheckBitcastConvert,
    .kernel = KernelKind::kScalar,
    .scalar = ScalarFn::kBitcastConvert,
    .tier = kT2,
    .doc = "Same bits, other type; a last dimension appears or goes when widths differ. "
           "(BitcastConvertType)"};
constinit const OpDef kConvertOp{
    .opcode = Opcode::kConvert,
    .min_operands = 1,
    .max_operands = 1,
    .shape_required = true,
    .rule = CheckConvert,
    .kernel = KernelKind::kScalar,
    .scalar = ScalarFn::kConvert,
    .doc = "Same values, other type: rounds to nearest even, saturates to integers. "
           "(ConvertElementType)"};
constinit const OpDef kReducePrecisionOp{
    .opcode = Opcode::kReducePrecision,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kReducePrecisionAttrs,
    .infer = InferReducePrecision,
    .shape_required = true,
    .kernel = KernelKind::kScalar,
    .scalar = ScalarFn::kReducePrecision,
    .accepts = kFloats,
    .tier = kT2,
    .doc = "Rounds to the given exponent and mantissa bits. (ReducePrecision)"};
constinit const OpDef kStochasticConvertOp{
    .opcode = Opcode::kStochasticConvert,
    .min_operands = 2,
    .max_operands = 2,
    .shape_required = true,
    .rule = CheckStochasticConvert,
    .kernel = KernelKind::kScalar,
    .scalar = ScalarFn::kStochasticConvert,
    .tier = kT3,
    .types = "float, unsigned of the same width",
    .doc = "Rounds to an integer up or down as the random operand decides. (StochasticConvert)"};

}  // namespace hv
