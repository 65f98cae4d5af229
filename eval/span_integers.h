// Integer functions of HLO, total: what C++ leaves undefined (overflow, division by zero, wide
// shifts) is defined here as HLO does. Each gets its operands and the width n of the type in bits.
// Arithmetic runs in an unsigned type of at least 32 bits. Source: hlo_ops 2.4.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include "eval/span_loops.h"

namespace hv::span {

template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
constexpr Wide<T> Widen(T x) {
  return static_cast<Wide<T>>(x);
}
// The n low bits as an unsigned number.
template <class T>
constexpr uint64_t LowBits(T x, int n) {
  return static_cast<uint64_t>(x) & (~uint64_t{0} >> (64 - n));
}

struct IntAdd {
  template <class T>
  static T Apply(T x, T y, int) {
    return static_cast<T>(Widen(x) + Widen(y));
  }
};
struct IntSubtract {
  template <class T>
  static T Apply(T x, T y, int) {
    return static_cast<T>(Widen(x) - Widen(y));
  }
};
struct IntMultiply {
  template <class T>
  static T Apply(T x, T y, int) {
    return static_cast<T>(Widen(x) * Widen(y));
  }
};
// Do all values of T fit s32? Their quotients are computed in f64, which vectorises and is exact: a
// quotient that is no integer is farther from one than rounding reaches.
template <class T>
inline constexpr bool kFitsS32 = std::is_signed_v<T> ? sizeof(T) <= 4 : sizeof(T) <= 2;
// What dividing by y multiplies with: 1 / y, and a little more. x times it exceeds x / y by less
// than lies between a quotient and the next integer, and its truncation is exact. 1 for 0 and -1.
template <class T>
HV_INLINE double FactorOf(T y) {
  const bool safe = y != 0 && !(std::is_signed_v<T> && y == static_cast<T>(-1));
  return safe ? (1 + 0x1p-49) / static_cast<double>(y) : 1.0;
}
// Truncated x / y for y other than 0 and -1.
template <class T>
HV_INLINE int32_t QuotientOf(T x, double factor) {
  return static_cast<int32_t>(static_cast<double>(x) * factor);
}
// x/0 is all ones; the least value divided by -1 is itself.
struct IntDivide {
  template <class T>
  HV_INLINE static T By(T x, T y, double factor, int n) {
    const T quotient = static_cast<T>(QuotientOf(x, factor));
    const T negated = IntSubtract::Apply(T{0}, x, n);
    const bool negates = std::is_signed_v<T> && y == static_cast<T>(-1);
    return y == 0 ? static_cast<T>(-1) : negates ? negated : quotient;
  }
  template <class T>
  static T Apply(T x, T y, int n) {
    if constexpr (kFitsS32<T>) {
      return By(x, y, FactorOf(y), n);
    } else {
      if (y == 0) return static_cast<T>(-1);
      if (std::is_signed_v<T> && y == static_cast<T>(-1)) return IntSubtract::Apply(T{0}, x, n);
      return static_cast<T>(x / y);
    }
  }
};
struct IntRemainder {
  template <class T>
  HV_INLINE static T By(T x, T y, double factor, int) {
    // For y = 0 the quotient is x itself, which y = 0 leaves out of the product.
    const bool negates = std::is_signed_v<T> && y == static_cast<T>(-1);
    const auto quotient = static_cast<T>(QuotientOf(x, factor));
    const T rest = static_cast<T>(Widen(x) - Widen(quotient) * Widen(y));
    return negates ? T{0} : rest;
  }
  template <class T>
  static T Apply(T x, T y, int n) {
    if constexpr (kFitsS32<T>) {
      return By(x, y, FactorOf(y), n);
    } else {
      if (y == 0) return x;
      if (std::is_signed_v<T> && y == static_cast<T>(-1)) return 0;
      return static_cast<T>(x % y);
    }
  }
};
struct IntMaximum {
  template <class T>
  static T Apply(T x, T y, int) {
    return x < y ? y : x;
  }
};
struct IntMinimum {
  template <class T>
  static T Apply(T x, T y, int) {
    return y < x ? y : x;
  }
};
struct IntAnd {
  template <class T>
  static T Apply(T x, T y, int) {
    return static_cast<T>(x & y);
  }
};
struct IntOr {
  template <class T>
  static T Apply(T x, T y, int) {
    return static_cast<T>(x | y);
  }
};
struct IntXor {
  template <class T>
  static T Apply(T x, T y, int) {
    return static_cast<T>(x ^ y);
  }
};
// The amount counts as an unsigned n-bit number; n and more shifts everything out.
struct IntShiftLeft {
  template <class T>
  static T Apply(T x, T y, int n) {
    const uint64_t amount = LowBits(y, n);
    return amount < static_cast<uint64_t>(n) ? static_cast<T>(Widen(x) << amount) : T{0};
  }
};
struct IntShiftRightLogical {
  template <class T>
  static T Apply(T x, T y, int n) {
    const uint64_t amount = LowBits(y, n);
    return amount < static_cast<uint64_t>(n) ? static_cast<T>(LowBits(x, n) >> amount) : T{0};
  }
};
struct IntShiftRightArithmetic {
  template <class T>
  static T Apply(T x, T y, int n) {
    const auto signed_x = WrapToWidth(static_cast<std::make_signed_t<T>>(x), n);
    const uint64_t amount = std::min(LowBits(y, n), static_cast<uint64_t>(n - 1));
    return static_cast<T>(signed_x >> amount);
  }
};
// Modulo 2^n by squaring; a negative exponent leaves 1 for base 1, else 0.
struct IntPower {
  template <class T>
  static T Apply(T base, T exponent, int) {
    if (std::is_signed_v<T> && exponent < 0) return base == 1 ? T{1} : T{0};
    Wide<T> result = 1, square = Widen(base);
    for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
      if ((e & 1) != 0) result *= square;
      square *= square;
    }
    return static_cast<T>(result);
  }
};
// Bits n..2n-1 of the exact product.
struct IntMulhi {
  template <class T>
  static T Apply(T x, T y, int n) {
    using Product = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>(static_cast<Product>(x) * static_cast<Product>(y) >> n);
  }
};
struct IntClamp {
  template <class T>
  static T Apply(T low, T x, T high) {
    return IntMinimum::Apply(high, IntMaximum::Apply(x, low, 0), 0);
  }
};

