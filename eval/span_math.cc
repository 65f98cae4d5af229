// f32 functions as loops that vectorise. exp runs in f32 with fused multiply-adds, the others in
// f64 by polynomials whose error is below 2^-34, so that one rounding to f32 is left. Arguments for
// which the short formulas do not hold go to the C++ library one by one: what an element yields
// never depends on its neighbours. Coefficients: weighted minimax fits on the reduced ranges.
#include <bit>
#include <cmath>

#include "eval/span_loops.h"

namespace hv::span {
namespace {

HV_INLINE float Fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

// c[0] + x (c[1] + x (..)).
template <class T, size_t n>
HV_INLINE T Polynomial(const T (&c)[n], T x) {
  T sum = c[n - 1];
  for (size_t k = n - 1; k-- > 0;) sum = sum * x + c[k];
  return sum;
}

// e^x = 2^n e^r with |r| <= ln 2 / 2; n is added to the exponent.
struct Exp {
  static constexpr float kToInteger = 0x1.8p23f;  // adding it rounds to an integer
  struct Parts {
    float power;   // of r
    int32_t n;
  };
  HV_INLINE static Parts Reduce(float x) {
    const float shifted = Fma(x, 0x1.715476p0f, kToInteger);
    const float n = shifted - kToInteger;
    // ln 2 in two parts: n times the first leaves an exact rest.
    const float rest = Fma(n, -0x1.62e430p-1f, x), small = n * 0x1.05c610p-29f, r = rest + small;
    float sum = 0x1.6a5ae0p-10f;
    sum = Fma(sum, r, 0x1.123b04p-7f);
    sum = Fma(sum, r, 0x1.5558a6p-5f);
    sum = Fma(sum, r, 0x1.555490p-3f);
    sum = Fma(sum, r, 0x1.fffffcp-2f);
    return {1 + (rest + Fma(r * r, sum, small)),
            std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kToInteger)};
  }
  HV_INLINE static float TimesPower(float x, int32_t n) {
    return std::bit_cast<float>(std::bit_cast<int32_t>(x) + n * (1 << 23));
  }
  // The result is a normal number.
  HV_INLINE static bool IsUsual(float x) { return std::fabs(x) <= 87; }
  HV_INLINE static float Usual(float x) {
    const Parts parts = Reduce(x);
    return TimesPower(parts.power, parts.n);
  }
  // Scaled in two steps, of which the second rounds.
  HV_INLINE static float Any(float x) {
    const float inside = x < -104 ? -104.0f : x > 89 ? 89.0f : x;
    const Parts parts = Reduce(inside != inside ? 0.0f : inside);
    const int32_t half = parts.n / 2;
    const float y = TimesPower(parts.power, half) * TimesPower(1.0f, parts.n - half);
    return x != x ? x : y;
  }
};

// Its formula, step by step; a NaN is negated as bits, since compilers turn 1 + -x into 1 - x.
struct Logistic {
  HV_INLINE static bool IsUsual(float x) { return Exp::IsUsual(x); }
  HV_INLINE static float Usual(float x) { return 1 / (1 + Exp::Usual(-x)); }
  HV_INLINE static float Any(float x) {
    constexpr uint32_t kSign = 0x80000000, kQuiet = 0x00400000;
    const float nan = std::bit_cast<float>((std::bit_cast<uint32_t>(x) ^ kSign) | kQuiet);
    return x != x ? nan : 1 / (1 + Exp::Any(-x));
  }
};

constexpr double kLn2 = 0x1.62e42fefa39efp-1;

// 2^n for |n| < 1000, which comes as 1.5 2^52 + n.
HV_INLINE double PowerOfTwo(double shifted) {
  return std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
}

constexpr double kToInteger = 0x1.8p52;

struct Reduced {
  double scale, minus_one;  // 2^n and e^r - 1
};
HV_INLINE Reduced ReduceExp(double x) {
  const double shifted = x * 0x1.71547652b82fep0 + kToInteger;
  const double n = shifted - kToInteger;
  const double r = (x - n * 0x1.62e42fefa2p-1) - n * 0x1.9ef35793c7673p-41;
  constexpr double kC[] = {0x1.fffffffff4262p-2, 0x1.55555573ff0bbp-3,  0x1.5555557d9d63cp-5,
                           0x1.1110b0c8b603fp-7, 0x1.6c16374086d38p-10, 0x1.a171b3303fda1p-13,
                           0x1.a1775c8098f0fp-16};
  return {PowerOfTwo(shifted), r + r * r * Polynomial(kC, r)};
}

struct Expm1 {
  HV_INLINE static bool IsUsual(float x) { return std::fabs(x) <= 87; }
  HV_INLINE static float Usual(float x) {
    const Reduced e = ReduceExp(x);
    return x == 0 ? x : static_cast<float>(e.scale * e.minus_one + (e.scale - 1));
  }
  HV_INLINE static float Any(float x) { return IsUsual(x) ? Usual(x) : std::expm1(x); }
};

// log(1 + f) by 2 atanh(f / (2 + f)), for 1 + f between the square roots of 1/2 and 2.
HV_INLINE double LogNearOne(double f) {
  const double s = f / (2 + f), z = s * s;
  constexpr double kC[] = {0x1.555555561e9fcp-1, 0x1.999996a83775ep-2, 0x1.2494126b35055p-2,
                           0x1.c62ae876e8b97p-3, 0x1.911837fc1d23fp-3};
  return s * (2 + z * Polynomial(kC, z));
}

struct Exponent {
  double e, mantissa;  // x = mantissa 2^e, sqrt(1/2) <= mantissa < sqrt(2)
};
// Of a positive normal number.
HV_INLINE Exponent Split(double x) {
  constexpr uint64_t kBias = 1024, kRootOfHalf = 0x3FE6A09E667F3BCD;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint64_t biased = (bits - kRootOfHalf + (kBias << 52)) >> 52;
  // The number biased as a double: it fills the low bits of 2^52.
  const double e = std::bit_cast<double>(biased | 0x4330000000000000) - (0x1p52 + kBias);
  return {e, std::bit_cast<double>(bits - ((biased - kBias) << 52))};
}

HV_INLINE double LogOf(double x) {
  const Exponent parts = Split(x);
  return parts.e * kLn2 + LogNearOne(parts.mantissa - 1);
}

constexpr float kInfinity = __builtin_inff();

struct Log {
  HV_INLINE static bool IsUsual(float x) { return x > 0 && x < kInfinity; }
  HV_INLINE static float Usual(float x) { return static_cast<float>(LogOf(x)); }
  HV_INLINE static float Any(float x) { return IsUsual(x) ? Usual(x) : std::log(x); }
};

struct Log1p {
  HV_INLINE static bool IsUsual(float x) { return x > -1 && x < kInfinity; }
  HV_INLINE static float Usual(float x) {
    const Exponent parts = Split(1 + static_cast<double>(x));
    const double f = parts.e == 0 ? static_cast<double>(x) : parts.mantissa - 1;
    const double y = parts.e * kLn2 + LogNearOne(f);
    return x == 0 ? x : static_cast<float>(y);
  }
  HV_INLINE static float Any(float x) { return IsUsual(x) ? Usual(x) : std::log1p(x); }
};

// 1 for base 1 and for exponent 0, NaN or not.
struct Power {
  HV_INLINE static bool IsUsual(float x, float y) {
    return x > 0 && x < kInfinity && std::fabs(y) < kInfinity;
  }
  HV_INLINE static float Usual(float x, float y) {
    const double exponent = y * LogOf(x);
    // Beyond these all results are 0 or infinity.
    const double inside = exponent < -120 ? -120.0 : exponent > 120 ? 120.0 : exponent;
    const Reduced e = ReduceExp(inside);
    return static_cast<float>(e.scale * e.minus_one + e.scale);
  }
  HV_INLINE static float Any(float x, float y) {
    if (IsUsual(x, y)) return Usual(x, y);
    return x == 1 || y == 0 ? 1.0f : std::pow(x, y);
  }
};

// Sine and cosine of r = x - k pi/2; half pi comes in three parts, of which k times the first two
// is exact.
template <int kQuarters>
struct Wave {
  HV_INLINE static bool IsUsual(float x) { return std::fabs(x) <= 0x1p20f; }
  HV_INLINE static float Usual(float x) {
    const double wide = x;
    const double shifted = wide * 0x1.45f306dc9c883p-1 + kToInteger;
    const double k = shifted - kToInteger;
    const double r =
        ((wide - k * 0x1.921fb544p0) - k * 0x1.0b4611a4p-34) - k * 0x1.13198a2e03707p-65;
    const uint64_t quarter = std::bit_cast<uint64_t>(shifted) + kQuarters;
    const double q = r * r;
    constexpr double kSine[] = {-0x1.5555554cb185cp-3, 0x1.111108901bfdep-7, -0x1.a00f989bb2d6ep-13,
                                0x1.6cd72150a0df8p-19};
    constexpr double kCosine[] = {-0x1.ffffffffebe4ap-2, 0x1.55555546e688dp-5,
                                  -0x1.6c16b3f6b691ap-10, 0x1.a00f0c51193e6p-16,
                                  -0x1.23d70bcdf127ep-22};
    const double sine = r + r * q * Polynomial(kSine, q);
    const double cosine = 1 + q * Polynomial(kCosine, q);
    const double value = (quarter & 1) != 0 ? cosine : sine;
    const uint64_t sign = (quarter & 2) << 62;
    const double y = std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ sign);
    return kQuarters == 0 && x == 0 ? x : static_cast<float>(y);
  }
  HV_INLINE static float Any(float x) {
    if (IsUsual(x)) return Usual(x);
    return kQuarters == 0 ? std::sin(x) : std::cos(x);
  }
};

