// The accuracy that the table of roundings states, measured: sampled f32, f64 and c64 against wider
// arithmetic, every value of bf16 and f16, every value and every pair of the f8 formats.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "hlo/float_formats.h"
#include "hlo/op_rounding.h"
#include "tests/unit/eval/evaluate_text.h"

namespace hv::test {
namespace {

using Wide = long double;
using Complex = std::complex<Wide>;

struct Function {
  Opcode op;
  Wide (*exact)(Wide);
  Complex (*complex)(Complex);  // null: not defined
};

#define HV_FUNCTION(op, name) \
  Function { op, [](Wide x) { return std::name(x); }, [](Complex x) { return std::name(x); } }
#define HV_REAL_FUNCTION(op, name) \
  Function { op, [](Wide x) { return std::name(x); }, nullptr }

Complex Expm1(Complex x) {
  const Wide half_sine = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half_sine * half_sine,
          std::exp(x.real()) * std::sin(x.imag())};
}
Complex Log1p(Complex x) {
  const Wide re = x.real(), im = x.imag();
  return {std::log1p(re * (re + 2) + im * im) / 2, std::atan2(im, re + 1)};
}

const Function kFunctions[] = {
    HV_FUNCTION(Opcode::kAcos, acos),
    HV_FUNCTION(Opcode::kAcosh, acosh),
    HV_FUNCTION(Opcode::kAsin, asin),
    HV_FUNCTION(Opcode::kAsinh, asinh),
    HV_FUNCTION(Opcode::kAtanh, atanh),
    HV_REAL_FUNCTION(Opcode::kCbrt, cbrt),
    HV_FUNCTION(Opcode::kCosh, cosh),
    HV_FUNCTION(Opcode::kCosine, cos),
    HV_REAL_FUNCTION(Opcode::kErf, erf),
    HV_FUNCTION(Opcode::kExponential, exp),
    Function{Opcode::kExponentialMinusOne, [](Wide x) { return std::expm1(x); }, Expm1},
    HV_FUNCTION(Opcode::kLog, log),
    Function{Opcode::kLogPlusOne, [](Wide x) { return std::log1p(x); }, Log1p},
    HV_FUNCTION(Opcode::kSine, sin),
    HV_FUNCTION(Opcode::kSinh, sinh),
    HV_FUNCTION(Opcode::kTan, tan),
    HV_FUNCTION(Opcode::kTanh, tanh),
};

// op(x) or op(x, y) on arrays of `type`, given as their bytes.
template <class T>
std::vector<T> Apply(Opcode op, const std::string& type,
                     const std::vector<std::vector<T>>& operands) {
  const std::string shape = type + "[" + std::to_string(operands[0].size()) + "]";
  std::string body, names;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    body += "  " + name + " = " + shape + " parameter(" + std::to_string(i) + ")\n";
    names += (i > 0 ? ", " : "") + name;
  }
  const Module module =
      Parse(body + "  ROOT r = " + shape + " " + std::string(ToString(op)) + "(" + names + ")");
  std::vector<Value> arguments;
  for (const std::vector<T>& operand : operands) {
    arguments.push_back(Value::NewNative(module.Entry().At(0).shape));
    std::copy(operand.begin(), operand.end(), arguments.back().MutableAs<T>().begin());
  }
  const auto domain = MakeNativeDomain();
  const Result<Value> result = Evaluate(*domain, module, std::move(arguments));
  HV_CHECK(result.has_value(), result ? "" : FormatError(result.error()));
  const std::span<const T> all = result->As<T>();
  return {all.begin(), all.end()};
}

// |got - exact| in units in the last place of `exact` in a format of `precision` bits whose least
// normal number is `tiny`; 0 for what agrees as NaN or infinity.
double Ulps(Wide got, Wide exact, int precision, Wide tiny, Wide largest) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) == std::isnan(exact) ? 0 : 1e9;
  if (got == exact) return 0;
  const Wide unit =
      std::ldexp(Wide{1}, std::ilogb(std::max(std::fabs(exact), tiny)) - precision + 1);
  // Infinity stands for the number after the largest one.
  const Wide top = std::ldexp(Wide{1}, std::ilogb(largest) + 1);
  if (std::isinf(got)) got = std::copysign(top, got);
  if (std::fabs(exact) > top) exact = std::copysign(top, exact);
  return static_cast<double>(std::fabs(got - exact) / unit);
}

