// Every narrow float as data: field widths, bias, and which bit patterns are special. One encoder
// rounds any double once; decoders of the formats up to 8 bits are tables made from the same data.
// Source: ml_dtypes (float8.h, mxfloat.h), OCP microscaling formats, IEEE 754.
#include "hlo/float_formats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace hv {
namespace {

enum class Specials : uint8_t {
  kIeee,      // largest exponent: infinity (mantissa 0) and NaNs
  kNanOnly,   // all ones is NaN, no infinity ("fn")
  kNegZero,   // the pattern of -0 is the only NaN, no infinity ("fnuz")
  kNone,      // finite values only; conversion saturates (f4, f6)
  kExponent,  // f8e8m0fnu: an exponent alone, all ones is NaN
};

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  constexpr uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  // Pattern of the largest finite magnitude.
  constexpr uint32_t largest() const {
    const uint32_t all = sign_bit() - 1;
    if (specials == Specials::kIeee) return all - (1u << mantissa_bits);
    return specials == Specials::kNanOnly || specials == Specials::kExponent ? all - 1 : all;
  }
  constexpr uint32_t nan(bool negative) const {
    const uint32_t sign = negative ? sign_bit() : 0;
    switch (specials) {
      case Specials::kIeee:
        return sign | (largest() + 1) | 1u << (mantissa_bits - 1);
      case Specials::kNanOnly:
        return sign | (sign_bit() - 1);
      case Specials::kNegZero:
        return sign_bit();
      case Specials::kNone:  // there is none: ml_dtypes yields a zero of the opposite sign
        return negative ? 0 : sign_bit();
      case Specials::kExponent:
        return sign_bit() - 1;
    }
    return 0;
  }
};

constexpr Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF4E2M1FN:
      return {2, 1, 1, Specials::kNone};
    case ElementType::kF6E2M3FN:
      return {2, 3, 1, Specials::kNone};
    case ElementType::kF6E3M2FN:
      return {3, 2, 3, Specials::kNone};
    case ElementType::kF8E3M4:
      return {3, 4, 3, Specials::kIeee};
    case ElementType::kF8E4M3:
      return {4, 3, 7, Specials::kIeee};
    case ElementType::kF8E4M3FN:
      return {4, 3, 7, Specials::kNanOnly};
    case ElementType::kF8E4M3FNUZ:
      return {4, 3, 8, Specials::kNegZero};
    case ElementType::kF8E4M3B11FNUZ:
      return {4, 3, 11, Specials::kNegZero};
    case ElementType::kF8E5M2:
      return {5, 2, 15, Specials::kIeee};
    case ElementType::kF8E5M2FNUZ:
      return {5, 2, 16, Specials::kNegZero};
    case ElementType::kF8E8M0FNU:
      return {8, 0, 127, Specials::kExponent};
    case ElementType::kBF16:
      return {8, 7, 127, Specials::kIeee};
    case ElementType::kF16:
      return {5, 10, 15, Specials::kIeee};
    default:
      return {8, 23, 127, Specials::kIeee};
  }
}

