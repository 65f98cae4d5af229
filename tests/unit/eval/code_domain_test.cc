// Codes behave as their algebra says: arithmetic agrees with native integers, functions are
// canonical, free operations depend on multisets, weights are gross.
#include "eval/code_domain.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "eval/field.h"
#include "tests/unit/eval/evaluate_text.h"

namespace hv::test {
namespace {

const std::string kParameters =
    "  a = f32[2] parameter(0)\n  b = f32[2] parameter(1)\n  c = f32[2] parameter(2)\n";

// Finished codes of the root for random leaves of all parameters.
Value Codes(CodeDomain& domain, const Module& module) {
  std::vector<Value> arguments;
  for (const InstructionIndex p : module.Entry().parameters) {
    const auto seed = static_cast<uint64_t>(arguments.size() + 1) * 1000003;
    arguments.push_back(
        domain.EncodeLeaf(module.Entry().At(p).shape, [&](int64_t i, int component) {
          return (seed + static_cast<uint64_t>(i) * 77 + static_cast<uint64_t>(component)) *
                     0x9E3779B97F4A7C15 >>
                 3;
        }));
  }
  const Result<Value> value = Evaluate(domain, module, std::move(arguments));
  HV_CHECK(value.has_value(), value ? "" : value.error().Message());
  return domain.Finish(*value);
}

bool SameInField(const std::string& x, const std::string& y, const std::string& computations = "") {
  const std::unique_ptr<CodeDomain> domain = MakeFieldDomain(11);
  return SameBits(Codes(*domain, Parse(kParameters + x, computations)),
                  Codes(*domain, Parse(kParameters + y, computations)));
}

template <class F>
void ExpectAxioms() {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const F x = F::Of(random()), y = F::Of(random()), z = F::Of(random());
    EXPECT_EQ(x * (y + z), x * y + x * z);
    EXPECT_EQ(x * (y * z), (x * y) * z);
    EXPECT_EQ((x - y) + y, x);
    const auto product = static_cast<unsigned __int128>(x.number()) * y.number() % F::kPrime;
    EXPECT_EQ((x * y).number(), static_cast<uint64_t>(product));
    if (!x.IsZero()) {
      EXPECT_EQ(x * x.Inverse(), F::Of(1));
    }
  }
  const F last = -F::Of(1);
  EXPECT_EQ(last * last, F::Of(1));
  EXPECT_EQ(F::PowerOfTwo(-3) * F::Of(8), F::Of(1));
  EXPECT_EQ(F::PowerOfTwo(-1000) * F::PowerOfTwo(1000), F::Of(1));
  EXPECT_EQ(F::OfSigned(INT64_MIN), -(F::Of(uint64_t{1} << 62) + F::Of(uint64_t{1} << 62)));
}

TEST(Field, Axioms) {
  ExpectAxioms<Fp>();
  ExpectAxioms<Fq>();
  EXPECT_EQ(Fp::PowerOfTwo(61), Fp::Of(1));  // why there are two fields
  EXPECT_NE(Fq::PowerOfTwo(61), Fq::Of(1));
}

// A random straight-line program of + - * and negate over integers of `type`.
std::string RandomProgram(std::mt19937& random, const std::string& type, int length) {
  std::string text;
  for (int p = 0; p < 3; ++p) {
    text += "  v" + std::to_string(p) + " = " + type + "[4] parameter(" + std::to_string(p) + ")\n";
  }
  for (int i = 3; i < 3 + length; ++i) {
    const auto value = [&] { return "v" + std::to_string(random() % static_cast<unsigned>(i)); };
    const char* const ops[] = {"add", "subtract", "multiply", "negate"};
    const std::string op = ops[random() % 4];
    text += i == 2 + length ? "  ROOT v" : "  v";
    text += std::to_string(i) + " = " + type + "[4] " + op + "(" + value() +
            (op == "negate" ? "" : ", " + value()) + ")\n";
  }
  return text;
}

// Native integers lifted at the end must equal the codes of lifted inputs.
void ExpectHomomorphism(CodeDomain& domain, const std::string& type, int64_t largest, int length) {
  std::mt19937 random(3);
  const std::unique_ptr<Domain> native = MakeNativeDomain();
  for (int trial = 0; trial < 200; ++trial) {
    const Module module = Parse(RandomProgram(random, type, length));
    std::vector<Value> numbers, codes;
    for (const InstructionIndex p : module.Entry().parameters) {
      const Shape* shape = module.Entry().At(p).shape;
      numbers.push_back(Value::NewNative(shape));
      for (int64_t i = 0; i < 4; ++i) {
        const int64_t number = std::uniform_int_distribution<int64_t>(-largest, largest)(random);
        std::memcpy(numbers.back().MutableBytes().data() + i * HostBytes(shape->type), &number,
                    static_cast<size_t>(HostBytes(shape->type)));
      }
      codes.push_back(domain.Lift(numbers.back()));
    }
    const Value expected = domain.Finish(*Evaluate(*native, module, numbers));
    ASSERT_TRUE(SameBits(domain.Finish(*Evaluate(domain, module, codes)), expected))
        << "trial " << trial;
  }
}

TEST(FieldDomain, AgreesWithIntegers) { ExpectHomomorphism(*MakeFieldDomain(5), "s64", 9, 5); }

TEST(WrapDomain, AgreesWithWrappingIntegers) {
  for (const char* type : {"s8", "u16", "s32", "u64"}) {
    ExpectHomomorphism(*MakeWrapDomain(5), type, INT64_MAX, 12);
  }
}

TEST(FieldDomain, RealArithmetic) {
  EXPECT_TRUE(SameInField("  s = f32[2] add(a, b)\n  ROOT r = f32[2] multiply(s, c)",
                          "  x = f32[2] multiply(c, a)\n  y = f32[2] multiply(b, c)\n"
                          "  ROOT r = f32[2] add(y, x)"));
  EXPECT_TRUE(SameInField("  k = f32[2] constant({8, 0.375})\n  ROOT r = f32[2] divide(a, k)",
                          "  k = f64[2] constant({0.125, 2.6666666666666665})\n"
                          "  one = f64[2] constant({1, 3})\n  e = f64[2] constant({1, 8})\n"
                          "  w = f64[2] convert(a)\n  p = f64[2] constant({0.125, 8})\n"
                          "  q = f64[2] multiply(w, p)\n  d = f64[2] constant({1, 3})\n"
                          "  s = f64[2] divide(q, d)\n  ROOT r = f32[2] convert(s)"));
  EXPECT_FALSE(SameInField("  ROOT r = f32[2] add(a, b)", "  ROOT r = f32[2] subtract(a, b)"));
}

TEST(FieldDomain, FunctionsAreCanonical) {
  EXPECT_TRUE(SameInField("  ROOT r = pred[2] compare(a, b), direction=GT",
                          "  ROOT r = pred[2] compare(b, a), direction=LT"));
  EXPECT_TRUE(SameInField("  ROOT r = pred[2] compare(a, b), direction=NE",
                          "  e = pred[2] compare(b, a), direction=EQ\n  ROOT r = pred[2] not(e)"));
  EXPECT_FALSE(SameInField("  ROOT r = pred[2] compare(a, b), direction=LT",
                           "  ROOT r = pred[2] compare(b, a), direction=LT"));
  EXPECT_TRUE(SameInField("  w = f64[2] convert(a)\n  ROOT r = f64[2] exponential(w)",
                          "  e = f32[2] exponential(a)\n  ROOT r = f64[2] convert(e)"));
  EXPECT_FALSE(SameInField("  ROOT r = f32[2] exponential(a)", "  ROOT r = f32[2] tanh(a)"));
  EXPECT_FALSE(SameInField("  ROOT r = s32[2] convert(a)", "  ROOT r = s64[2] convert(a)"));
}

TEST(FieldDomain, FreeOperationsDependOnTheMultiset) {
  const std::string left = "  x = f32[2] maximum(a, b)\n  ROOT r = f32[2] maximum(x, c)";
  EXPECT_TRUE(SameInField(left, "  x = f32[2] maximum(c, b)\n  ROOT r = f32[2] maximum(a, x)"));
  EXPECT_FALSE(SameInField(left, "  x = f32[2] maximum(a, b)\n  ROOT r = f32[2] minimum(x, c)"));
  EXPECT_FALSE(SameInField(left, "  ROOT r = f32[2] maximum(a, b)"));
  EXPECT_TRUE(SameInField("  i = f32[2] constant({-inf, -inf})\n  ROOT r = f32[2] maximum(a, i)",
                          "  ROOT r = f32[2] copy(a)"));
  // Closed by another operation: max(a, b) + 0 is a value of its own.
  EXPECT_TRUE(
      SameInField("  z = f32[2] constant({0, 0})\n  x = f32[2] maximum(a, b)\n"
                  "  ROOT r = f32[2] add(x, z)",
                  "  ROOT r = f32[2] maximum(b, a)"));
}

TEST(FieldDomain, ReducersWithIdentityInits) {
  const std::string max =
      "m { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] maximum(x, y) }";
  EXPECT_TRUE(
      SameInField("  t = f32[4] concatenate(a, b), dimensions={0}\n  i = f32[] constant(-inf)\n"
                  "  ROOT r = f32[] reduce(t, i), dimensions={0}, to_apply=m",
                  "  x = f32[2] maximum(b, a)\n  s = f32[1] slice(x), slice={[0:1]}\n"
                  "  u = f32[1] slice(x), slice={[1:2]}\n  y = f32[1] maximum(u, s)\n"
                  "  ROOT r = f32[] reshape(y)",
                  max));
}

TEST(FieldDomain, TheMaximumOfOneIsItself) {
  const std::string max =
      "m { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] maximum(x, y) }";
  EXPECT_TRUE(
      SameInField("  t = f32[1,2] reshape(a)\n  i = f32[] constant(-inf)\n"
                  "  ROOT r = f32[2] reduce(t, i), dimensions={0}, to_apply=m",
                  "  ROOT r = f32[2] copy(a)", max));
}

TEST(FieldDomain, SelectByConcreteAndByCodedPredicates) {
  EXPECT_TRUE(SameInField("  p = pred[2] constant({1, 0})\n  ROOT r = f32[2] select(p, a, b)",
                          "  x = f32[1] slice(a), slice={[0:1]}\n"
                          "  y = f32[1] slice(b), slice={[1:2]}\n"
                          "  ROOT r = f32[2] concatenate(x, y), dimensions={0}"));
  const std::string p = "  p = pred[2] compare(a, b), direction=LT\n";
  EXPECT_TRUE(SameInField(p + "  ROOT r = f32[2] select(p, c, c)", "  ROOT r = f32[2] copy(c)"));
  EXPECT_TRUE(SameInField(p + "  n = pred[2] not(p)\n  ROOT r = f32[2] select(n, a, b)",
                          p + "  ROOT r = f32[2] select(p, b, a)"));
}

TEST(FieldDomain, DotIsSumsOfProducts) {
  EXPECT_TRUE(SameInField(
      "  ROOT r = f32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
      "  p = f32[2] multiply(b, a)\n  z = f32[] constant(0)\n"
      "  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=s",
      "s { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] add(x, y) }"));
}

TEST(FieldDomain, UnknownReducersFoldInOrder) {
  const std::string f =
      "f { x = f32[] parameter(0)\n y = f32[] parameter(1)\n k = f32[] constant(2)\n"
      " t = f32[] multiply(x, k)\n ROOT r = f32[] subtract(t, y) }";
  EXPECT_TRUE(SameInField(
      "  z = f32[] constant(0)\n  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=f",
      "  k = f32[1] constant({-2})\n  x = f32[1] slice(a), slice={[0:1]}\n"
      "  y = f32[1] slice(a), slice={[1:2]}\n  m = f32[1] multiply(x, k)\n"
      "  d = f32[1] subtract(m, y)\n  ROOT r = f32[] reshape(d)",
      f));
}

TEST(FieldDomain, OpaqueOpsCompareByOperandsAndAttributes) {
  const std::string lt =
      "lt { x = f32[] parameter(0)\n y = f32[] parameter(1)\n"
      " ROOT r = pred[] compare(x, y), direction=LT }\n"
      "gt { x = f32[] parameter(0)\n y = f32[] parameter(1)\n"
      " ROOT r = pred[] compare(x, y), direction=GT }";
  const std::string sort = "  s = f32[2] add(a, b)\n  ROOT r = f32[2] sort(s), dimensions={0}";
  EXPECT_TRUE(SameInField(sort + ", to_apply=lt",
                          "  s = f32[2] add(b, a)\n"
                          "  ROOT r = f32[2] sort(s), dimensions={0}, to_apply=lt",
                          lt));
  EXPECT_FALSE(SameInField(sort + ", to_apply=lt", sort + ", to_apply=gt", lt));
}

TEST(FieldDomain, DataDependentIndicesAreRefusedByName) {
  const std::unique_ptr<CodeDomain> domain = MakeFieldDomain(1);
  const Module module = Parse(
      "  x = f32[4] parameter(0)\n  i = s32[] parameter(1)\n"
      "  ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}");
  std::vector<Value> arguments;
  for (const InstructionIndex p : module.Entry().parameters) {
    arguments.push_back(
        domain->EncodeLeaf(module.Entry().At(p).shape, [](int64_t, int) { return uint64_t{5}; }));
  }
  const Result<Value> value = Evaluate(*domain, module, std::move(arguments));
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().Message(), "dynamic-slice: data-dependent index");
}

