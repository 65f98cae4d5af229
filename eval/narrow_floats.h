// Spans of narrow floats to and from f32, in bulk: the same bits as hlo/float_formats.h, fast.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hlo/element_type.h"

namespace hv {

// `type` is a float below 32 bits; `in` holds HostBytes(type) each.
void WidenFloats(ElementType type, const void* in, float* out, size_t count);
void NarrowFloats(ElementType type, const float* in, void* out, size_t count);
// From f64 as convert does: 8 bits and fewer in one rounding, bf16 and f16 via f32.
void NarrowDoubles(ElementType type, const double* in, void* out, size_t count);

// Keys whose integer order is the total order of floats (-NaN < -inf < .. < -0 < +0 < .. < +NaN);
// s32 for types up to 32 bits, s64 for f64. Source: hlo_ops 2.5, TOTALORDER.
void TotalOrderKeys(ElementType type, const void* in, void* keys, size_t count);

}  // namespace hv
