// What codes and terms could overlook: configurations, effects, the sign of zero, precision of
// dots.
#include <gtest/gtest.h>

#include "tests/unit/verify/verdict_of.h"

namespace hv {
namespace {

constexpr char kTwo[] = "num_partitions=2";
const std::string kX = "x = f32[4] parameter(0)\n";

bool SaysFine(const CaseReport& r) {
  return r.verdict == Verdict::kTested || (r.verdict == Verdict::kProved && r.as_expected);
}

TEST(BlindSpots, CustomCallsAreToldApartByTheirConfiguration) {
  const auto call = [](const std::string& config) {
    return kX +
           "ROOT r = f32[4] custom-call(x), custom_call_target=\"A\", backend_config=" + config +
           "\n";
  };
  EXPECT_FALSE(SaysFine(VerdictOf(kTwo, call("{\"a\":1}"), call("{\"a\":2}"))));
  EXPECT_FALSE(SaysFine(VerdictOf(kTwo, call("\"x\""), call("\"y\""))));
  EXPECT_TRUE(SaysFine(VerdictOf(kTwo, call("\"x\""), call("\"x\""))));
}

TEST(BlindSpots, DroppedEffectsAreNotTested) {
  const std::string effect =
      "u = f32[4] custom-call(x), custom_call_target=\"A\", custom_call_has_side_effect=true\n";
  const std::string rest = "ROOT r = f32[4] negate(x)\n";
  EXPECT_EQ(VerdictOf(kTwo, kX + effect + rest, kX + rest).verdict, Verdict::kUnknown);
  EXPECT_TRUE(SaysFine(VerdictOf(kTwo, kX + effect + rest, kX + effect + rest)));
}

TEST(BlindSpots, FunctionsOfNegativeZero) {
  const auto program = [](const std::string& zero, const std::string& rest) {
    return kX + "z = f32[] constant(" + zero + ")\n b = f32[4] broadcast(z), dimensions={}\n" +
           rest;
  };
  for (const std::string rest :
       {"ROOT r = f32[4] divide(x, b)\n", "ROOT r = f32[4] atan2(b, x)\n",
        "ROOT r = pred[4] compare(x, b), direction=GT, type=TOTALORDER\n"}) {
    EXPECT_FALSE(SaysFine(VerdictOf(kTwo, program("0", rest), program("-0", rest)))) << rest;
  }
}

TEST(BlindSpots, DotsThatRoundTheirOperands) {
  const auto dot = [](const std::string& attribute) {
    return "x = f32[4,4] parameter(0)\n y = f32[4,4] parameter(1)\n"
           "ROOT r = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}" +
           attribute + "\n";
  };
  for (const std::string other :
       {", algorithm=dot_bf16_bf16_f32", ", operand_precision={highest,highest}"}) {
    EXPECT_FALSE(SaysFine(VerdictOf(kTwo, dot(""), dot(other)))) << other;
    EXPECT_TRUE(SaysFine(VerdictOf(kTwo, dot(other), dot(other)))) << other;
  }
  EXPECT_TRUE(SaysFine(VerdictOf(kTwo, dot(""), dot(", operand_precision={default,default}"))));
}

// Over the reals a product with a zero is 0, whose sign a function may tell.
TEST(BlindSpots, FunctionsOfComputedZeros) {
  const auto program = [](const std::string& zero, const std::string& rest) {
    return kX + "z = f32[] constant(" + zero +
           ")\n b = f32[4] broadcast(z), dimensions={}\n one = f32[] constant(1)\n"
           "o = f32[4] broadcast(one), dimensions={}\n m = f32[4] multiply(x, b)\n" +
           rest;
  };
  for (const std::string rest :
       {"ROOT r = f32[4] divide(o, m)\n", "k = f32[4] negate(o)\n ROOT r = f32[4] atan2(m, k)\n",
        "ROOT r = s32[4] bitcast-convert(m)\n", "ROOT r = f32[4] rsqrt(m)\n"}) {
    Scenario s = PairOf(ModuleOf(kTwo, program("0", rest)), ModuleOf(kTwo, program("-0", rest)));
    EXPECT_FALSE(SaysFine(VerdictOf(s))) << rest;
    s.inputs.mode = Mode::kTest;
    const CaseReport tested = VerdictOf(s);
    EXPECT_FALSE(SaysFine(tested)) << rest << tested.reason;
    Scenario same = PairOf(s.before.text, s.before.text);
    same.inputs.mode = Mode::kTest;
    EXPECT_TRUE(SaysFine(VerdictOf(same))) << rest;
  }
}

TEST(BlindSpots, AnotherAccuracyIsNoEqualFunction) {
  const auto program = [](const std::string& attribute) {
    return kX + "ROOT r = f32[4] exponential(x)" + attribute + "\n";
  };
  const CaseReport other =
      VerdictOf(kTwo, program(""), program(", result_accuracy={mode=highest}"));
  EXPECT_EQ(other.verdict, Verdict::kProved);
  EXPECT_EQ(other.level, Level::kReal);
  EXPECT_FALSE(other.as_expected);
  const std::string highest = program(", result_accuracy={mode=highest}");
  const CaseReport renamed =
      VerdictOf(kTwo, highest,
                "x = f32[4] parameter(0)\n y = f32[4] copy(x)\n"
                "ROOT r = f32[4] exponential(y), result_accuracy={mode=highest}\n");
  EXPECT_EQ(renamed.level, Level::kBitwise);
}

// Values that the text mentions are tried, and those next to them.
TEST(BlindSpots, MagicConstants) {
  for (const std::string type : {"f32", "s32", "s64", "u16"}) {
    const std::string x = "x = " + type + "[4] parameter(0)\n";
    for (const std::string direction : {"EQ", "GT"}) {
      const std::string magic = x + "c = " + type + "[] constant(12345)\n b = " + type +
                                "[4] broadcast(c), dimensions={}\n q = pred[4] compare(x, b), "
                                "direction=" +
                                direction + "\n n = " + type + "[4] add(x, x)\n ROOT r = " + type +
                                "[4] select(q, n, x)\n";
      const CaseReport r = VerdictOf(kTwo, magic, x + "ROOT r = " + type + "[4] copy(x)\n");
      EXPECT_EQ(r.verdict, Verdict::kRefuted) << type << direction << r.reason;
    }
  }
}

}  // namespace
}  // namespace hv
