// Arithmetic over contiguous spans at a compute type: one loop per (scalar function, type), looked
// up once per instruction. These tables are the one place that says what a ScalarFn does to native
// values. Source: hlo_ops sections 2.2 to 2.8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hlo/element_type.h"
#include "hlo/op.h"

namespace hv {

// C++ types in which scalars are computed. Integers below 8 bits use the 8-bit type, sign- or
// zero-extended, with their own width; floats below 32 bits are widened to f32 by the caller.
enum class ComputeType : uint8_t {
  kPred,
  kS8,
  kS16,
  kS32,
  kS64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF32,
  kF64,
  kC64,
  kC128,
};

ComputeType ComputeTypeOf(ElementType type);
int ComputeBytes(ComputeType type);
// Is an array of `type` stored in another form than its compute type?
constexpr bool IsNarrowFloat(ElementType type) { return IsFloat(type) && BitWidth(type) < 32; }

struct SpanArgs {
  const void* in[4] = {};
  void* out = nullptr;  // may equal an input of the same element width
  size_t count = 0;
  int width = 0;       // bits of the integer type (of the result for convert)
  int params[2] = {};  // reduce-precision: exponent and mantissa bits
};
using SpanKernel = void (*)(const SpanArgs&);

enum class Direction : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
// "EQ" .. "GE"; CHECKs that the word is one of them.
Direction DirectionOf(std::string_view word);

// The loop for `fn` on operands of `type`, or null where HLO does not define it. Compare, convert
// and select have their own tables.
SpanKernel FindSpanKernel(ScalarFn fn, ComputeType type);
SpanKernel FindCompareKernel(Direction direction, ComputeType type);
SpanKernel FindConvertKernel(ComputeType from, ComputeType to);
// The loop for `fn` on bf16 or f16 as stored, operands and result; null where there is none.
SpanKernel FindHalfKernel(ScalarFn fn, ElementType type);
// Between f32 and bf16 or f16 as stored; null for other types.
SpanKernel FindHalfConvertKernel(ElementType from, ElementType to);
// *out = ((*out fn in[0][0]) fn in[0][1]) .. over `count` elements, in that order, for the
// associative and commutative functions; null for others.
SpanKernel FindFoldKernel(ScalarFn fn, ComputeType type);
// in[0] is the pred, in[1] and in[2] elements of `element_bytes` (1, 2, 4, 8, 16).
SpanKernel FindSelectKernel(int element_bytes);

// Two functions in one pass, for what arithmetic of f32 and f64 often holds; null for other pairs.
// first(in[0], in[1]) is the `place`-th operand of the binary `second`, in[2] the other one.
SpanKernel FindPairKernel(ScalarFn first, ScalarFn second, int place, ComputeType type);
// in[0] compared with in[1] picks in[2] or in[3]; all of the type.
SpanKernel FindComparedSelectKernel(Direction direction, ComputeType type);

// The tables of one type family each; the functions above choose among them.
namespace span {
SpanKernel FindSignedFold(ScalarFn fn, ComputeType type);
SpanKernel FindUnsignedFold(ScalarFn fn, ComputeType type);
SpanKernel FindFloatFold(ScalarFn fn, ComputeType type);
SpanKernel FindPred(ScalarFn fn);
SpanKernel FindSigned(ScalarFn fn, ComputeType type);
SpanKernel FindUnsigned(ScalarFn fn, ComputeType type);
SpanKernel FindFloat(ScalarFn fn, ComputeType type);
SpanKernel FindMath(ScalarFn fn);        // f32 functions with loops of their own, else null
SpanKernel FindSaturating(ScalarFn fn);  // tanh, erf
SpanKernel FindComplex(ScalarFn fn, ComputeType type);
}  // namespace span

}  // namespace hv