struct IntAbs {
  template <class T>
  static T Apply(T x, int n) {
    return x < 0 ? IntSubtract::Apply(T{0}, x, n) : x;
  }
};
struct IntNegate {
  template <class T>
  static T Apply(T x, int n) {
    return IntSubtract::Apply(T{0}, x, n);
  }
};
struct IntNot {
  template <class T>
  static T Apply(T x, int) {
    return static_cast<T>(~x);
  }
};
struct IntSign {
  template <class T>
  static T Apply(T x, int) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct IntPopcnt {
  template <class T>
  static T Apply(T x, int n) {
    return static_cast<T>(std::popcount(LowBits(x, n)));
  }
};
struct IntCountLeadingZeros {
  template <class T>
  static T Apply(T x, int n) {
    return static_cast<T>(std::countl_zero(LowBits(x, n)) - (64 - n));
  }
};

// Division by one number many times, as a broadcast of it asks for, divides once.
template <class Fn, class T>
HV_INLINE void DivideSpan(const SpanArgs& a) {
  constexpr size_t kChunk = 1024;
  for (size_t begin = 0; begin < a.count; begin += kChunk) {
    const size_t n = std::min(kChunk, a.count - begin);
    const T *x = In<T>(a, 0) + begin, *y = In<T>(a, 1) + begin;
    T* out = static_cast<T*>(a.out) + begin;
    const T first = *y;
    T others = 0;
    for (size_t i = 0; i < n; ++i) others = static_cast<T>(others | (y[i] ^ first));
    const int width = a.width;
    const auto wrap = [width](T value) {
      return sizeof(T) == 1 ? WrapToWidth(value, width) : value;
    };
    if (others == 0) {
      const double factor = FactorOf(first);
      ForEach(n, [=](size_t i) { out[i] = wrap(Fn::By(x[i], first, factor, width)); });
    } else {
      ForEach(n, [=](size_t i) { out[i] = wrap(Fn::Apply(x[i], y[i], width)); });
    }
  }
}

template <class Fn, class T>
SpanKernel Division() {
  if constexpr (kFitsS32<T>) {
    return Fast<DivideSpan<Fn, T>, Isa::kAvx512>();
  } else {
    return Fast<IntBinary<Fn, T>>();
  }
}

// ScalarFn -> loop for one integer type.
template <class T>
SpanKernel FindInteger(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
      return Fast<IntBinary<IntAdd, T>>();
    case ScalarFn::kSubtract:
      return Fast<IntBinary<IntSubtract, T>>();
    case ScalarFn::kMultiply:
      return Fast<IntBinary<IntMultiply, T>>();
    case ScalarFn::kDivide:
      return Division<IntDivide, T>();
    case ScalarFn::kRemainder:
      return Division<IntRemainder, T>();
    case ScalarFn::kMaximum:
      return Fast<IntBinary<IntMaximum, T>>();
    case ScalarFn::kMinimum:
      return Fast<IntBinary<IntMinimum, T>>();
    case ScalarFn::kAnd:
      return Fast<IntBinary<IntAnd, T>>();
    case ScalarFn::kOr:
      return Fast<IntBinary<IntOr, T>>();
    case ScalarFn::kXor:
      return Fast<IntBinary<IntXor, T>>();
    case ScalarFn::kShiftLeft:
      return Fast<IntBinary<IntShiftLeft, T>>();
    case ScalarFn::kShiftRightLogical:
      return Fast<IntBinary<IntShiftRightLogical, T>>();
    case ScalarFn::kShiftRightArithmetic:
      return Fast<IntBinary<IntShiftRightArithmetic, T>>();
    case ScalarFn::kPower:
      return IntBinary<IntPower, T>;
    case ScalarFn::kMulhi:
      return IntBinary<IntMulhi, T>;
    case ScalarFn::kClamp:
      return Fast<Ternary<IntClamp, T>>();
    case ScalarFn::kAbs:
      return Fast<IntUnary<IntAbs, T>>();
    case ScalarFn::kNegate:
      return Fast<IntUnary<IntNegate, T>>();
    case ScalarFn::kNot:
      return Fast<IntUnary<IntNot, T>>();
    case ScalarFn::kSign:
      return Fast<IntUnary<IntSign, T>>();
    case ScalarFn::kPopcnt:
      return Fast<IntUnary<IntPopcnt, T>>();
    case ScalarFn::kCountLeadingZeros:
      return Fast<IntUnary<IntCountLeadingZeros, T>>();
    default:
      return nullptr;
  }
}

// The loops that fold, for one integer type: sub-byte sums may run in 8 bits and wrap at the end.
template <class T>
SpanKernel FindIntegerFold(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
      return Fast<IntFold<IntAdd, T>, Isa::kAvx512>();
    case ScalarFn::kMultiply:
      return Fast<IntFold<IntMultiply, T>, Isa::kAvx512>();
    case ScalarFn::kMaximum:
      return Fast<IntFold<IntMaximum, T>, Isa::kAvx512>();
    case ScalarFn::kMinimum:
      return Fast<IntFold<IntMinimum, T>, Isa::kAvx512>();
    case ScalarFn::kAnd:
      return Fast<IntFold<IntAnd, T>, Isa::kAvx512>();
    case ScalarFn::kOr:
      return Fast<IntFold<IntOr, T>, Isa::kAvx512>();
    case ScalarFn::kXor:
      return Fast<IntFold<IntXor, T>, Isa::kAvx512>();
    default:
      return nullptr;
  }
}

}  // namespace hv::span
