// What rounding explains is never REFUTED: sums in other orders, of data or of constants, and what
// depends on their last bits; what it does not explain is.
#include <gmock/gmock.h>

#include "tests/unit/verify/verdict_of.h"

namespace hv {
namespace {

constexpr char kFour[] = "num_partitions=4";

std::string AllReduce(const std::string& result, const std::string& operand,
                      const std::string& groups, int channel) {
  return result + " = f32[4] all-reduce(" + operand + "), channel_id=" + std::to_string(channel) +
         ", replica_groups=" + groups + ", use_global_device_ids=true, to_apply=sum\n";
}

// The sum over all four devices, at once or in two levels.
std::string OneLevel(const std::string& x) { return AllReduce("s", x, "{{0,1,2,3}}", 1); }
std::string TwoLevels(const std::string& x) {
  return AllReduce("t", x, "{{0,3},{1,2}}", 1) + AllReduce("s", "t", "{{0,1},{3,2}}", 2);
}

TEST(Rounding, SumsOfConstantsInAnotherOrder) {
  const std::string numbers =
      "x = f32[4] parameter(0)\n p = u32[] partition-id()\n f = f32[] convert(p)\n"
      "c = f32[] constant(0.1)\n d = f32[] constant(0.3)\n e = f32[] multiply(f, c)\n"
      "g = f32[] add(e, d)\n b = f32[4] broadcast(g), dimensions={}\n";
  const std::string tail = "ROOT r = (f32[4], f32[4]) tuple(s, x)\n";
  const CaseReport r =
      VerdictOf(kFour, numbers + OneLevel("b") + tail, numbers + TwoLevels("b") + tail);
  EXPECT_NE(r.verdict, Verdict::kRefuted) << r.counterexample->before << r.counterexample->after;
}

TEST(Rounding, TruthOfASumAtItsThreshold) {
  const std::string x = "x = f32[4] parameter(0)\n";
  // Compared with itself in the other order: the last bit decides.
  const auto compares = [&](const std::string& first, const std::string& second) {
    return x + AllReduce("u", "x", "{{0,1,2,3}}", 1) + AllReduce("t", "x", "{{0,3},{1,2}}", 2) +
           AllReduce("v", "t", "{{0,1},{3,2}}", 3) + "ROOT c = pred[4] compare(" + first + ", " +
           second + "), direction=GT\n";
  };
  const CaseReport r = VerdictOf(kFour, compares("u", "v"), compares("v", "u"));
  EXPECT_NE(r.verdict, Verdict::kRefuted);
}

// No other arithmetic: a function is not exact because its types are not those of sums.
TEST(Rounding, FunctionsAlone) {
  const std::string x = "x = f32[8] parameter(0)\n";
  const CaseReport r = VerdictOf(
      kFour, x + "ROOT r = f32[8] copy(x)\n",
      x + "f = c64[5] fft(x), fft_type=RFFT, fft_length={8}\n"
          "ROOT r = f32[8] fft(f), fft_type=IRFFT, fft_length={8}\n");
  EXPECT_NE(r.verdict, Verdict::kRefuted);
}

// Equal over the reals: what is rounded on the way, and where, is no evidence of a difference.
TEST(Rounding, QuotientsAndPrecisionAreNoWholeNumbers) {
  const auto of = [](const std::string& body) { return "x = f32[4] parameter(0)\n" + body; };
  const std::string three = "c = f32[] constant(3)\n b = f32[4] broadcast(c), dimensions={}\n";
  const std::pair<std::string, std::string> pairs[] = {
      {of(OneLevel("x") + three + "ROOT r = f32[4] divide(s, b)\n"),
       of(three + "y = f32[4] divide(x, b)\n" + OneLevel("y") + "ROOT r = f32[4] copy(s)\n")},
      {of("ROOT r = f32[4] copy(x)\n"),
       of("ROOT r = f32[4] reduce-precision(x), exponent_bits=8, mantissa_bits=2\n")},
      {of("ROOT r = f32[4] copy(x)\n"),
       of("ROOT r = f32[4] reduce-precision(x), exponent_bits=2, mantissa_bits=23\n")},
      {of("ROOT r = f32[4] copy(x)\n"),
       of("y = f8e8m0fnu[4] convert(x)\n ROOT r = f32[4] convert(y)\n")},
      {of("ROOT r = f32[4] copy(x)\n"),
       of("y = f4e2m1fn[4] convert(x)\n ROOT r = f32[4] convert(y)\n")}};
  for (const auto& [before, after] : pairs) {
    const CaseReport r = VerdictOf(kFour, before, after);
    EXPECT_EQ(r.verdict, Verdict::kProved) << before << after << r.reason;
    EXPECT_EQ(r.level, Level::kReal);
  }
}

// One output goes through an op that has no enclosure; the other is wrong, and is found.
TEST(Rounding, WhatHasNoEnclosureHidesNothingElse) {
  const auto program = [](const std::string& y) {
    return "x = f32[4] parameter(0)\n f = c64[3] fft(x), fft_type=RFFT, fft_length={4}\n"
           "e = f32[4] exponential(x)\n y = f32[4] " +
           y + "\nROOT r = (c64[3], f32[4]) tuple(f, y)\n";
  };
  EXPECT_EQ(VerdictOf("num_partitions=1", program("negate(e)"), program("copy(e)")).verdict,
            Verdict::kRefuted);
}

// Complex sums have no enclosures; integers that keep them exact show the difference.
TEST(Rounding, ComplexSumsOfIntegersAreExact) {
  const std::string computations =
      "csum { a = c64[] parameter(0) b = c64[] parameter(1) ROOT r = c64[] add(a, b) }\n";
  const auto sum = [&](const std::string& groups) {
    return ModuleOf(kFour,
                    "x = c64[2] parameter(0)\n ROOT s = c64[2] all-reduce(x), channel_id=1, "
                    "replica_groups=" +
                        groups + ", use_global_device_ids=true, to_apply=csum\n",
                    computations);
  };
  EXPECT_EQ(VerdictOf(PairOf(sum("{{0,1,2,3}}"), sum("{{0,1},{2,3}}"))).verdict, Verdict::kRefuted);
  EXPECT_NE(VerdictOf(PairOf(sum("{{0,1,2,3}}"), sum("{{3,2,1,0}}"))).verdict, Verdict::kRefuted);
}

TEST(Rounding, BitsOfRoundedValues) {
  const auto bits = [](const std::string& sum) {
    return "x = f32[4] parameter(0)\n" + sum + "ROOT b = u32[4] bitcast-convert(s)\n";
  };
  EXPECT_NE(VerdictOf(kFour, bits(OneLevel("x")), bits(TwoLevels("x"))).verdict, Verdict::kRefuted);
}

TEST(Rounding, SortedConstantsAreExact) {
  const auto sorts = [](const std::string& direction) {
    return ModuleOf("num_partitions=1",
                    "x = f32[4] parameter(0)\n ROOT s = f32[4] sort(x), dimensions={0}, "
                    "to_apply=order\n",
                    "order { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] "
                    "compare(a, b), direction=" +
                        direction + " }\n");
  };
  EXPECT_EQ(VerdictOf(PairOf(sorts("LT"), sorts("GT"))).verdict, Verdict::kRefuted);
}

}  // namespace
}  // namespace hv
