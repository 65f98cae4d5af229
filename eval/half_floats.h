// One bf16 or f16 to and from f32 by integer arithmetic that vectorises.
#pragma once

#include <bit>
#include <cstdint>

namespace hv {

inline float WidenBf16(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

inline uint16_t NarrowBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>(value != value ? bits >> 16 | 0x40 : rounded);
}

// Shifted into place the exponent is off by 112; the multiplication is exact, subnormals included.
inline float WidenF16(uint16_t h) {
  const uint32_t magnitude = (h & 0x7FFFu) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t special = magnitude >= 0x0F800000u ? 0x7F800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | (h & 0x8000u) << 16);
}

inline uint16_t NarrowF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  // Adding 0.5 rounds to multiples of 2^-24, the subnormals of f16.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  const uint32_t normal = (magnitude + 0xC8000FFFu + (magnitude >> 13 & 1)) >> 13;
  uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x47800000u ? 0x7C00u : half;
  half = magnitude > 0x7F800000u ? 0x7E00u : half;
  return static_cast<uint16_t>(half | (bits >> 16 & 0x8000u));
}

// Elements as stored, which read as what they are worth.
struct Bf16 {
  uint16_t bits;
  operator float() const { return WidenBf16(bits); }
};
struct F16 {
  uint16_t bits;
  operator float() const { return WidenF16(bits); }
};

}  // namespace hv
