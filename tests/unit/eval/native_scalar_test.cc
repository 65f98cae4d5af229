// The rules of element types and scalar arithmetic, one line each: hlo_ops sections 2 and 5.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/eval/evaluate_text.h"

namespace hv::test {
namespace {

struct Case {
  std::string name;
  std::string body;  // of ENTRY
  std::string expected;
};

class ScalarRule : public testing::TestWithParam<Case> {};

TEST_P(ScalarRule, Holds) { EXPECT_EQ(EvaluateText(GetParam().body), GetParam().expected); }

// op(constants) with one operand type and a result type.
Case Op(std::string name, const std::string& result, const std::string& op,
        const std::vector<std::string>& operands, std::string expected,
        const std::string& attributes = "") {
  std::string body, names;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string operand = "x" + std::to_string(i);
    body += "  " + operand + " = " + operands[i] + "\n";
    names += (i > 0 ? ", " : "") + operand;
  }
  body += "  ROOT r = " + result + " " + op + "(" + names + ")" + attributes;
  return {std::move(name), body, std::move(expected)};
}

std::vector<Case> Cases() {
  const std::string bytes = "s8[4] constant({7, -7, -128, 7})";
  return {
      Op("DivideByZeroAndOverflow", "s8[4]", "divide", {bytes, "s8[4] constant({0, 2, -1, -2})"},
         "{-1, -3, -128, -3}"),
      Op("RemainderByZeroAndOverflow", "s8[4]", "remainder",
         {bytes, "s8[4] constant({0, 2, -1, -2})"}, "{7, -1, 0, 1}"),
      Op("UnsignedDivideByZero", "u4[2]", "divide",
         {"u4[2] constant({9, 9})", "u4[2] constant({0, 2})"}, "{15, 4}"),
      Op("AbsOfLeast", "s8[2]", "abs", {"s8[2] constant({-128, -3})"}, "{-128, 3}"),
      Op("NegateS4Wraps", "s4[2]", "negate", {"s4[2] constant({-8, 7})"}, "{-8, -7}"),
      Op("MultiplyWraps", "u16[1]", "multiply",
         {"u16[1] constant({65535})", "u16[1] constant({65535})"}, "{1}"),
      Op("ShiftLeftWide", "s32[3]", "shift-left",
         {"s32[3] constant({1, 1, 1})", "s32[3] constant({31, 32, -1})"}, "{-2147483648, 0, 0}"),
      Op("ShiftRightLogicalS4", "s4[3]", "shift-right-logical",
         {"s4[3] constant({-8, -1, -1})", "s4[3] constant({3, 1, 4})"}, "{1, 7, 0}"),
      Op("ShiftRightArithmeticWide", "s8[3]", "shift-right-arithmetic",
         {"s8[3] constant({-128, 127, -128})", "s8[3] constant({9, 9, -1})"}, "{-1, 0, -1}"),
      Op("ShiftRightArithmeticUnsigned", "u8[2]", "shift-right-arithmetic",
         {"u8[2] constant({128, 127})", "u8[2] constant({1, 8})"}, "{192, 0}"),
      Op("PowerNegativeExponent", "s32[4]", "power",
         {"s32[4] constant({1, 2, -1, 0})", "s32[4] constant({-5, -1, -1, 0})"}, "{1, 0, 0, 1}"),
      Op("PowerWraps", "u32[1]", "power", {"u32[1] constant({3})", "u32[1] constant({64})"},
         "{2038349057}"),
      Op("MulhiSigned", "s8[2]", "mulhi",
         {"s8[2] constant({-128, 100})", "s8[2] constant({-128, -100})"}, "{64, -40}"),
      Op("MulhiU64", "u64[1]", "mulhi",
         {"u64[1] constant({18446744073709551615})", "u64[1] constant({18446744073709551615})"},
         "{18446744073709551614}"),
      Op("PopcntS4", "s4[2]", "popcnt", {"s4[2] constant({-1, 5})"}, "{4, 2}"),
      Op("ClzS16", "s16[3]", "count-leading-zeros", {"s16[3] constant({0, 1, -1})"}, "{16, 15, 0}"),
      Op("ClzU4", "u4[2]", "count-leading-zeros", {"u4[2] constant({0, 2})"}, "{4, 2}"),
      Op("PredAddIsOr", "pred[4]", "add",
         {"pred[4] constant({0, 0, 1, 1})", "pred[4] constant({0, 1, 0, 1})"}, "{0, 1, 1, 1}"),
      Op("PredMultiplyIsAnd", "pred[4]", "multiply",
         {"pred[4] constant({0, 0, 1, 1})", "pred[4] constant({0, 1, 0, 1})"}, "{0, 0, 0, 1}"),
      Op("PredNot", "pred[2]", "not", {"pred[2] constant({0, 1})"}, "{1, 0}"),

      Op("FloatToIntSaturates", "s8[5]", "convert",
         {"f32[5] constant({nan, inf, -inf, 300, -1.9})"}, "{0, 127, -128, 127, -1}"),
      Op("FloatToS4", "s4[3]", "convert", {"f32[3] constant({7.9, 8, -9})"}, "{7, 7, -8}"),
      Op("FloatToU64", "u64[2]", "convert", {"f32[2] constant({1e20, -1})"},
         "{18446744073709551615, 0}"),
      Op("FloatToPred", "pred[3]", "convert", {"f32[3] constant({nan, -0, 0.5})"}, "{1, 0, 1}"),
      Op("IntNarrowsByBits", "s4[3]", "convert", {"s32[3] constant({8, -9, 16})"}, "{-8, 7, 0}"),
      Op("IntWidensBySourceSign", "u32[2]", "convert", {"s8[2] constant({-1, 1})"},
         "{4294967295, 1}"),
      Op("IntToBf16ViaF32", "bf16[1]", "convert", {"s64[1] constant({1103806595073})"},
         "{1.1e+12}"),
      Op("IntToF8TwoRoundings", "f8e5m2[1]", "convert", {"s32[1] constant({61439})"}, "{5.7e+04}"),
      Op("F8Overflow", "f8e4m3fn[3]", "convert", {"f32[3] constant({464, 464.1, inf})"},
         "{448, nan, nan}"),
      Op("F4Saturates", "f4e2m1fn[3]", "convert", {"f32[3] constant({100, -100, 0.25})"},
         "{6, -6, 0}"),
      Op("ComplexFromReal", "c64[1]", "convert", {"f32[1] constant({2})"}, "{(2, 0)}"),

      Op("MaximumFirstNanWins", "f32[3]", "maximum",
         {"f32[3] constant({nan, 1, -0})", "f32[3] constant({1, nan, 0})"}, "{nan, nan, -0.0}"),
      Op("MinimumTieKeepsLeft", "f32[2]", "minimum",
         {"f32[2] constant({0, -0})", "f32[2] constant({-0, 0})"}, "{0, -0.0}"),
      Op("ClampCrossedBounds", "f32[3]", "clamp",
         {"f32[3] constant({3, nan, 0})", "f32[3] constant({2, 2, nan})",
          "f32[3] constant({1, 1, 1})"},
         "{1, nan, nan}"),
      Op("ClampScalarBounds", "s32[3]", "clamp",
         {"s32[] constant(0)", "s32[3] constant({-5, 1, 9})", "s32[] constant(3)"}, "{0, 1, 3}"),
      Op("SelectScalarPredicate", "s32[2]", "select",
         {"pred[] constant(false)", "s32[2] constant({1, 2})", "s32[2] constant({3, 4})"},
         "{3, 4}"),
      Op("CompareNanIsUnequal", "pred[2]", "compare",
         {"f32[2] constant({nan, -0})", "f32[2] constant({nan, 0})"}, "{1, 0}", ", direction=NE"),
      Op("TotalOrder", "pred[3]", "compare",
         {"f32[3] constant({-0, -nan, inf})", "f32[3] constant({0, -inf, nan})"}, "{1, 1, 1}",
         ", direction=LT, type=TOTALORDER"),
      Op("TotalOrderFnuz", "pred[2]", "compare",
         {"f8e4m3fnuz[2] constant({nan, -240})", "f8e4m3fnuz[2] constant({-240, -1})"}, "{1, 1}",
         ", direction=LT, type=TOTALORDER"),
      Op("CompareUnsigned", "pred[1]", "compare",
         {"u8[1] constant({200})", "u8[1] constant({100})"}, "{1}", ", direction=GT"),

      Op("SignKeepsZero", "f32[3]", "sign", {"f32[3] constant({-0, -2, nan})"}, "{-0.0, -1, nan}"),
      Op("RoundAway", "f32[4]", "round-nearest-afz", {"f32[4] constant({0.5, -0.3, 2.5, -2.5})"},
         "{1, -0.0, 3, -3}"),
      Op("RoundEven", "f32[3]", "round-nearest-even", {"f32[3] constant({0.5, 1.5, 2.5})"},
         "{0, 2, 2}"),
      Op("PowerOfNan", "f32[2]", "power",
         {"f32[2] constant({1, nan})", "f32[2] constant({nan, 0})"}, "{1, 1}"),
      Op("FmodSign", "f32[2]", "remainder",
         {"f32[2] constant({-5.5, 5.5})", "f32[2] constant({2, -2})"}, "{-1.5, 1.5}"),
      Op("IsFinite", "pred[3]", "is-finite", {"bf16[3] constant({inf, nan, 1})"}, "{0, 0, 1}"),
      Op("Bf16RoundsEachOp", "bf16[1]", "add", {"bf16[1] constant({256})", "bf16[1] constant({1})"},
         "{256}"),
      Op("ReducePrecisionRoundsToEven", "f32[3]", "reduce-precision",
         {"f32[3] constant({1.0039062, 1.0117188, 3.4e38})"}, "{1, 1.015625, inf}",
         ", exponent_bits=8, mantissa_bits=7"),
      Op("ReducePrecisionFlushes", "f32[3]", "reduce-precision",
         {"f32[3] constant({70000, 1e-5, nan})"}, "{inf, 0, nan}",
         ", exponent_bits=5, mantissa_bits=10"),
      Op("ReducePrecisionToMoreThanAny", "f32[2]", "reduce-precision",
         {"f32[2] constant({0.1, 3.4e38})"}, "{0.1, 3.4e+38}",
         ", exponent_bits=999999999999, mantissa_bits=999999999999"),
      Op("ReducePrecisionNanWithoutMantissa", "f32[1]", "reduce-precision",
         {"f32[1] constant({nan})"}, "{inf}", ", exponent_bits=5, mantissa_bits=0"),
      Op("BitcastConvertNarrower", "u8[1,4]", "bitcast-convert", {"u32[1] constant({67305985})"},
         "{ { 1, 2, 3, 4 } }"),
      Op("BitcastConvertWider", "u16[1]", "bitcast-convert", {"u8[1,2] constant({{1, 2}})"},
         "{513}"),
      Op("BitcastConvertSubByte", "s4[2]", "bitcast-convert", {"u8[] constant(143)"}, "{-1, -8}"),
      Op("ComplexAbs", "f32[1]", "abs", {"c64[1] constant({(3, 4)})"}, "{5}"),
      {"IotaWraps", "  ROOT r = u2[6] iota(), iota_dimension=0", "{0, 1, 2, 3, 0, 1}"},
      {"IotaRows", "  ROOT r = s32[2,3] iota(), iota_dimension=0", "{ { 0, 0, 0 }, { 1, 1, 1 } }"},
      {"Ids",
       "  r = u32[] replica-id()\n  p = u32[] partition-id()\n"
       "  ROOT t = (u32[], u32[]) tuple(r, p)",
       "(2, 3)"},
  };
}

INSTANTIATE_TEST_SUITE_P(All, ScalarRule, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

TEST(NativeScalar, NamesWhatItRefuses) {
  EXPECT_EQ(EvaluateText("  x = c64[1] constant({(1, 2)})\n  ROOT r = f32[1] convert(x)"),
            "error: convert: c64 to f32 would drop the imaginary part");
}

// Elementwise results go into an operand that dies, never into one that lives.
TEST(NativeScalar, ReusesStorageOnlyIfUnique) {
  const Module module = Parse("  x = f32[4] parameter(0)\n  ROOT r = f32[4] add(x, x)");
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  const Instruction& add = module.Entry().Root();
  const KernelCall call{module, module.Entry(), add, add.shape};
  Value x = Value::NewNative(add.shape), y = Value::NewNative(add.shape);
  for (Value* v : {&x, &y}) {
    for (float& f : v->MutableAs<float>()) f = 1.5f;
  }
  const std::byte* storage = y.bytes().data();
  std::vector<Value> operands = {x};
  operands.push_back(std::move(y));
  const Value sum = *domain->Scalar(call, std::move(operands));
  EXPECT_EQ(sum.bytes().data(), storage);
  EXPECT_EQ(TextOf(x), "{1.5, 1.5, 1.5, 1.5}");
  EXPECT_EQ(TextOf(sum), "{3, 3, 3, 3}");
}

}  // namespace
}  // namespace hv::test
