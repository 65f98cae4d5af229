// The greatest or least of contiguous floats. In order, the first NaN wins and of equal elements the
// first (eval/span_float.h): the one that wins over all of them is found in any order.
#pragma once

#include "eval/span_kernel.h"

namespace hv {

// *out = the element of in[0][0 .. count) that a fold by `fn` (maximum or minimum) keeps, count > 0,
// as stored; null for other functions and types.
SpanKernel FindExtremeKernel(ScalarFn fn, ElementType type);

}  // namespace hv