TEST(FieldDomain, TraceSaysWhatHappened) {
  const std::unique_ptr<CodeDomain> domain = MakeFieldDomain(1);
  Codes(*domain, Parse(kParameters + "  k = f32[2] constant({2, 3})\n"
                                     "  x = f32[2] multiply(a, k)\n  ROOT r = f32[2] add(x, b)"));
  EXPECT_FALSE(domain->trace().products || domain->trace().functions ||
               domain->trace().precision_changed || domain->trace().free_operations);
  Codes(*domain, Parse(kParameters + "  x = f32[2] multiply(a, b)\n"
                                     "  ROOT r = bf16[2] convert(x)"));
  EXPECT_TRUE(domain->trace().products && domain->trace().precision_changed);
}

TEST(MagnitudeDomain, WeightsAreGross) {
  const std::unique_ptr<CodeDomain> domain = MakeMagnitudeDomain();
  const Module module = Parse(kParameters +
                              "  k = f32[2] constant({-3, 0.5})\n  x = f32[2] multiply(a, k)\n"
                              "  y = f32[2] subtract(x, b)\n  n = f32[2] negate(b)\n"
                              "  ROOT r = f32[2] subtract(y, n)");
  std::vector<Value> ones;
  for (const InstructionIndex p : module.Entry().parameters) {
    ones.push_back(
        domain->EncodeLeaf(module.Entry().At(p).shape, [](int64_t, int) { return uint64_t{1}; }));
  }
  const Value weights = *Evaluate(*domain, module, ones);
  EXPECT_EQ(domain->CodeAt(weights, 0)[0], 5u);
  EXPECT_EQ(domain->CodeAt(weights, 1)[0], 3u);  // 2.5 rounded up
}

}  // namespace
}  // namespace hv::test
