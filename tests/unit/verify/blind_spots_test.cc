// What codes and terms could overlook: configurations, effects, the sign of zero, precision of dots.
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
    return kX + "ROOT r = f32[4] custom-call(x), custom_call_target=\"A\", backend_config=" +
           config + "\n";
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
    return kX + "z = f32[] constant(" + zero + ")\n b = f32[4] broadcast(z), dimensions={}\n" + rest;
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

}  // namespace
}  // namespace hv
