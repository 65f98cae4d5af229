// Span kernels of f32 and f64; narrower floats come widened to f32. Transcendentals are the C++
// library's at that type, but for those whose f32 form is off by more than one unit in the last
// place: they are computed in f64 and rounded. Source: hlo_ops 2.5, 2.6, 2.8.
#include "eval/span_float.h"

#include <bit>
#include <cmath>
#include <limits>

namespace hv::span {
namespace {

struct Remainder {
  template <class T>
  static T Apply(T x, T y) {
    return std::fmod(x, y);
  }
};
struct Atan2 {
  template <class T>
  static T Apply(T y, T x) {
    return static_cast<T>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
  }
};

struct Clamp {
  template <class T>
  static T Apply(T low, T x, T high) {
    if (low != low) return low;
    if (x != x) return x;
    if (high != high) return high;
    const T raised = x < low ? low : x;
    return raised < high ? raised : high;
  }
};
// 1 for base 1 and for exponent 0, NaN or not.
struct Power {
  template <class T>
  static T Apply(T x, T y) {
    return x == 1 || y == 0 ? T{1} : std::pow(x, y);
  }
};

struct Negate {
  template <class T>
  static T Apply(T x) {
    return -x;
  }
};
struct Logistic {
  template <class T>
  static T Apply(T x) {
    return 1 / (1 + std::exp(-x));
  }
};
struct Rsqrt {
  template <class T>
  static T Apply(T x) {
    return 1 / std::sqrt(x);
  }
};
struct Sign {
  template <class T>
  static T Apply(T x) {
    return x != x ? x : std::copysign(static_cast<T>(x != 0), x);
  }
};
struct IsFinite {
  template <class T>
  static uint8_t Apply(T x) {
    return std::isfinite(x);
  }
};
struct Real {
  template <class T>
  static T Apply(T x) {
    return x;
  }
};
struct Imag {
  template <class T>
  static T Apply(T) {
    return 0;
  }
};

#define HV_LIBRARY_FUNCTION(Name, function) \
  struct Name {                             \
    template <class T>                      \
    static T Apply(T x) {                   \
      return std::function(x);              \
    }                                       \
  };
HV_LIBRARY_FUNCTION(Abs, abs)
HV_LIBRARY_FUNCTION(Acos, acos)
HV_LIBRARY_FUNCTION(Asin, asin)
HV_LIBRARY_FUNCTION(Cbrt, cbrt)
HV_LIBRARY_FUNCTION(Ceil, ceil)
HV_LIBRARY_FUNCTION(Cos, cos)
HV_LIBRARY_FUNCTION(Erf, erf)
HV_LIBRARY_FUNCTION(Exp, exp)
HV_LIBRARY_FUNCTION(Expm1, expm1)
HV_LIBRARY_FUNCTION(Floor, floor)
HV_LIBRARY_FUNCTION(Log, log)
HV_LIBRARY_FUNCTION(Log1p, log1p)
HV_LIBRARY_FUNCTION(NearbyInt, nearbyint)
HV_LIBRARY_FUNCTION(Round, round)
HV_LIBRARY_FUNCTION(Sin, sin)
HV_LIBRARY_FUNCTION(Sqrt, sqrt)
HV_LIBRARY_FUNCTION(Tan, tan)
#undef HV_LIBRARY_FUNCTION

#define HV_WIDE_FUNCTION(Name, function)                          \
  struct Name {                                                   \
    template <class T>                                            \
    static T Apply(T x) {                                         \
      return static_cast<T>(std::function(static_cast<double>(x))); \
    }                                                             \
  };
HV_WIDE_FUNCTION(Acosh, acosh)
HV_WIDE_FUNCTION(Asinh, asinh)
HV_WIDE_FUNCTION(Atanh, atanh)
HV_WIDE_FUNCTION(Cosh, cosh)
HV_WIDE_FUNCTION(Sinh, sinh)
HV_WIDE_FUNCTION(Tanh, tanh)
#undef HV_WIDE_FUNCTION

// Rounds to `exponent` and `mantissa` bits on the raw pattern: to nearest even, then overflow to
// infinity and the target's subnormals to zero.
template <class T, class Bits, int kExponent, int kMantissa>
HV_INLINE T ReducePrecisionOf(T x, int exponent, int mantissa) {
  constexpr Bits kOne = 1;
  constexpr Bits kExponentMask = ((kOne << kExponent) - 1) << kMantissa;
  constexpr Bits kSign = kOne << (kExponent + kMantissa);
  if (x != x) return mantissa > 0 ? x : std::numeric_limits<T>::infinity();
  Bits bits = std::bit_cast<Bits>(x);
  if (const int dropped = kMantissa - mantissa; dropped > 0) {
    const Bits last_kept = (bits >> dropped) & 1;
    bits += (kOne << (dropped - 1)) - 1 + last_kept;
    bits &= ~((kOne << dropped) - 1);
  }
  if (exponent < kExponent) {
    constexpr Bits kBias = (kOne << (kExponent - 1)) - 1;
    const Bits bias = (kOne << (exponent - 1)) - 1;
    const Bits field = (bits & kExponentMask) >> kMantissa;
    if (field > kBias + bias) bits = (bits & kSign) | kExponentMask;
    if (field <= kBias - bias) bits &= kSign;
  }
  return std::bit_cast<T>(bits);
}

template <class T>
HV_INLINE void ReducePrecision(const SpanArgs& a) {
  const T* x = In<T>(a, 0);
  T* out = static_cast<T*>(a.out);
  const int exponent = a.params[0], mantissa = a.params[1];
  ForEach(a.count, [=](size_t i) {
    if constexpr (sizeof(T) == 4) {
      out[i] = ReducePrecisionOf<T, uint32_t, 8, 23>(x[i], exponent, mantissa);
    } else {
      out[i] = ReducePrecisionOf<T, uint64_t, 11, 52>(x[i], exponent, mantissa);
    }
  });
}

// re, im -> complex.
template <class T>
void Complex(const SpanArgs& a) {
  const T* re = In<T>(a, 0);
  const T* im = In<T>(a, 1);
  T* out = static_cast<T*>(a.out);
  for (size_t i = 0; i < a.count; ++i) {
    out[2 * i] = re[i];
    out[2 * i + 1] = im[i];
  }
}

template <class T>
SpanKernel FindTranscendental(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAcos:
      return Unary<Acos, T>;
    case ScalarFn::kAcosh:
      return Unary<Acosh, T>;
    case ScalarFn::kAsin:
      return Unary<Asin, T>;
    case ScalarFn::kAsinh:
      return Unary<Asinh, T>;
    case ScalarFn::kAtan2:
      return Binary<Atan2, T>;
    case ScalarFn::kAtanh:
      return Unary<Atanh, T>;
    case ScalarFn::kCbrt:
      return Unary<Cbrt, T>;
    case ScalarFn::kCos:
      return Unary<Cos, T>;
    case ScalarFn::kCosh:
      return Unary<Cosh, T>;
    case ScalarFn::kErf:
      return Unary<Erf, T>;
    case ScalarFn::kExp:
      return Unary<Exp, T>;
    case ScalarFn::kExpm1:
      return Unary<Expm1, T>;
    case ScalarFn::kLog:
      return Unary<Log, T>;
    case ScalarFn::kLog1p:
      return Unary<Log1p, T>;
    case ScalarFn::kLogistic:
      return Unary<Logistic, T>;
    case ScalarFn::kPower:
      return Binary<Power, T>;
    case ScalarFn::kRsqrt:
      return Fast<Unary<Rsqrt, T>>();
    case ScalarFn::kSin:
      return Unary<Sin, T>;
    case ScalarFn::kSinh:
      return Unary<Sinh, T>;
    case ScalarFn::kSqrt:
      return Fast<Unary<Sqrt, T>>();
    case ScalarFn::kTan:
      return Unary<Tan, T>;
    case ScalarFn::kTanh:
      return Unary<Tanh, T>;
    default:
      return nullptr;
  }
}

template <class T>
SpanKernel Find(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
      return Fast<Binary<Add, T>>();
    case ScalarFn::kSubtract:
      return Fast<Binary<Subtract, T>>();
    case ScalarFn::kMultiply:
      return Fast<Binary<Multiply, T>>();
    case ScalarFn::kDivide:
      return Fast<Binary<Divide, T>>();
    case ScalarFn::kRemainder:
      return Binary<Remainder, T>;
    case ScalarFn::kMaximum:
      return Fast<Binary<Maximum, T>>();
    case ScalarFn::kMinimum:
      return Fast<Binary<Minimum, T>>();
    case ScalarFn::kClamp:
      return Fast<Ternary<Clamp, T>>();
    case ScalarFn::kAbs:
      return Fast<Unary<Abs, T>>();
    case ScalarFn::kNegate:
      return Fast<Unary<Negate, T>>();
    case ScalarFn::kSign:
      return Fast<Unary<Sign, T>>();
    case ScalarFn::kCeil:
      return Fast<Unary<Ceil, T>>();
    case ScalarFn::kFloor:
      return Fast<Unary<Floor, T>>();
    case ScalarFn::kRoundNearestAfz:
      return Fast<Unary<Round, T>>();
    case ScalarFn::kRoundNearestEven:
      return Fast<Unary<NearbyInt, T>>();
    case ScalarFn::kIsFinite:
      return Fast<Unary<IsFinite, T, uint8_t>>();
    case ScalarFn::kReal:
      return Fast<Unary<Real, T>>();
    case ScalarFn::kImag:
      return Fast<Unary<Imag, T>>();
    case ScalarFn::kComplex:
      return Complex<T>;
    case ScalarFn::kReducePrecision:
      return Fast<ReducePrecision<T>>();
    default:
      break;
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    if (const SpanKernel kernel = FindMath(fn)) return kernel;
  }
  return FindTranscendental<T>(fn);
}

}  // namespace

SpanKernel FindFloatFold(ScalarFn fn, ComputeType type) {
  const bool single = type == ComputeType::kF32;
  switch (fn) {
    case ScalarFn::kAdd:
      return single ? Fold<Add, float> : Fold<Add, double>;
    case ScalarFn::kMultiply:
      return single ? Fold<Multiply, float> : Fold<Multiply, double>;
    case ScalarFn::kMaximum:
      return single ? Fold<Maximum, float> : Fold<Maximum, double>;
    case ScalarFn::kMinimum:
      return single ? Fold<Minimum, float> : Fold<Minimum, double>;
    default:
      return nullptr;
  }
}

SpanKernel FindFloat(ScalarFn fn, ComputeType type) {
  return type == ComputeType::kF32 ? Find<float>(fn) : Find<double>(fn);
}

}  // namespace hv::span
