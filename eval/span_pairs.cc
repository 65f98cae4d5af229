// Two functions of f32 or f64 in one pass over memory: what lies between them stays in a register.
// Each is rounded for itself, as if it were alone.
#include "eval/span_float.h"

namespace hv {
namespace {

using span::In;

template <class First, class Second, int kPlace, class T>
HV_INLINE void Pair(const SpanArgs& a) {
  const T *x = In<T>(a, 0), *y = In<T>(a, 1), *z = In<T>(a, 2);
  T* out = static_cast<T*>(a.out);
  HV_INDEPENDENT_LOOP
  for (size_t i = 0; i < a.count; ++i) {
    const T first = First::Apply(x[i], y[i]);
    out[i] = kPlace == 0 ? Second::Apply(first, z[i]) : Second::Apply(z[i], first);
  }
}

template <class Compare, class T>
HV_INLINE void ComparedSelect(const SpanArgs& a) {
  const T *x = In<T>(a, 0), *y = In<T>(a, 1), *on_true = In<T>(a, 2), *on_false = In<T>(a, 3);
  T* out = static_cast<T*>(a.out);
  HV_INDEPENDENT_LOOP
  for (size_t i = 0; i < a.count; ++i) {
    const T picked = on_true[i], other = on_false[i];
    out[i] = Compare::Apply(x[i], y[i]) ? picked : other;
  }
}

template <class First, class Second, class T>
SpanKernel AtPlace(int place) {
  return place == 0 ? span::Fast<Pair<First, Second, 0, T>>()
                    : span::Fast<Pair<First, Second, 1, T>>();
}

template <class First, class T>
SpanKernel After(ScalarFn second, int place) {
  switch (second) {
    case ScalarFn::kAdd: return AtPlace<First, span::Add, T>(place);
    case ScalarFn::kSubtract: return AtPlace<First, span::Subtract, T>(place);
    case ScalarFn::kMultiply: return AtPlace<First, span::Multiply, T>(place);
    default: return nullptr;
  }
}

template <class T>
SpanKernel FindPair(ScalarFn first, ScalarFn second, int place) {
  switch (first) {
    case ScalarFn::kAdd: return After<span::Add, T>(second, place);
    case ScalarFn::kSubtract: return After<span::Subtract, T>(second, place);
    case ScalarFn::kMultiply: return After<span::Multiply, T>(second, place);
    default: return nullptr;
  }
}

template <class T>
SpanKernel FindComparedSelect(Direction direction) {
  constexpr Isa kWidest = Isa::kAvx512;
  switch (direction) {
    case Direction::kEq: return span::Fast<ComparedSelect<span::Equal, T>, kWidest>();
    case Direction::kNe: return span::Fast<ComparedSelect<span::NotEqual, T>, kWidest>();
    case Direction::kLt: return span::Fast<ComparedSelect<span::Less, T>, kWidest>();
    case Direction::kLe: return span::Fast<ComparedSelect<span::LessEqual, T>, kWidest>();
    case Direction::kGt: return span::Fast<ComparedSelect<span::Greater, T>, kWidest>();
    case Direction::kGe: return span::Fast<ComparedSelect<span::GreaterEqual, T>, kWidest>();
  }
  return nullptr;
}

}  // namespace

SpanKernel FindPairKernel(ScalarFn first, ScalarFn second, int place, ComputeType type) {
  if (type == ComputeType::kF32) return FindPair<float>(first, second, place);
  return type == ComputeType::kF64 ? FindPair<double>(first, second, place) : nullptr;
}

SpanKernel FindComparedSelectKernel(Direction direction, ComputeType type) {
  if (type == ComputeType::kF32) return FindComparedSelect<float>(direction);
  return type == ComputeType::kF64 ? FindComparedSelect<double>(direction) : nullptr;
}

}  // namespace hv
