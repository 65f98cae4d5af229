// Rows of the element-wise ops with two or three operands. Source: XLA operation semantics,
// "Element-wise binary arithmetic operations", "Element-wise comparison operations", Clamp, Select.
#include <fmt/format.h>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kCompareAttrs[] = {{Attr::kCompareDirection, kRequired}, {Attr::kCompareType}};

// Operands a and b have equal dims and types; float widths may differ.
Status CheckAlike(const OpContext& context, size_t a, size_t b) {
  HV_RETURN_IF_ERROR(CheckSameType(context, a, b, FloatWidth::kAny));
  return CheckSameDims(context, a, b);
}

// The wider of the two operands' types.
const Shape* Wider(const OpContext& context, size_t a, size_t b) {
  const Shape &x = context.operand(a), &y = context.operand(b);
  return BitWidth(y.type) > BitWidth(x.type) ? &y : &x;
}

Result<const Shape*> InferBinary(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckAlike(context, 0, 1));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 0, Definition(context.instruction).accepts));
  return Wider(context, 0, 1);
}

Result<const Shape*> InferComplex(const OpContext& context) {
  HV_ASSIGN(const Shape* parts, InferBinary(context));
  HV_RETURN_IF_ERROR(CheckSameType(context, 0, 1, FloatWidth::kExact));
  if (parts->type == ElementType::kF32) return WithType(context, *parts, ElementType::kC64);
  if (parts->type == ElementType::kF64) return WithType(context, *parts, ElementType::kC128);
  return Wrong(context, "operand-type", "parts must be f32 or f64");
}

Result<const Shape*> InferCompare(const OpContext& context) {
  HV_ASSIGN(const Shape* operand, InferBinary(context));
  const std::string_view direction = context.instruction.Text(Attr::kCompareDirection);
  if (IsComplex(operand->type) && direction != "EQ" && direction != "NE") {
    return Wrong(context, Attr::kCompareDirection, "compare-complex",
                 fmt::format("complex numbers have no order, {} is not defined", direction));
  }
  const std::string_view type = context.instruction.Text(Attr::kCompareType);
  const bool fits = type.empty() || (type == "SIGNED" && IsSigned(operand->type)) ||
                    (type == "UNSIGNED" && (IsUnsigned(operand->type) || IsPred(operand->type))) ||
                    (type == "TOTALORDER" && IsFloat(operand->type)) ||
                    (type == "FLOAT" && (IsFloat(operand->type) || IsComplex(operand->type)));
  if (!fits) {
    return Wrong(context, Attr::kCompareType, "compare-type",
                 fmt::format("{} order on {}", type, ToString(operand->type)));
  }
  return WithType(context, *operand, ElementType::kPred);
}

Result<const Shape*> InferClamp(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 1, Definition(context.instruction).accepts));
  for (const size_t bound : {size_t{0}, size_t{2}}) {
    HV_RETURN_IF_ERROR(CheckSameType(context, bound, 1, FloatWidth::kAny));
    if (!context.operand(bound).IsScalar()) HV_RETURN_IF_ERROR(CheckSameDims(context, bound, 1));
  }
  return &context.operand(1);
}

Result<const Shape*> InferSelect(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 0, kPreds));
  HV_RETURN_IF_ERROR(CheckAlike(context, 1, 2));
  if (!context.operand(0).IsScalar()) HV_RETURN_IF_ERROR(CheckSameDims(context, 0, 1));
  return Wider(context, 1, 2);
}

constexpr OpDef Elementwise(Opcode opcode, ScalarFn fn, int operands, InferFn infer,
                            Exactness exactness, Tier tier, TypeSet accepts,
                            std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = operands,
          .max_operands = operands,
          .infer = infer,
          .kernel = KernelKind::kScalar,
          .scalar = fn,
          .accepts = accepts,
          .exactness = exactness,
          .tier = tier,
          .doc = doc};
}

constexpr OpDef Binary(Opcode opcode, ScalarFn fn, Exactness exactness, Tier tier, TypeSet accepts,
                       std::string_view doc) {
  return Elementwise(opcode, fn, 2, InferBinary, exactness, tier, accepts, doc);
}

}  // namespace

using enum Exactness;
using enum Tier;

constinit const OpDef kAddOp = Binary(Opcode::kAdd, ScalarFn::kAdd, kRounded, kT1, kArrays,
                                      "Sum; integers wrap, or on pred. (Add)");
constinit const OpDef kAndOp = Binary(Opcode::kAnd, ScalarFn::kAnd, kExact, kT1, kPreds | kIntegers,
                                      "Bitwise and, logical on pred. (And)");
