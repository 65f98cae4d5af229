// The loops behind every span kernel: one, two or three operands of one C++ type, a result of the
// same or another. Outputs may be an input of the same width, never partly overlap one.
#pragma once

#include <type_traits>

#include "eval/span_kernel.h"
#include "eval/vector_isa.h"

// The loops may run on exactly aliased spans, which is no dependence between iterations.
#if defined(__clang__)
#define HV_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define HV_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace hv::span {

// The loop compiled for the vectors of this machine. Wider ones than kWidest are no gain where a loop
// does nothing but load, compute once and store.
template <SpanKernel kLoop, Isa kWidest = Isa::kAvx2>
SpanKernel Fast() {
  return isa::Choose<SpanArgs, kLoop, kWidest>();
}

// Calls f(i) for each element. `F` is a lambda of the kernels below.
template <class F>
HV_INLINE void ForEach(size_t count, F f) {
  HV_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) f(i);
}

template <class T>
HV_INLINE const T* In(const SpanArgs& a, int operand) {
  return static_cast<const T*>(a.in[operand]);
}

// Fn::Apply(x) -> Out.
template <class Fn, class T, class Out = T>
HV_INLINE void Unary(const SpanArgs& a) {
  const T* x = In<T>(a, 0);
  Out* out = static_cast<Out*>(a.out);
  ForEach(a.count, [=](size_t i) { out[i] = Fn::Apply(x[i]); });
}

template <class Fn, class T, class Out = T>
HV_INLINE void Binary(const SpanArgs& a) {
  const T* x = In<T>(a, 0);
  const T* y = In<T>(a, 1);
  Out* out = static_cast<Out*>(a.out);
  ForEach(a.count, [=](size_t i) { out[i] = Fn::Apply(x[i], y[i]); });
}

template <class Fn, class T>
HV_INLINE void Ternary(const SpanArgs& a) {
  const T* x = In<T>(a, 0);
  const T* y = In<T>(a, 1);
  const T* z = In<T>(a, 2);
  T* out = static_cast<T*>(a.out);
  ForEach(a.count, [=](size_t i) { out[i] = Fn::Apply(x[i], y[i], z[i]); });
}

// What to add to x, or multiply it by, in place of y: of two NaNs the left operand's is kept, as by
// x86, though compilers swap operands that commute.
template <class T>
HV_INLINE T Beside(T x, T y) {
  return x == x ? y : x;
}

// Keeps the low `width` bits of an integer, sign- or zero-extended.
template <class T>
constexpr T WrapToWidth(T value, int width) {
  const int unused = static_cast<int>(sizeof(T)) * 8 - width;
  using U = std::make_unsigned_t<T>;
  const auto shifted = static_cast<T>(static_cast<U>(static_cast<uint64_t>(value) << unused));
  return static_cast<T>(shifted >> unused);
}

// Integer functions also get the width in bits. Full-width types fold it to a constant.
template <class Fn, class T>
HV_INLINE void IntUnary(const SpanArgs& a) {
  constexpr int kFull = static_cast<int>(sizeof(T)) * 8;
  const T* x = In<T>(a, 0);
  T* out = static_cast<T*>(a.out);
  if (sizeof(T) == 1 && a.width != kFull) {
    const int w = a.width;
    ForEach(a.count, [=](size_t i) { out[i] = WrapToWidth(Fn::Apply(x[i], w), w); });
  } else {
    ForEach(a.count, [=](size_t i) { out[i] = Fn::Apply(x[i], kFull); });
  }
}

template <class Fn, class T>
HV_INLINE void IntBinary(const SpanArgs& a) {
  constexpr int kFull = static_cast<int>(sizeof(T)) * 8;
  const T* x = In<T>(a, 0);
  const T* y = In<T>(a, 1);
  T* out = static_cast<T*>(a.out);
  if (sizeof(T) == 1 && a.width != kFull) {
    const int w = a.width;
    ForEach(a.count, [=](size_t i) { out[i] = WrapToWidth(Fn::Apply(x[i], y[i], w), w); });
  } else {
    ForEach(a.count, [=](size_t i) { out[i] = Fn::Apply(x[i], y[i], kFull); });
  }
}

// Folds in order into one accumulator; compilers regroup what is exact in any order (integers).
template <class Fn, class T>
void Fold(const SpanArgs& a) {
  const T* x = In<T>(a, 0);
  T* out = static_cast<T*>(a.out);
  T accumulator = *out;
  for (size_t i = 0; i < a.count; ++i) accumulator = Fn::Apply(accumulator, x[i]);
  *out = accumulator;
}

template <class Fn, class T>
HV_INLINE void IntFold(const SpanArgs& a) {
  const T* x = In<T>(a, 0);
  T* out = static_cast<T*>(a.out);
  T accumulator = *out;
  for (size_t i = 0; i < a.count; ++i) accumulator = Fn::Apply(accumulator, x[i], 0);
  *out = sizeof(T) == 1 ? WrapToWidth(accumulator, a.width) : accumulator;
}

// Comparisons by C++ operators: IEEE on floats (NE alone is true for NaN).
struct Equal {
  template <class T>
  static bool Apply(T x, T y) {
    return x == y;
  }
};
struct NotEqual {
  template <class T>
  static bool Apply(T x, T y) {
    return x != y;
  }
};
struct Less {
  template <class T>
  static bool Apply(T x, T y) {
    return x < y;
  }
};
struct LessEqual {
  template <class T>
  static bool Apply(T x, T y) {
    return x <= y;
  }
};
struct Greater {
  template <class T>
  static bool Apply(T x, T y) {
    return x > y;
  }
};
struct GreaterEqual {
  template <class T>
  static bool Apply(T x, T y) {
    return x >= y;
  }
};

}  // namespace hv::span