// A guess good to 4 % and two steps of Halley's, each of which cubes the error.
struct Cbrt {
  HV_INLINE static bool IsUsual(float x) {
    return std::fabs(x) >= 0x1p-126f && std::fabs(x) < kInfinity;
  }
  HV_INLINE static float Usual(float x) {
    const float magnitude = std::fabs(x);
    const uint32_t guess = std::bit_cast<uint32_t>(magnitude) / 3 + 0x2A510000;
    const double wide = magnitude;
    double y = std::bit_cast<float>(guess);
    for (int step = 0; step < 2; ++step) {
      const double cube = y * y * y;
      y = y * (cube + 2 * wide) / (2 * cube + wide);
    }
    return std::copysign(static_cast<float>(y), x);
  }
  HV_INLINE static float Any(float x) { return IsUsual(x) ? Usual(x) : std::cbrt(x); }
};

// Most chunks hold usual arguments alone.
constexpr size_t kChunk = 256;

template <class Fn>
HV_INLINE void Guarded(const SpanArgs& a) {
  for (size_t begin = 0; begin < a.count; begin += kChunk) {
    const size_t n = std::min(kChunk, a.count - begin);
    const float* x = In<float>(a, 0) + begin;
    float* out = static_cast<float*>(a.out) + begin;
    int unusual = 0;
    for (size_t i = 0; i < n; ++i) unusual |= Fn::IsUsual(x[i]) ? 0 : 1;
    if (unusual == 0) {
      HV_INDEPENDENT_LOOP
      for (size_t i = 0; i < n; ++i) out[i] = Fn::Usual(x[i]);
    } else {
      HV_INDEPENDENT_LOOP
      for (size_t i = 0; i < n; ++i) out[i] = Fn::Any(x[i]);
    }
  }
}

