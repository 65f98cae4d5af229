// How evidence becomes a verdict, row by row, each on a pair of modules from end to end.
#include <gmock/gmock.h>

#include "tests/unit/verify/verdict_of.h"

namespace hv {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr char kOne[] = "num_partitions=1";
constexpr char kTwo[] = "num_partitions=2";
const std::string kX = "x = f32[4] parameter(0)\n";

// x `op` c, the constant broadcast.
std::string WithConstant(const std::string& op, const std::string& c) {
  return kX + "c = f32[] constant(" + c + ")\n b = f32[4] broadcast(c), dimensions={}\n" +
         "ROOT r = f32[4] " + op + "(x, b)\n";
}

TEST(DecidingTable, AProofIsProvedAtItsLevel) {
  const CaseReport r = VerdictOf(kOne, kX + "a = f32[4] negate(x)\n ROOT r = f32[4] negate(a)\n",
                                 kX + "ROOT r = f32[4] copy(x)\n");
  EXPECT_EQ(r.verdict, Verdict::kProved);
  EXPECT_EQ(r.level, Level::kBitwise);
}

// The codes differ, and no native run can show it: no more than a suspicion, in words.
TEST(DecidingTable, AnExactDifferenceAloneIsASuspicion) {
  const auto scaled = [](const std::string& c) {
    return kX + "c = f32[] constant(" + c + ")\n b = f32[4] broadcast(c), dimensions={}\n" +
           "m = f32[4] multiply(x, b)\n ROOT r = bf16[4] convert(m)\n";
  };
  const CaseReport r = VerdictOf(kOne, scaled("1"), scaled("1.0000001"));
  EXPECT_EQ(r.verdict, Verdict::kUnknown);
  EXPECT_THAT(r.reason, HasSubstr("differs over the reals by less than rounding shows"));
  EXPECT_FALSE(r.unsupported);
  EXPECT_FALSE(r.as_expected);
  EXPECT_EQ(ExitCodeOf(r, FailOn::kUnknown), kExitUnknown);
}

TEST(DecidingTable, ADifferenceBeyondRoundingIsRefutedAndRunAgain) {
  const CaseReport r =
      VerdictOf(kOne, WithConstant("multiply", "1"), WithConstant("multiply", "1.01"));
  EXPECT_EQ(r.verdict, Verdict::kRefuted);
  EXPECT_THAT(r.evidence, Contains(Field(&Evidence::detail, HasSubstr("across all ranks"))));
}

TEST(DecidingTable, IntegersAreRefutedByTheirBits) {
  const std::string x = "x = s32[4] parameter(0)\n";
  EXPECT_EQ(VerdictOf(kOne, x + "a = s32[4] abs(x)\n ROOT r = s32[4] negate(a)\n",
                      x + "ROOT r = s32[4] negate(x)\n")
                .verdict,
            Verdict::kRefuted);
}

// x / 12 and x * fl(1 / 12): named, and equal over the reals but for the rounding of the constant.
TEST(DecidingTable, ARoundedReciprocalIsNamed) {
  const CaseReport r =
      VerdictOf(kOne, WithConstant("divide", "12"), WithConstant("multiply", "0.0833333358"));
  EXPECT_EQ(r.verdict, Verdict::kProved);
  EXPECT_EQ(r.level, Level::kReal);
  EXPECT_THAT(r.reason, HasSubstr("constant rounded"));
  EXPECT_THAT(r.missed, HasSubstr("only at level real"));
}

// One that is no rounded reciprocal: 12 / 12 is 1 without rounding, and the product is not.
TEST(DecidingTable, AWrongReciprocalIsRefuted) {
  const CaseReport r =
      VerdictOf(kOne, WithConstant("divide", "12"), WithConstant("multiply", "0.0833333433"));
  EXPECT_EQ(r.verdict, Verdict::kRefuted) << r.reason;
}

Scenario Tested(const std::string& before, const std::string& after) {
  Scenario scenario = PairOf(ModuleOf(kTwo, before), ModuleOf(kTwo, after));
  scenario.inputs.mode = Mode::kTest;
  return scenario;
}

TEST(DecidingTable, NoSuspicionAndNoProofIsTestedWithABound) {
  const CaseReport r = VerdictOf(Tested(kX + "t = f32[4] tanh(x)\n ROOT r = f32[4] add(t, x)\n",
                                        kX + "t = f32[4] tanh(x)\n ROOT r = f32[4] add(x, t)\n"));
  EXPECT_EQ(r.verdict, Verdict::kTested);
  EXPECT_THAT(r.reason, HasSubstr("chance of a miss at most"));
}

TEST(DecidingTable, WithoutABoundItSaysSo) {
  const std::string gathers =
      kX +
      "i = s32[2,1] parameter(1)\n ROOT g = f32[2] gather(x, i), offset_dims={}, "
      "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n";
  const CaseReport r = VerdictOf(Tested(gathers, gathers));
  EXPECT_EQ(r.verdict, Verdict::kTested);
  EXPECT_THAT(r.reason, HasSubstr("no bound on the chance of a miss"));
}

}  // namespace
}  // namespace hv
