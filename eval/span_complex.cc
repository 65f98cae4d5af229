// Span kernels of c64 and c128, by std::complex (C99 recovery of infinities in products and
// quotients) and the formulas of XLA's evaluator where the library has none. Transcendentals of c64
// are computed in c128 and rounded once per part. Source: hlo_ops 2.6.
#include <cmath>
#include <complex>
#include <limits>

#include "eval/span_loops.h"

namespace hv::span {
namespace {

template <class T>
using C = std::complex<T>;

// Fn in c128, rounded once.
template <class Fn>
struct Wide {
  template <class T>
  static C<T> Apply(C<T> x) {
    return C<T>(Fn::Apply(C<double>(x)));
  }
  template <class T>
  static C<T> Apply(C<T> x, C<T> y) {
    return C<T>(Fn::Apply(C<double>(x), C<double>(y)));
  }
};

struct Add {
  template <class T>
  static C<T> Apply(C<T> x, C<T> y) {
    return {x.real() + Beside(x.real(), y.real()), x.imag() + Beside(x.imag(), y.imag())};
  }
};
struct Subtract {
  template <class T>
  static C<T> Apply(C<T> x, C<T> y) {
    return x - y;
  }
};
struct Multiply {
  template <class T>
  static C<T> Apply(C<T> x, C<T> y) {
    return x * y;
  }
};
struct Divide {
  template <class T>
  static C<T> Apply(C<T> x, C<T> y) {
    return x / y;
  }
};
struct Negate {
  template <class T>
  static C<T> Apply(C<T> x) {
    return -x;
  }
};
struct Abs {
  template <class T>
  static T Apply(C<T> x) {
    return std::abs(x);
  }
};
struct Real {
  template <class T>
  static T Apply(C<T> x) {
    return x.real();
  }
};
struct Imag {
  template <class T>
  static T Apply(C<T> x) {
    return x.imag();
  }
};
struct Logistic {
  template <class T>
  static C<T> Apply(C<T> x) {
    return C<T>(1) / (C<T>(1) + std::exp(-x));
  }
};
struct Rsqrt {
  template <class T>
  static C<T> Apply(C<T> x) {
    return C<T>(1) / std::sqrt(x);
  }
};
struct Sign {
  template <class T>
  static C<T> Apply(C<T> x) {
    const T magnitude = std::abs(x);
    return magnitude == 0 ? C<T>(0) : x / magnitude;
  }
};
// -i log((x + iy) / sqrt(x^2 + y^2)).
struct Atan2 {
  template <class T>
  static C<T> Apply(C<T> y, C<T> x) {
    const C<T> i(0, 1);
    return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
  }
};
// e^a cos b - 1 + i e^a sin b, without cancellation near 0.
struct Expm1 {
  template <class T>
  static C<T> Apply(C<T> x) {
    const T half_sine = std::sin(x.imag() / 2);
    const T growth = std::expm1(x.real());
    return {growth * std::cos(x.imag()) - 2 * half_sine * half_sine,
            (growth + 1) * std::sin(x.imag())};
  }
};
struct Log1p {
  template <class T>
  static C<T> Apply(C<T> x) {
    const T re = x.real(), im = x.imag();
    if (std::abs(re) > 1 || std::abs(im) > 1) return std::log(C<T>(1) + x);
    return {std::log1p(re * (re + 2) + im * im) / 2, std::atan2(im, re + 1)};
  }
};
struct Power {
  template <class T>
  static C<T> Apply(C<T> x, C<T> y) {
    if (x == C<T>(1) || y == C<T>(0)) return C<T>(1);
    const bool infinite = std::isinf(x.real()) && x.real() > 0 && x.imag() == 0;
    if (infinite && y.imag() == 0) return y.real() > 0 ? x : C<T>(0);
    return std::pow(x, y);
  }
};
struct IsFinite {
  template <class T>
  static uint8_t Apply(C<T> x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  }
};

#define HV_LIBRARY_FUNCTION(Name, function) \
  struct Name {                             \
    template <class T>                      \
    static C<T> Apply(C<T> x) {             \
      return std::function(x);              \
    }                                       \
  };
HV_LIBRARY_FUNCTION(Acos, acos)
HV_LIBRARY_FUNCTION(Acosh, acosh)
HV_LIBRARY_FUNCTION(Asin, asin)
HV_LIBRARY_FUNCTION(Asinh, asinh)
HV_LIBRARY_FUNCTION(Atanh, atanh)
HV_LIBRARY_FUNCTION(Cos, cos)
HV_LIBRARY_FUNCTION(Cosh, cosh)
HV_LIBRARY_FUNCTION(Exp, exp)
HV_LIBRARY_FUNCTION(Log, log)
HV_LIBRARY_FUNCTION(Sin, sin)
HV_LIBRARY_FUNCTION(Sinh, sinh)
HV_LIBRARY_FUNCTION(Sqrt, sqrt)
HV_LIBRARY_FUNCTION(Tan, tan)
HV_LIBRARY_FUNCTION(Tanh, tanh)
#undef HV_LIBRARY_FUNCTION

template <class T>
SpanKernel Find(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
      return Binary<Add, C<T>>;
    case ScalarFn::kSubtract:
      return Binary<Subtract, C<T>>;
    case ScalarFn::kMultiply:
      return Binary<Multiply, C<T>>;
    case ScalarFn::kDivide:
      return Binary<Divide, C<T>>;
    case ScalarFn::kPower:
      return Binary<Wide<Power>, C<T>>;
    case ScalarFn::kAtan2:
      return Binary<Wide<Atan2>, C<T>>;
    case ScalarFn::kNegate:
      return Unary<Negate, C<T>>;
    case ScalarFn::kAbs:
      return Unary<Abs, C<T>, T>;
    case ScalarFn::kReal:
      return Unary<Real, C<T>, T>;
    case ScalarFn::kImag:
      return Unary<Imag, C<T>, T>;
    case ScalarFn::kIsFinite:
      return Unary<IsFinite, C<T>, uint8_t>;
    case ScalarFn::kSign:
      return Unary<Sign, C<T>>;
    case ScalarFn::kLogistic:
      return Unary<Logistic, C<T>>;
    case ScalarFn::kRsqrt:
      return Unary<Rsqrt, C<T>>;
    case ScalarFn::kExpm1:
      return Unary<Wide<Expm1>, C<T>>;
    case ScalarFn::kLog1p:
      return Unary<Wide<Log1p>, C<T>>;
    case ScalarFn::kAcos:
      return Unary<Wide<Acos>, C<T>>;
    case ScalarFn::kAcosh:
      return Unary<Wide<Acosh>, C<T>>;
    case ScalarFn::kAsin:
      return Unary<Wide<Asin>, C<T>>;
    case ScalarFn::kAsinh:
      return Unary<Wide<Asinh>, C<T>>;
    case ScalarFn::kAtanh:
      return Unary<Wide<Atanh>, C<T>>;
    case ScalarFn::kCos:
      return Unary<Wide<Cos>, C<T>>;
    case ScalarFn::kCosh:
      return Unary<Wide<Cosh>, C<T>>;
    case ScalarFn::kExp:
      return Unary<Wide<Exp>, C<T>>;
    case ScalarFn::kLog:
      return Unary<Wide<Log>, C<T>>;
    case ScalarFn::kSin:
      return Unary<Wide<Sin>, C<T>>;
    case ScalarFn::kSinh:
      return Unary<Wide<Sinh>, C<T>>;
    case ScalarFn::kSqrt:
      return Unary<Wide<Sqrt>, C<T>>;
    case ScalarFn::kTan:
      return Unary<Wide<Tan>, C<T>>;
    case ScalarFn::kTanh:
      return Unary<Wide<Tanh>, C<T>>;
    default:
      return nullptr;
  }
}

}  // namespace

SpanKernel FindComplex(ScalarFn fn, ComputeType type) {
  return type == ComputeType::kC64 ? Find<float>(fn) : Find<double>(fn);
}

}  // namespace hv::span
