// What power sums prove, and traps: pairs that agree in F_p, or in the runs a careless bound would
// ask for, and yet differ at the level claimed. Every one of them was proved at too high a level,
// or by an argument that does not hold, until a side condition was added.
#include <gmock/gmock.h>

#include "sim/mesh.h"
#include "tests/unit/verify/verdict_of.h"
#include "verify/exact_runs.h"
#include "verify/prepare.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

constexpr char kOne[] = "num_partitions=1";
const std::string kX = "x = f32[2] parameter(0)\n";
const std::string kXY = kX + "y = f32[2] parameter(1)\n";

// What the exact runs alone find, without the prover.
CodeFindings FindingsOf(const std::string& header, const std::string& before,
                        const std::string& after) {
  const Scenario scenario = PairOf(ModuleOf(header, before), ModuleOf(header, after));
  auto prepared = Prepare(scenario);
  const Pair& pair = std::get<Prepared>(prepared).pair;
  const InputSpace space(pair.before, pair.mesh);
  const auto ranges = ResolveRanges(space, scenario.inputs);
  return ExactRuns(pair, space, scenario.inputs, *ranges).Run(true);
}

Level ProvedLevel(const std::string& before, const std::string& after,
                  const std::string& header = kOne) {
  const CodeFindings findings = FindingsOf(header, before, after);
  EXPECT_FALSE(findings.error) << findings.error->Message();
  return findings.proof ? findings.proof->level : Level::kNone;
}

TEST(PowerSums, MovementIsBitwise) {
  EXPECT_EQ(ProvedLevel(kXY + "ROOT r = f32[4] concatenate(x, y), dimensions={0}\n",
                        kXY + "z = f32[] constant(0)\n a = f32[4] pad(x, z), padding=0_2\n"
                              "two = s32[] constant(2)\n"
                              "ROOT r = f32[4] dynamic-update-slice(a, y, two)\n"),
            Level::kBitwise);
}

TEST(PowerSums, SumsAreReassociation) {
  EXPECT_EQ(ProvedLevel(kXY + "a = f32[2] add(x, y)\n ROOT r = f32[2] add(a, x)\n",
                        kXY + "a = f32[2] add(x, x)\n ROOT r = f32[2] add(y, a)\n"),
            Level::kReassociation);
}

TEST(PowerSums, IntegersOfOneTypeAreBitwise) {
  const std::string xy = "x = s8[2] parameter(0)\ny = s8[2] parameter(1)\n";
  EXPECT_EQ(ProvedLevel(xy + "a = s8[2] subtract(x, y)\n ROOT r = s8[2] add(a, y)\n",
                        xy + "ROOT r = s8[2] copy(x)\n"),
            Level::kBitwise);
}

// The constants are one number modulo p, modulo 2^64 they are not.
TEST(PowerSums, ConstantsBeyondThePrimeAreNoCodes) {
  const std::string x = "x = s64[1] parameter(0)\n";
  const auto moved = [&](const std::string& c) {
    return x + "c = s64[1] constant({" + c +
           "})\n ROOT r = s64[2] concatenate(x, c), dimensions={0}\n";
  };
  const auto added = [&](const std::string& c) {
    return x + "c = s64[1] constant({" + c + "})\n ROOT r = s64[1] add(x, c)\n";
  };
  EXPECT_EQ(ProvedLevel(moved("2305843009213693954"), moved("3")), Level::kNone);
  EXPECT_EQ(ProvedLevel(added("2305843009213693954"), added("3")), Level::kNone);
  for (const auto& make : {std::function<std::string(const std::string&)>(moved),
                           std::function<std::string(const std::string&)>(added)}) {
    const CaseReport r = VerdictOf(kOne, make("2305843009213693954"), make("3"));
    EXPECT_EQ(r.verdict, Verdict::kRefuted) << r.reason;
  }
}

// 2^61 is 1 modulo p, for floats too.
TEST(PowerSums, FloatsThatDifferByAPowerOfTwoHaveOtherCodes) {
  const auto with = [](const std::string& c) {
    return kX + "c = f32[1] constant({" + c +
           "})\n ROOT r = f32[3] concatenate(x, c), dimensions={0}\n";
  };
  EXPECT_TRUE(FindingsOf(kOne, with("2305843009213693952"), with("1")).difference);
  EXPECT_TRUE(FindingsOf(kOne, with("4.33680869e-19"), with("1")).difference);
  EXPECT_EQ(VerdictOf(kOne, with("2305843009213693952"), with("1")).verdict, Verdict::kRefuted);
}