template <class T>
double UlpsOf(T got, Wide exact) {
  using Limits = std::numeric_limits<T>;
  return Ulps(got, exact, Limits::digits, Limits::min(), Limits::max());
}

std::vector<float> EveryFloat(uint64_t step) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (float x = 0x1p-6f; x < 128; x *= 1.0009765f) values.insert(values.end(), {x, -x});
  return values;
}

// Half of them patterns of any kind, half numbers of usual size.
std::vector<double> SomeDoubles(size_t count) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  while (values.size() < count) {
    values.push_back(std::bit_cast<double>(random()));
    values.push_back(std::ldexp(static_cast<double>(static_cast<int64_t>(random())),
                                static_cast<int>(random() % 20) - 73));
  }
  return values;
}

class LibraryFunction : public testing::TestWithParam<Function> {};

TEST_P(LibraryFunction, F32AndF64) {
  const auto& [op, exact, complex] = GetParam();
  const LibraryUlps most = *LibraryUlpsOf(op);
  const std::vector<float> x = EveryFloat(65'537);
  const std::vector<float> y = Apply<float>(op, "f32", {x});
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, UlpsOf(y[i], exact(x[i])));
  EXPECT_LE(worst, most.f32) << "f32";
  const std::vector<double> u = SomeDoubles(20'000);
  const std::vector<double> v = Apply<double>(op, "f64", {u});
  worst = 0;
  for (size_t i = 0; i < u.size(); ++i) worst = std::max(worst, UlpsOf(v[i], exact(u[i])));
  EXPECT_LE(worst, most.f64) << "f64";
}

// Rounded once from f32: as good as from the exact result.
TEST_P(LibraryFunction, EveryHalf) {
  for (const ElementType type : {ElementType::kBF16, ElementType::kF16}) {
    std::vector<uint16_t> x(65'536);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i);
    const std::vector<uint16_t> y =
        Apply<uint16_t>(GetParam().op, std::string(ToString(type)), {x});
    const Wide tiny = type == ElementType::kBF16 ? 0x1p-126L : 0x1p-14L;
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const Wide exact = GetParam().exact(FloatFromBits(type, x[i]));
      worst = std::max(worst, Ulps(FloatFromBits(type, y[i]), exact, PrecisionBits(type), tiny,
                                   LargestFinite(type)));
    }
    EXPECT_LE(worst, 0.501) << ToString(type);
  }
}

constexpr ElementType kBytes[] = {
    ElementType::kF8E3M4,     ElementType::kF8E4M3,        ElementType::kF8E4M3FN,
    ElementType::kF8E4M3FNUZ, ElementType::kF8E4M3B11FNUZ, ElementType::kF8E5M2,
    ElementType::kF8E5M2FNUZ};

bool SameByte(ElementType type, uint32_t a, uint32_t b) {
  return a == b || (std::isnan(FloatFromBits(type, a)) && std::isnan(FloatFromBits(type, b)));
}

TEST_P(LibraryFunction, EveryByteIsCorrectlyRounded) {
  for (const ElementType type : kBytes) {
    std::vector<uint8_t> x(256);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i);
    const std::vector<uint8_t> y = Apply<uint8_t>(GetParam().op, std::string(ToString(type)), {x});
    for (size_t i = 0; i < x.size(); ++i) {
      const auto exact = static_cast<double>(GetParam().exact(FloatFromBits(type, x[i])));
      EXPECT_TRUE(SameByte(type, y[i], BitsFromDouble(type, exact)))
          << ToString(type) << " of " << FloatFromBits(type, x[i]);
    }
  }
}