constinit const OpDef kAtan2Op =
    Binary(Opcode::kAtan2, ScalarFn::kAtan2, kLibrary, kT3, kFloats | kComplexes,
           "Angle of the point (second, first operand). (Atan2)");
constinit const OpDef kComplexOp =
    Elementwise(Opcode::kComplex, ScalarFn::kComplex, 2, InferComplex, kExact, kT3, kFloats,
                "Complex number of a real and an imaginary part, f32 or f64. (Complex)");
constinit const OpDef kDivideOp =
    Binary(Opcode::kDivide, ScalarFn::kDivide, kRounded, kT1, kIntegers | kFloats | kComplexes,
           "Quotient; integers truncate, x/0 is all ones. (Div)");
constinit const OpDef kMaximumOp =
    Binary(Opcode::kMaximum, ScalarFn::kMaximum, kExact, kT1, kPreds | kIntegers | kFloats,
           "The larger one; NaN wins, the left one on ties. (Max)");
constinit const OpDef kMinimumOp =
    Binary(Opcode::kMinimum, ScalarFn::kMinimum, kExact, kT1, kPreds | kIntegers | kFloats,
           "The smaller one; NaN wins, the left one on ties. (Min)");
constinit const OpDef kMulhiOp = Binary(Opcode::kMulhi, ScalarFn::kMulhi, kExact, kT3, kIntegers,
                                        "High half of the product. (Mulhi)");
constinit const OpDef kMultiplyOp =
    Binary(Opcode::kMultiply, ScalarFn::kMultiply, kRounded, kT1, kArrays,
           "Product; integers wrap, and on pred. (Mul)");
constinit const OpDef kOrOp = Binary(Opcode::kOr, ScalarFn::kOr, kExact, kT1, kPreds | kIntegers,
                                     "Bitwise or, logical on pred. (Or)");
constinit const OpDef kPowerOp =
    Binary(Opcode::kPower, ScalarFn::kPower, kLibrary, kT2, kIntegers | kFloats | kComplexes,
           "First operand to the power of the second; exact on integers. (Pow)");
constinit const OpDef kRemainderOp =
    Binary(Opcode::kRemainder, ScalarFn::kRemainder, kExact, kT1, kIntegers | kFloats,
           "Remainder with the sign of the dividend; x%0 is x. (Rem)");
constinit const OpDef kShiftLeftOp =
    Binary(Opcode::kShiftLeft, ScalarFn::kShiftLeft, kExact, kT1, kIntegers,
           "Shifts left; zero from the width on. (ShiftLeft)");
constinit const OpDef kShiftRightArithmeticOp =
    Binary(Opcode::kShiftRightArithmetic, ScalarFn::kShiftRightArithmetic, kExact, kT1, kIntegers,
           "Shifts right, filling with the top bit. (ShiftRightArithmetic)");
constinit const OpDef kShiftRightLogicalOp =
    Binary(Opcode::kShiftRightLogical, ScalarFn::kShiftRightLogical, kExact, kT1, kIntegers,
           "Shifts right, filling with zeros. (ShiftRightLogical)");
constinit const OpDef kSubtractOp =
    Binary(Opcode::kSubtract, ScalarFn::kSubtract, kRounded, kT1, kIntegers | kFloats | kComplexes,
           "Difference; integers wrap. (Sub)");
constinit const OpDef kXorOp = Binary(Opcode::kXor, ScalarFn::kXor, kExact, kT1, kPreds | kIntegers,
                                      "Bitwise exclusive or, logical on pred. (Xor)");

constinit const OpDef kClampOp =
    Elementwise(Opcode::kClamp, ScalarFn::kClamp, 3, InferClamp, kExact, kT1, kPreds | kIntegers | kFloats,
                "min(max(x, low), high); NaN wins, the bounds may be scalars. (Clamp)");
constinit const OpDef kCompareOp = [] {
  OpDef def = Elementwise(Opcode::kCompare, ScalarFn::kCompare, 2, InferCompare, kExact, kT1, kArrays,
                          "Comparison to pred; complex numbers for equality only. (Compare)");
  def.attributes = kCompareAttrs;
  return def;
}();
constinit const OpDef kSelectOp =
    Elementwise(Opcode::kSelect, ScalarFn::kSelect, 3, InferSelect, kExact, kT1, kArrays,
                "Second operand where the first is true, else the third; the first may be a "
                "scalar. (Select)");

}  // namespace hv