TEST(PowerSums, ConcreteOutputsAreComparedAsTheyAre) {
  const auto constant = [](const std::string& c) {
    return "x = s64[1] parameter(0)\n ROOT r = s64[1] constant({" + c + "})\n";
  };
  EXPECT_TRUE(FindingsOf(kOne, constant("2305843009213693954"), constant("3")).difference);
  // A zero that comes out of data against a constant that is zero modulo p.
  const std::string zeros =
      "x = s64[1] parameter(0)\n z = s64[] constant(0)\n p = s64[2] pad(x, z), padding=0_1\n"
      "ROOT r = s64[1] slice(p), slice={[1:2]}\n";
  EXPECT_EQ(ProvedLevel(constant("2305843009213693951"), zeros), Level::kNone);
}

// A negative zero that is moved among data: never bitwise, whatever moves it.
TEST(PowerSums, SignedZerosAreNotBitwise) {
  const std::string mask = kX + "p = pred[2] constant({true, false})\n";
  const auto selects = [&](const std::string& c) {
    return mask + "c = f32[2] constant({" + c + "})\n ROOT r = f32[2] select(p, x, c)\n";
  };
  EXPECT_EQ(ProvedLevel(selects("-0, -0"), selects("0, 0")), Level::kReassociation);
  const auto pads = [&](const std::string& c) {
    return kX + "c = f32[] constant(" + c + ")\n ROOT r = f32[3] pad(x, c), padding=0_1\n";
  };
  EXPECT_EQ(ProvedLevel(pads("-0"), pads("0")), Level::kReassociation);
  const auto scatters = [&](const std::string& c) {
    return kX + "c = f32[3] constant({" + c + "," + c + "," + c + "})\n" +
           "i = s32[2,1] constant({{0},{1}})\n ROOT s = f32[3] scatter(c, i, x), "
           "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
           "index_vector_dim=1, to_apply=second\n";
  };
  const std::string second = "second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }\n";
  const CaseReport r = VerdictOf(
      PairOf(ModuleOf(kOne, scatters("-0"), second), ModuleOf(kOne, scatters("0"), second)));
  EXPECT_NE(r.level, Level::kBitwise);
}

// The constants add up to the same, but they are other summands.
TEST(PowerSums, MovedConstantsAreSummands) {
  const auto sum = [](const std::string& c) {
    return kX + "c = f32[2] constant({" + c +
           "})\n k = f32[4] concatenate(x, c), dimensions={0}\n"
           "z = f32[] constant(0)\n ROOT r = f32[] reduce(k, z), dimensions={0}, to_apply=sum\n";
  };
  EXPECT_EQ(ProvedLevel(sum("3, 4"), sum("7, 0")), Level::kNone);
}

// x + y - y is x over the reals, and no reassociation of it; (x - y) + z is one of z - y + x.
TEST(PowerSums, SummandsThatCancelAreSummands) {
  EXPECT_EQ(ProvedLevel(kXY + "a = f32[2] add(x, y)\n ROOT r = f32[2] subtract(a, y)\n",
                        kXY + "ROOT r = f32[2] copy(x)\n"),
            Level::kNone);
  // The same gross weight, and yet other summands cancel.
  const std::string xyz = kXY + "z = f32[2] parameter(2)\n";
  const auto cancels = [&](const std::string& v) {
    return xyz + "a = f32[2] add(x, " + v + ")\n ROOT r = f32[2] subtract(a, " + v + ")\n";
  };
  EXPECT_EQ(ProvedLevel(cancels("y"), cancels("z")), Level::kNone);
  EXPECT_EQ(ProvedLevel(xyz + "a = f32[2] subtract(x, y)\n ROOT r = f32[2] add(a, z)\n",
                        xyz + "a = f32[2] subtract(z, y)\n ROOT r = f32[2] add(a, x)\n"),
            Level::kReassociation);
}

// Bits read as another type are a function of the value, not the value.
TEST(PowerSums, BitcastsAreNoMovement) {
  const std::string floats = kXY + "ROOT r = f32[2] add(x, y)\n";
  const std::string integers =
      kXY +
      "i = s32[2] bitcast(x)\n j = s32[2] bitcast(y)\n s = s32[2] add(i, j)\n"
      "ROOT r = f32[2] bitcast(s)\n";
  EXPECT_EQ(ProvedLevel(floats, integers), Level::kNone);
  EXPECT_EQ(VerdictOf(kOne, floats, integers).verdict, Verdict::kRefuted);
}