TEST_P(LibraryFunction, C64) {
  if (GetParam().complex == nullptr) return;
  std::mt19937_64 random(3);
  std::vector<std::complex<float>> x(20'000);
  const auto part = [&] {
    return static_cast<float>(std::ldexp(static_cast<double>(static_cast<int64_t>(random())),
                                         static_cast<int>(random() % 10) - 68));
  };
  for (auto& z : x) z = {part(), part()};
  const auto y = Apply<std::complex<float>>(GetParam().op, "c64", {x});
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Complex exact = GetParam().complex(Complex(x[i]));
    worst = std::max({worst, UlpsOf(y[i].real(), exact.real()), UlpsOf(y[i].imag(), exact.imag())});
  }
  EXPECT_LE(worst, 1);
}

INSTANTIATE_TEST_SUITE_P(All, LibraryFunction, testing::ValuesIn(kFunctions), [](const auto& f) {
  std::string name(ToString(f.param.op));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Rounding, FunctionsOfTwo) {
  std::vector<float> all, x, y;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 9'998'777) {
    all.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (float a = 0.03125f; a < 40; a *= 1.07f) all.insert(all.end(), {a, -a});
  for (const float a : all) {
    for (const float b : all) x.push_back(a), y.push_back(b);
  }
  const std::vector<float> power = Apply<float>(Opcode::kPower, "f32", {x, y});
  const std::vector<float> angle = Apply<float>(Opcode::kAtan2, "f32", {x, y});
  double worst_power = 0, worst_angle = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Wide base = x[i], exponent = y[i];
    const bool one = base == 1 || exponent == 0;
    worst_power = std::max(worst_power, UlpsOf(power[i], one ? 1 : std::pow(base, exponent)));
    worst_angle = std::max(worst_angle, UlpsOf(angle[i], std::atan2(base, exponent)));
  }
  EXPECT_LE(worst_power, LibraryUlpsOf(Opcode::kPower)->f32);
  EXPECT_LE(worst_angle, LibraryUlpsOf(Opcode::kAtan2)->f32);
}

// Written out as their formulas, rounded at each step.
TEST(Rounding, ComposedFunctions) {
  const std::vector<float> x = EveryFloat(65'537);
  const std::vector<float> root = Apply<float>(Opcode::kSqrt, "f32", {x});
  const std::vector<float> inverse = Apply<float>(Opcode::kRsqrt, "f32", {x});
  const std::vector<float> logistic = Apply<float>(Opcode::kLogistic, "f32", {x});
  for (size_t i = 0; i < x.size(); ++i) {
    const Wide wide = x[i];
    EXPECT_LE(UlpsOf(root[i], std::sqrt(wide)), 0.5) << x[i];
    EXPECT_LE(UlpsOf(inverse[i], 1 / std::sqrt(wide)), 2) << x[i];
    if (x[i] < -89) {
      EXPECT_EQ(logistic[i], 0) << x[i];
    } else if (!(x[i] < -88)) {
      EXPECT_LE(UlpsOf(logistic[i], 1 / (1 + std::exp(-wide))), 2) << x[i];
    }
  }
}

TEST(Rounding, EveryPairOfBytesIsCorrectlyRounded) {
  struct Operation {
    Opcode op;
    double (*exact)(double, double);
  };
  const Operation operations[] = {
      {Opcode::kAdd, [](double x, double y) { return x + y; }},
      {Opcode::kSubtract, [](double x, double y) { return x - y; }},
      {Opcode::kMultiply, [](double x, double y) { return x * y; }},
      {Opcode::kDivide, [](double x, double y) { return x / y; }},
      {Opcode::kRemainder, [](double x, double y) { return std::fmod(x, y); }},
  };
  std::vector<uint8_t> x(65'536), y(65'536);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<uint8_t>(i / 256);
    y[i] = static_cast<uint8_t>(i % 256);
  }
  for (const ElementType type : kBytes) {
    for (const auto& [op, exact] : operations) {
      const std::vector<uint8_t> z = Apply<uint8_t>(op, std::string(ToString(type)), {x, y});
      int wrong = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double result = exact(FloatFromBits(type, x[i]), FloatFromBits(type, y[i]));
        wrong += !SameByte(type, z[i], BitsFromDouble(type, result));
      }
      EXPECT_EQ(wrong, 0) << ToString(type) << " " << ToString(op);
    }
  }
}

}  // namespace
}  // namespace hv::test
