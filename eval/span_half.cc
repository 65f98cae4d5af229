// Arithmetic of bf16 and f16 in one pass: widened, computed in f32 and rounded element by element,
// the same bits as block by block.
#include "eval/half_floats.h"
#include "eval/span_float.h"

namespace hv::span {
namespace {

struct AsBf16 {
  static float Widen(uint16_t bits) { return WidenBf16(bits); }
  static uint16_t Narrow(float value) { return NarrowBf16(value); }
};
struct AsF16 {
  static float Widen(uint16_t bits) { return WidenF16(bits); }
  static uint16_t Narrow(float value) { return NarrowF16(value); }
};

template <class Fn, class Half>
struct Rounded {
  static uint16_t Apply(uint16_t x, uint16_t y) {
    return Half::Narrow(Fn::Apply(Half::Widen(x), Half::Widen(y)));
  }
};

// The same loop compiled for wider vectors where the machine has them; bits do not depend on it.
#if defined(__x86_64__)
template <class Fn, class Half>
__attribute__((target("avx2"))) void BinaryAvx2(const SpanArgs& a) {
  const uint16_t *x = In<uint16_t>(a, 0), *y = In<uint16_t>(a, 1);
  auto* out = static_cast<uint16_t*>(a.out);
  HV_INDEPENDENT_LOOP
  for (size_t i = 0; i < a.count; ++i) out[i] = Rounded<Fn, Half>::Apply(x[i], y[i]);
}

template <class Fn, class Half>
SpanKernel Choose() {
  return __builtin_cpu_supports("avx2") ? BinaryAvx2<Fn, Half>
                                        : Binary<Rounded<Fn, Half>, uint16_t>;
}
#else
template <class Fn, class Half>
SpanKernel Choose() {
  return Binary<Rounded<Fn, Half>, uint16_t>;
}
#endif

template <class Half>
SpanKernel Find(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
      return Choose<Add, Half>();
    case ScalarFn::kSubtract:
      return Choose<Subtract, Half>();
    case ScalarFn::kMultiply:
      return Choose<Multiply, Half>();
    case ScalarFn::kDivide:
      return Choose<Divide, Half>();
    case ScalarFn::kMaximum:
      return Choose<Maximum, Half>();
    case ScalarFn::kMinimum:
      return Choose<Minimum, Half>();
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace hv::span

namespace hv {

SpanKernel FindHalfKernel(ScalarFn fn, ElementType type) {
  if (type == ElementType::kBF16) return span::Find<span::AsBf16>(fn);
  return type == ElementType::kF16 ? span::Find<span::AsF16>(fn) : nullptr;
}

}  // namespace hv
