// Arithmetic of bf16 and f16 in one pass: widened, computed in f32 and rounded element by element,
// the same bits as block by block; and converts between them and f32.
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

template <class Half>
struct Widened {
  static float Apply(uint16_t x) { return Half::Widen(x); }
};
template <class Half>
struct Narrowed {
  static uint16_t Apply(float x) { return Half::Narrow(x); }
};

template <class Half>
SpanKernel Find(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
      return Fast<Binary<Rounded<Add, Half>, uint16_t>>();
    case ScalarFn::kSubtract:
      return Fast<Binary<Rounded<Subtract, Half>, uint16_t>>();
    case ScalarFn::kMultiply:
      return Fast<Binary<Rounded<Multiply, Half>, uint16_t>>();
    case ScalarFn::kDivide:
      return Fast<Binary<Rounded<Divide, Half>, uint16_t>>();
    case ScalarFn::kMaximum:
      return Fast<Binary<Rounded<Maximum, Half>, uint16_t>>();
    case ScalarFn::kMinimum:
      return Fast<Binary<Rounded<Minimum, Half>, uint16_t>>();
    default:
      return nullptr;
  }
}

template <class Half>
SpanKernel FindConvert(bool widens) {
  return widens ? Fast<Unary<Widened<Half>, uint16_t, float>, Isa::kAvx512>()
                : Fast<Unary<Narrowed<Half>, float, uint16_t>, Isa::kAvx512>();
}

}  // namespace
}  // namespace hv::span

namespace hv {

SpanKernel FindHalfKernel(ScalarFn fn, ElementType type) {
  if (type == ElementType::kBF16) return span::Find<span::AsBf16>(fn);
  return type == ElementType::kF16 ? span::Find<span::AsF16>(fn) : nullptr;
}

SpanKernel FindHalfConvertKernel(ElementType from, ElementType to) {
  if (from != ElementType::kF32 && to != ElementType::kF32) return nullptr;
  const bool widens = to == ElementType::kF32;
  const ElementType half = widens ? from : to;
  if (half == ElementType::kBF16) return span::FindConvert<span::AsBf16>(widens);
  return half == ElementType::kF16 ? span::FindConvert<span::AsF16>(widens) : nullptr;
}

}  // namespace hv