// s8 sums wrap at 256, s32 sums of the same summands do not: equal forms, other functions.
TEST(PowerSums, IntegersOfTwoWidthsAreNotOneRing) {
  const std::string xy = "x = s8[2] parameter(0)\ny = s8[2] parameter(1)\n";
  const std::string narrow =
      xy +
      "s = s8[2] add(x, y)\n t = s8[2,1] reshape(s)\n one = s8[1] constant({1})\n"
      "ROOT d = s32[2] dot(t, one), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  const std::string wide =
      xy +
      "a = s8[2,1] reshape(x)\n b = s8[2,1] reshape(y)\n"
      "s = s8[2,2] concatenate(a, b), dimensions={1}\n one = s8[2] constant({1, 1})\n"
      "ROOT d = s32[2] dot(s, one), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  EXPECT_EQ(ProvedLevel(narrow, wide), Level::kNone);
  EXPECT_EQ(VerdictOf(kOne, narrow, wide).verdict, Verdict::kRefuted);
}

// D is a multiple of 2^w and no multiple of p: codes differ, integers do not. Never PROVED the
// other way round: p times x is not 0 modulo 2^64.
TEST(PowerSums, MultiplesOfThePrimeAreNotZero) {
  const std::string x = "x = s64[1] parameter(0)\n";
  const std::string scaled =
      x + "c = s64[1] constant({2305843009213693951})\n ROOT r = s64[1] multiply(x, c)\n";
  const std::string zero = x + "ROOT r = s64[1] subtract(x, x)\n";
  EXPECT_EQ(ProvedLevel(scaled, zero), Level::kNone);
  EXPECT_EQ(VerdictOf(kOne, scaled, zero).verdict, Verdict::kRefuted);
}

TEST(PowerSums, NonFiniteConstantsProveNothing) {
  const auto pads = [&](const std::string& c) {
    return kX + "c = f32[] constant(" + c +
           ")\n p = f32[3] pad(x, c), padding=0_1\n"
           "ROOT r = f32[3] add(p, p)\n";
  };
  EXPECT_EQ(ProvedLevel(pads("inf"), pads("inf")), Level::kNone);
  EXPECT_TRUE(FindingsOf(kOne, pads("inf"), pads("nan")).difference);
}

TEST(PowerSums, LoopsCountEveryTurn) {
  const auto loop = [](const std::string& limit, const std::string& use) {
    return ModuleOf(
        kOne,
        "x = f32[2] parameter(0)\n z = s32[] constant(0)\n t = (s32[], f32[2]) tuple(z, x)\n"
        "w = (s32[], f32[2]) while(t), condition=less, body=step\n"
        "ROOT r = f32[2] get-tuple-element(w), index=1\n",
        "less { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] "
        "constant(" +
            limit +
            ") ROOT c = pred[] compare(i, n), direction=LT }\n"
            "step { s = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = "
            "s32[] "
            "constant(1) j = s32[] add(i, one) v = f32[2] get-tuple-element(s), index=1 "
            "w = f32[2] add(v, " +
            use + ") ROOT q = (s32[], f32[2]) tuple(j, w) }\n");
  };
  EXPECT_EQ(VerdictOf(PairOf(loop("5", "v"), loop("6", "v"))).verdict, Verdict::kRefuted);
  EXPECT_EQ(VerdictOf(PairOf(loop("5", "v"), loop("5", "v"))).verdict, Verdict::kProved);
}

// The rounding in between is seen by no code; it must not pass for nothing.
TEST(PowerSums, RoundTripsThroughANarrowTypeAreNamed) {
  const std::string there_and_back = kX + "h = bf16[2] convert(x)\n ROOT r = f32[2] convert(h)\n";
  const std::string reduced =
      kX + "ROOT r = f32[2] reduce-precision(x), exponent_bits=8, mantissa_bits=7\n";
  const std::string plain = kX + "ROOT r = f32[2] copy(x)\n";
  for (const std::string& rounded : {there_and_back, reduced}) {
    EXPECT_EQ(FindingsOf(kOne, plain, rounded).precision, "narrower");
    EXPECT_EQ(FindingsOf(kOne, rounded, plain).precision, "wider");
    EXPECT_FALSE(VerdictOf(kOne, plain, rounded).as_expected);
  }
  const std::string up_and_down = kX + "d = f64[2] convert(x)\n ROOT r = f32[2] convert(d)\n";
  EXPECT_EQ(FindingsOf(kOne, plain, up_and_down).precision, "");
}

