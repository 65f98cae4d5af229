// Conversions between f32/f64 and every narrower float format, bit for bit as ml_dtypes and XLA do
// (round to nearest even, overflow and NaN rules of hlo_ops 2.1 and 2.3).
#pragma once

#include <cstdint>

#include "hlo/element_type.h"

namespace hv {

// The value of a bit pattern (low bits of `bits`) of any float type up to f32; exact.
float FloatFromBits(ElementType type, uint32_t bits);

// One rounding from f32 to `type`; returns its bit pattern.
uint32_t BitsFromFloat(ElementType type, float value);

// As XLA's convert does from f64: f8 and f4/f6 in one rounding, bf16 and f16 via f32.
uint32_t BitsFromDouble(ElementType type, double value);

// Largest finite value, and precision in bits (significand with the hidden bit).
double LargestFinite(ElementType type);
int PrecisionBits(ElementType type);
bool HasInfinity(ElementType type);
bool HasNan(ElementType type);

}  // namespace hv
