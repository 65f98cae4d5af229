// Rows of the element-wise ops with two or three operands. Source: XLA operation semantics,
// "Element-wise binary arithmetic operations", "Element-wise comparison operations", Clamp, Select.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kCompareAttrs[] = {{Attr::kCompareDirection, kRequired}, {Attr::kCompareType}};

constexpr OpDef Elementwise(Opcode opcode, ScalarFn fn, int operands, Exactness exactness,
                            Tier tier, std::string_view types, std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = operands,
          .max_operands = operands,
          .kernel = KernelKind::kScalar,
          .scalar = fn,
          .exactness = exactness,
          .tier = tier,
          .types = types,
          .doc = doc};
}

constexpr OpDef Binary(Opcode opcode, ScalarFn fn, Exactness exactness, Tier tier,
                       std::string_view types, std::string_view doc) {
  return Elementwise(opcode, fn, 2, exactness, tier, types, doc);
}

}  // namespace

using enum Exactness;
using enum Tier;

constinit const OpDef kAddOp = Binary(Opcode::kAdd, ScalarFn::kAdd, kRounded, kT1, "any array",
                                      "Sum; integers wrap, or on pred. (Add)");
constinit const OpDef kAndOp = Binary(Opcode::kAnd, ScalarFn::kAnd, kExact, kT1, "pred, integer",
                                      "Bitwise and, logical on pred. (And)");
constinit const OpDef kAtan2Op =
    Binary(Opcode::kAtan2, ScalarFn::kAtan2, kLibrary, kT3, "float, complex",
           "Angle of the point (second, first operand). (Atan2)");
constinit const OpDef kComplexOp =
    Binary(Opcode::kComplex, ScalarFn::kComplex, kExact, kT3, "f32, f64",
           "Complex number of a real and an imaginary part. (Complex)");
constinit const OpDef kDivideOp =
    Binary(Opcode::kDivide, ScalarFn::kDivide, kRounded, kT1, "integer, float, complex",
           "Quotient; integers truncate, x/0 is all ones. (Div)");
constinit const OpDef kMaximumOp =
    Binary(Opcode::kMaximum, ScalarFn::kMaximum, kExact, kT1, "pred, integer, float",
           "The larger one; NaN wins, the left one on ties. (Max)");
constinit const OpDef kMinimumOp =
    Binary(Opcode::kMinimum, ScalarFn::kMinimum, kExact, kT1, "pred, integer, float",
           "The smaller one; NaN wins, the left one on ties. (Min)");
constinit const OpDef kMulhiOp = Binary(Opcode::kMulhi, ScalarFn::kMulhi, kExact, kT3, "integer",
                                        "High half of the product. (Mulhi)");
constinit const OpDef kMultiplyOp =
    Binary(Opcode::kMultiply, ScalarFn::kMultiply, kRounded, kT1, "any array",
           "Product; integers wrap, and on pred. (Mul)");
constinit const OpDef kOrOp = Binary(Opcode::kOr, ScalarFn::kOr, kExact, kT1, "pred, integer",
                                     "Bitwise or, logical on pred. (Or)");
constinit const OpDef kPowerOp =
    Binary(Opcode::kPower, ScalarFn::kPower, kLibrary, kT2, "integer, float, complex",
           "First operand to the power of the second; exact on integers. (Pow)");
constinit const OpDef kRemainderOp =
    Binary(Opcode::kRemainder, ScalarFn::kRemainder, kExact, kT1, "integer, float",
           "Remainder with the sign of the dividend; x%0 is x. (Rem)");
constinit const OpDef kShiftLeftOp =
    Binary(Opcode::kShiftLeft, ScalarFn::kShiftLeft, kExact, kT1, "integer",
           "Shifts left; zero from the width on. (ShiftLeft)");
constinit const OpDef kShiftRightArithmeticOp =
    Binary(Opcode::kShiftRightArithmetic, ScalarFn::kShiftRightArithmetic, kExact, kT1, "integer",
           "Shifts right, filling with the top bit. (ShiftRightArithmetic)");
constinit const OpDef kShiftRightLogicalOp =
    Binary(Opcode::kShiftRightLogical, ScalarFn::kShiftRightLogical, kExact, kT1, "integer",
           "Shifts right, filling with zeros. (ShiftRightLogical)");
constinit const OpDef kSubtractOp =
    Binary(Opcode::kSubtract, ScalarFn::kSubtract, kRounded, kT1, "integer, float, complex",
           "Difference; integers wrap. (Sub)");
constinit const OpDef kXorOp = Binary(Opcode::kXor, ScalarFn::kXor, kExact, kT1, "pred, integer",
                                      "Bitwise exclusive or, logical on pred. (Xor)");

constinit const OpDef kClampOp =
    Elementwise(Opcode::kClamp, ScalarFn::kClamp, 3, kExact, kT1, "pred, integer, float",
                "min(max(x, low), high); NaN wins, the bounds may be scalars. (Clamp)");
constinit const OpDef kCompareOp = [] {
  OpDef def = Elementwise(Opcode::kCompare, ScalarFn::kCompare, 2, kExact, kT1, "any array",
                          "Comparison to pred; complex numbers for equality only. (Compare)");
  def.attributes = kCompareAttrs;
  return def;
}();
constinit const OpDef kSelectOp =
    Elementwise(Opcode::kSelect, ScalarFn::kSelect, 3, kExact, kT1, "pred, then any array",
                "Second operand where the first is true, else the third; the first may be a "
                "scalar. (Select)");

}  // namespace hv