template <class Fn>
HV_INLINE void GuardedBinary(const SpanArgs& a) {
  for (size_t begin = 0; begin < a.count; begin += kChunk) {
    const size_t n = std::min(kChunk, a.count - begin);
    const float *x = In<float>(a, 0) + begin, *y = In<float>(a, 1) + begin;
    float* out = static_cast<float*>(a.out) + begin;
    int unusual = 0;
    for (size_t i = 0; i < n; ++i) unusual |= Fn::IsUsual(x[i], y[i]) ? 0 : 1;
    if (unusual == 0) {
      HV_INDEPENDENT_LOOP
      for (size_t i = 0; i < n; ++i) out[i] = Fn::Usual(x[i], y[i]);
    } else {
      HV_INDEPENDENT_LOOP
      for (size_t i = 0; i < n; ++i) out[i] = Fn::Any(x[i], y[i]);
    }
  }
}

}  // namespace

SpanKernel FindMath(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kCbrt:
      return Fast<Guarded<Cbrt>, Isa::kAvx512>();
    case ScalarFn::kCos:
      return Fast<Guarded<Wave<1>>, Isa::kAvx512>();
    case ScalarFn::kErf:
      return FindSaturating(fn);
    case ScalarFn::kExp:
      return Fast<Guarded<Exp>, Isa::kAvx512>();
    case ScalarFn::kExpm1:
      return Fast<Guarded<Expm1>, Isa::kAvx512>();
    case ScalarFn::kLog:
      return Fast<Guarded<Log>, Isa::kAvx512>();
    case ScalarFn::kLog1p:
      return Fast<Guarded<Log1p>, Isa::kAvx512>();
    case ScalarFn::kLogistic:
      return Fast<Guarded<Logistic>, Isa::kAvx512>();
    case ScalarFn::kPower:
      return Fast<GuardedBinary<Power>, Isa::kAvx512>();
    case ScalarFn::kSin:
      return Fast<Guarded<Wave<0>>, Isa::kAvx512>();
    case ScalarFn::kTanh:
      return FindSaturating(fn);
    default:
      return nullptr;
  }
}

}  // namespace hv::span