float Decode(const Format& f, uint32_t bits) {
  if (f.specials == Specials::kExponent) {
    return bits == f.nan(false) ? std::numeric_limits<float>::quiet_NaN()
                                : std::ldexp(1.0f, static_cast<int>(bits) - f.bias);
  }
  const bool negative = (bits & f.sign_bit()) != 0;
  const uint32_t magnitude = bits & (f.sign_bit() - 1);
  if (f.specials == Specials::kNegZero && bits == f.sign_bit()) {
    return -std::numeric_limits<float>::quiet_NaN();
  }
  if (magnitude > f.largest()) {
    const float special = f.specials == Specials::kIeee && magnitude == f.largest() + 1
                              ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
    return std::copysign(special, negative ? -1.0f : 1.0f);
  }
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const uint32_t fraction = magnitude & ((1u << f.mantissa_bits) - 1);
  const uint32_t significand = exponent == 0 ? fraction : fraction | 1u << f.mantissa_bits;
  const int scale = (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa_bits;
  const float value = std::ldexp(static_cast<float>(significand), scale);
  return negative ? -value : value;
}

uint32_t Overflow(const Format& f, bool negative) {
  const uint32_t sign = negative ? f.sign_bit() : 0;
  if (f.specials == Specials::kIeee) return sign | (f.largest() + 1);
  return f.specials == Specials::kNone ? sign | f.largest() : f.nan(negative);
}

// The magnitude `significand * 2^scale` (significand < 2^53, not 0) in units of the pattern: to
// nearest, ties to even. May exceed the largest finite pattern.
uint32_t RoundMagnitude(const Format& f, uint64_t significand, int scale) {
  // value = 1.x * 2^(top + scale)
  const int top = static_cast<int>(std::bit_width(significand)) - 1;
  const int least = f.specials == Specials::kExponent ? -f.bias : 1 - f.bias;
  const int exponent = std::max(top + scale, least);
  const int shift = exponent - f.mantissa_bits - scale;  // drop this many low bits
  uint64_t kept = 0;
  if (shift <= 0) {
    kept = significand << -shift;
  } else if (shift < 64) {
    const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
    const uint64_t half = uint64_t{1} << (shift - 1);
    kept = significand >> shift;
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  // `kept` carries the hidden bit of normal numbers; a carry moves into the exponent by itself.
  return static_cast<uint32_t>(kept) + (static_cast<uint32_t>(exponent - least) << f.mantissa_bits);
}

// An exponent alone: to nearest, ties upwards; what is not positive and finite is NaN.
uint32_t EncodeExponent(const Format& f, double value) {
  if (!(value > 0) || std::isinf(value)) return f.nan(false);
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  const int code = exponent - 1 + f.bias + (fraction >= 0.75 ? 1 : 0);
  if (code < 0) return 0;
  return code > static_cast<int>(f.largest()) ? f.nan(false) : static_cast<uint32_t>(code);
}

uint32_t Encode(const Format& f, double value) {
  if (f.specials == Specials::kExponent) return EncodeExponent(f, value);
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  if (std::isnan(value)) return f.nan(negative);
  if (std::isinf(value)) return Overflow(f, negative);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint64_t significand = exponent == 0 ? fraction : fraction | uint64_t{1} << 52;
  const uint32_t magnitude =
      significand == 0 ? 0 : RoundMagnitude(f, significand, std::max(exponent, 1) - 1075);
  if (magnitude > f.largest()) return Overflow(f, negative);
  if (f.specials == Specials::kNegZero && magnitude == 0) return 0;
  return negative ? magnitude | f.sign_bit() : magnitude;
}

using ByteTable = std::array<float, 256>;

constexpr int kFirst = static_cast<int>(ElementType::kF4E2M1FN);
constexpr int kLastByte = static_cast<int>(ElementType::kF8E8M0FNU);

// Values of all patterns of the formats of at most 8 bits.
const ByteTable& ByteTableOf(ElementType type) {
  static const std::array<ByteTable, kLastByte - kFirst + 1> tables = [] {
    std::array<ByteTable, kLastByte - kFirst + 1> made{};
    for (int t = kFirst; t <= kLastByte; ++t) {
      const auto element = static_cast<ElementType>(t);
      const uint32_t mask = (1u << BitWidth(element)) - 1;
      for (uint32_t b = 0; b < 256; ++b) {
        made[static_cast<size_t>(t - kFirst)][b] = Decode(FormatOf(element), b & mask);
      }
    }
    return made;
  }();
  return tables[static_cast<size_t>(static_cast<int>(type) - kFirst)];
}

}  // namespace

float FloatFromBits(ElementType type, uint32_t bits) {
  HV_CHECK(IsFloat(type) && type != ElementType::kF64, "not a float of at most 32 bits");
  if (type == ElementType::kF32) return std::bit_cast<float>(bits);
  if (type == ElementType::kBF16) return std::bit_cast<float>(bits << 16);
  if (type == ElementType::kF16) return Decode(FormatOf(type), bits & 0xFFFF);
  return ByteTableOf(type)[bits & 0xFF];
}

uint32_t BitsFromFloat(ElementType type, float value) {
  HV_CHECK(IsFloat(type) && type != ElementType::kF64, "not a float of at most 32 bits");
  if (type == ElementType::kF32) return std::bit_cast<uint32_t>(value);
  // ml_dtypes rounds subnormals of f32 (above 2^-127) upwards, the lower ones too.
  const bool f32_subnormal = value > 0x1p-127f && value < 0x1p-126f;
  if (type == ElementType::kF8E8M0FNU && f32_subnormal) return 1;
  return Encode(FormatOf(type), static_cast<double>(value));
}

uint32_t BitsFromDouble(ElementType type, double value) {
  const bool via_float = BitWidth(type) > 8;
  if (via_float) return BitsFromFloat(type, static_cast<float>(value));
  return Encode(FormatOf(type), value);
}

double LargestFinite(ElementType type) {
  if (type == ElementType::kF64) return std::numeric_limits<double>::max();
  return static_cast<double>(FloatFromBits(type, FormatOf(type).largest()));
}

int PrecisionBits(ElementType type) {
  return type == ElementType::kF64 ? 53 : FormatOf(type).mantissa_bits + 1;
}

bool HasInfinity(ElementType type) {
  return type == ElementType::kF64 || FormatOf(type).specials == Specials::kIeee;
}

bool HasNan(ElementType type) {
  return type == ElementType::kF64 || FormatOf(type).specials != Specials::kNone;
}

}  // namespace hv
