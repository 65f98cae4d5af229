// Bits of floats become integers of the same order, of which greatest and least vectorise; NaNs lie
// beyond the infinities at either end. Only a NaN and the sign of a zero depend on the order: the
// first of them is looked for.
#include "eval/span_extreme.h"

#include <algorithm>
#include <limits>

#include "eval/span_loops.h"

namespace hv {
namespace {

// A key of the order -NaN < -inf < .. < -0 < +0 < .. < +inf < +NaN; and back.
template <class Int>
HV_INLINE Int Key(Int bits) {
  constexpr Int kMagnitude = std::numeric_limits<Int>::max();
  return static_cast<Int>(bits ^ (bits >> (8 * sizeof(Int) - 1) & kMagnitude));
}

// First element whose key lies outside [low, high], or inside.
template <class Int>
Int First(const Int* x, size_t count, Int low, Int high, bool inside) {
  return *std::find_if(x, x + count, [=](Int bits) {
    const Int key = Key(bits);
    return (low <= key && key <= high) == inside;
  });
}

template <class Int, Int kInfinity, bool kGreatest>
HV_INLINE void Extreme(const SpanArgs& a) {
  const Int* x = span::In<Int>(a, 0);
  Int greatest = std::numeric_limits<Int>::min(), least = std::numeric_limits<Int>::max();
  for (size_t i = 0; i < a.count; ++i) {
    const Int key = Key(x[i]);
    greatest = std::max(greatest, key);
    least = std::min(least, key);
  }
  constexpr Int kMostNegative = static_cast<Int>(~kInfinity), kNegativeZero = -1, kZero = 0;
  const Int key = kGreatest ? greatest : least;
  Int* out = static_cast<Int*>(a.out);
  if (greatest > kInfinity || least < kMostNegative) {
    *out = First<Int>(x, a.count, kMostNegative, kInfinity, false);
  } else if (key == kZero || key == kNegativeZero) {
    *out = First<Int>(x, a.count, kNegativeZero, kZero, true);
  } else {
    *out = Key(key);
  }
}

template <class Int, Int kInfinity>
SpanKernel Find(ScalarFn fn) {
  if (fn == ScalarFn::kMaximum) return span::Fast<Extreme<Int, kInfinity, true>, Isa::kAvx512>();
  if (fn == ScalarFn::kMinimum) return span::Fast<Extreme<Int, kInfinity, false>, Isa::kAvx512>();
  return nullptr;
}

}  // namespace

SpanKernel FindExtremeKernel(ScalarFn fn, ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return Find<int32_t, 0x7F800000>(fn);
    case ElementType::kF64:
      return Find<int64_t, 0x7FF0000000000000>(fn);
    case ElementType::kBF16:
      return Find<int16_t, 0x7F80>(fn);
    case ElementType::kF16:
      return Find<int16_t, 0x7C00>(fn);
    default:
      return nullptr;
  }
}

}  // namespace hv
