// convert between compute types. Integers keep their low bits, floats truncate toward zero and
// saturate (NaN -> 0), anything but zero is true. Source: hlo_ops 2.3.
#include <cmath>
#include <complex>
#include <limits>

#include "base/check.h"
#include "eval/span_loops.h"

namespace hv::span {
namespace {

// Distinct from uint8_t so that the templates can tell a pred from a u8.
struct Bool {
  uint8_t value;
};

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// Bounds of an integer type of `width` bits, as doubles: the upper one may round up to 2^63 or
// 2^64, which saturates all the same.
template <class To>
HV_INLINE To Saturate(double x, int width) {
  const int magnitude_bits = width - (std::is_signed_v<To> ? 1 : 0);
  const uint64_t top = ~uint64_t{0} >> (64 - magnitude_bits);
  const To largest = static_cast<To>(magnitude_bits == 0 ? 0 : top);
  const To least = std::is_signed_v<To> ? static_cast<To>(-largest - 1) : To{0};
  if (x != x) return 0;
  if (x >= static_cast<double>(largest)) return largest;
  if (x <= static_cast<double>(least)) return least;
  return static_cast<To>(x);
}

template <class From, class To>
HV_INLINE To ConvertOne(From x, int width) {
  if constexpr (std::is_same_v<From, Bool>) {
    return ConvertOne<uint8_t, To>(x.value, width);
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(x != From(0))};
  } else if constexpr (kIsComplex<To> && kIsComplex<From>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (kIsComplex<From>) {
    return To{};  // refused by FindConvertKernel
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(x);
  } else if constexpr (std::is_floating_point_v<From>) {
    return Saturate<To>(static_cast<double>(x), width);
  } else {
    return sizeof(To) == 1 ? WrapToWidth(static_cast<To>(x), width) : static_cast<To>(x);
  }
}

template <class From, class To>
HV_INLINE void ConvertSpan(const SpanArgs& a) {
  const From* x = In<From>(a, 0);
  To* out = static_cast<To*>(a.out);
  const int width = a.width;
  ForEach(a.count, [=](size_t i) { out[i] = ConvertOne<From, To>(x[i], width); });
}

// The conversions that programs spend time in are compiled for wider vectors.
template <class T>
inline constexpr bool kIsCommon = std::is_same_v<T, int32_t> || std::is_floating_point_v<T>;

template <class From, class To>
SpanKernel Convert() {
  if constexpr (kIsCommon<From> && kIsCommon<To>) {
    return Fast<ConvertSpan<From, To>>();
  } else {
    return ConvertSpan<From, To>;
  }
}

template <class From>
SpanKernel FindFrom(ComputeType to) {
  switch (to) {
    case ComputeType::kPred:
      return Convert<From, Bool>();
    case ComputeType::kS8:
      return Convert<From, int8_t>();
    case ComputeType::kS16:
      return Convert<From, int16_t>();
    case ComputeType::kS32:
      return Convert<From, int32_t>();
    case ComputeType::kS64:
      return Convert<From, int64_t>();
    case ComputeType::kU8:
      return Convert<From, uint8_t>();
    case ComputeType::kU16:
      return Convert<From, uint16_t>();
    case ComputeType::kU32:
      return Convert<From, uint32_t>();
    case ComputeType::kU64:
      return Convert<From, uint64_t>();
    case ComputeType::kF32:
      return Convert<From, float>();
    case ComputeType::kF64:
      return Convert<From, double>();
    case ComputeType::kC64:
      return Convert<From, std::complex<float>>();
    case ComputeType::kC128:
      return Convert<From, std::complex<double>>();
  }
  return nullptr;
}

// Complex to real is refused; XLA's evaluator does the same.
template <class From>
SpanKernel FindFromComplex(ComputeType to) {
  const bool complex = to == ComputeType::kC64 || to == ComputeType::kC128;
  return complex || to == ComputeType::kPred ? FindFrom<From>(to) : nullptr;
}

template <class T>
HV_INLINE void Select(const SpanArgs& a) {
  const uint8_t* choose = In<uint8_t>(a, 0);
  const T* on_true = In<T>(a, 1);
  const T* on_false = In<T>(a, 2);
  T* out = static_cast<T*>(a.out);
  ForEach(a.count, [=](size_t i) { out[i] = choose[i] != 0 ? on_true[i] : on_false[i]; });
}

struct Wide128 {
  uint64_t low, high;
};

}  // namespace
}  // namespace hv::span

namespace hv {

SpanKernel FindConvertKernel(ComputeType from, ComputeType to) {
  switch (from) {
    case ComputeType::kPred:
      return span::FindFrom<span::Bool>(to);
    case ComputeType::kS8:
      return span::FindFrom<int8_t>(to);
    case ComputeType::kS16:
      return span::FindFrom<int16_t>(to);
    case ComputeType::kS32:
      return span::FindFrom<int32_t>(to);
    case ComputeType::kS64:
      return span::FindFrom<int64_t>(to);
    case ComputeType::kU8:
      return span::FindFrom<uint8_t>(to);
    case ComputeType::kU16:
      return span::FindFrom<uint16_t>(to);
    case ComputeType::kU32:
      return span::FindFrom<uint32_t>(to);
    case ComputeType::kU64:
      return span::FindFrom<uint64_t>(to);
    case ComputeType::kF32:
      return span::FindFrom<float>(to);
    case ComputeType::kF64:
      return span::FindFrom<double>(to);
    case ComputeType::kC64:
      return span::FindFromComplex<std::complex<float>>(to);
    case ComputeType::kC128:
      return span::FindFromComplex<std::complex<double>>(to);
  }
  return nullptr;
}

SpanKernel FindSelectKernel(int element_bytes) {
  switch (element_bytes) {
    case 1:
      return span::Fast<span::Select<uint8_t>, Isa::kAvx512>();
    case 2:
      return span::Fast<span::Select<uint16_t>, Isa::kAvx512>();
    case 4:
      return span::Fast<span::Select<uint32_t>, Isa::kAvx512>();
    case 8:
      return span::Fast<span::Select<uint64_t>, Isa::kAvx512>();
    default:
      break;
  }
  HV_CHECK(element_bytes == 16, "no element has this width");
  return span::Select<span::Wide128>;
}

}  // namespace hv