// More wrong summands than the four code runs are certain of: the sums up to W decide.
TEST(PowerSums, ManyWrongSummandsAreFound) {
  std::string swapped = "x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n";
  const std::string reduce =
      "z = f32[] constant(0)\n ROOT r = f32[] reduce(k, z), dimensions={0}, to_apply=sum\n";
  EXPECT_TRUE(FindingsOf(kOne, swapped + "k = f32[8] copy(x)\n" + reduce,
                         swapped + "k = f32[8] copy(y)\n" + reduce)
                  .difference);
}

// Maxima and the like are sets of operands, however they are nested and repeated.
TEST(Sets, IdempotentOperationsOfTheSameLeaves) {
  const auto of = [](const std::string& type, const std::string& op, const std::string& last) {
    const std::string declare = " = " + type + "[2] ";
    return "x" + declare + "parameter(0)\n y" + declare + "parameter(1)\n a" + declare + op +
           "(x, y)\n ROOT r" + declare + last + "\n";
  };
  EXPECT_EQ(ProvedLevel(of("s32", "maximum", "maximum(a, x)"), of("s32", "maximum", "copy(a)")),
            Level::kBitwise);
  EXPECT_EQ(ProvedLevel(of("pred", "and", "and(y, a)"), of("pred", "and", "copy(a)")),
            Level::kBitwise);
  EXPECT_EQ(ProvedLevel(of("f32", "minimum", "minimum(a, x)"), of("f32", "minimum", "copy(a)")),
            Level::kReassociation);
  EXPECT_TRUE(
      FindingsOf(kOne, of("s32", "maximum", "maximum(a, x)"), of("s32", "maximum", "maximum(x, x)"))
          .difference);
  // Two operations absorb each other: min(max(x, y), x) is x, and no set says so.
  EXPECT_EQ(ProvedLevel(of("s32", "maximum", "minimum(a, x)"), of("s32", "maximum", "copy(x)")),
            Level::kNone);
}

TEST(Sets, ZerosThatFillGapsAreOperands) {
  const std::string x = "x = s32[2] parameter(0)\n";
  const std::string padded = x +
                             "z = s32[] constant(0)\n p = s32[3] pad(x, z), padding=0_1\n"
                             "q = s32[2] slice(p), slice={[1:3]}\n ROOT r = s32[2] maximum(x, q)\n";
  const std::string shifted = x +
                              "a = s32[1] slice(x), slice={[1:2]}\n"
                              "b = s32[2] concatenate(a, a), dimensions={0}\n"
                              "ROOT r = s32[2] maximum(x, b)\n";
  EXPECT_EQ(ProvedLevel(padded, shifted), Level::kNone);
  EXPECT_EQ(VerdictOf(kOne, padded, shifted).verdict, Verdict::kRefuted);
}

// One input of 200 is left out, beyond the first 64.
TEST(Sets, EveryLeafHasItsTurn) {
  const std::string largest =
      "largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }\n";
  const auto reduce = [&](const std::string& second) {
    return ModuleOf(kOne,
                    "x = f32[200] parameter(0)\n h = f32[199] slice(x), slice={[0:199]}\n"
                    "g = f32[1] slice(x), slice={[" +
                        second +
                        "]}\n y = f32[200] concatenate(h, g), dimensions={0}\n"
                        "i = f32[] constant(-inf)\n ROOT m = f32[] reduce(y, i), dimensions={0}, "
                        "to_apply=largest\n",
                    largest);
  };
  EXPECT_EQ(VerdictOf(PairOf(reduce("199:200"), reduce("199:200"))).verdict, Verdict::kProved);
  const CaseReport r = VerdictOf(PairOf(reduce("199:200"), reduce("198:199")));
  EXPECT_EQ(r.verdict, Verdict::kRefuted) << r.reason;
}

// 2^32 x is 0 modulo 2^32, though not in any field; 2^31 x is not.
TEST(Integers, FormsThatVanishModuloTheirWidth) {
  const std::string x = "x = s32[2] parameter(0)\n";
  const auto scaled = [&](const std::string& a, const std::string& b) {
    return x + "c = s32[2] constant({" + a + "," + a + "})\n d = s32[2] constant({" + b + "," + b +
           "})\n m = s32[2] multiply(x, c)\n ROOT r = s32[2] multiply(m, d)\n";
  };
  const std::string zero = x + "ROOT r = s32[2] subtract(x, x)\n";
  const CodeFindings vanishes = FindingsOf(kOne, scaled("-2147483648", "2"), zero);
  EXPECT_FALSE(vanishes.difference);
  EXPECT_FALSE(vanishes.proof);
  EXPECT_EQ(vanishes.evidence.back().method, "integer codes");
  EXPECT_TRUE(FindingsOf(kOne, scaled("-2147483648", "1"), zero).difference);
}

}  // namespace
}  // namespace hv
