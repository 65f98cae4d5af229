// Sums of floats: in f64 from the initial value, rounded to the type at the end. Sums of f64 take the
// order of XLA's evaluator: chunks of 512 terms, each from zero, added to the running sum. The
// others, which have bits to spare, take one that vectors are fast at (eval/lane_sum.h). Source:
// hlo_ops 3.7.
#pragma once

#include "eval/reduce.h"
#include "eval/value.h"

namespace hv {

Value SumFloats(const ReduceGeometry& geometry, const Value& input, const Value& init,
                const Shape* shape);

}  // namespace hv
