// Sums of floats as XLA's evaluator computes them: in f64, chunks of 512 terms each from zero,
// added to a running sum that starts as the initial value, rounded to the type at the end. Source:
// hlo_ops 3.7.
#pragma once

#include "eval/reduce.h"
#include "eval/value.h"

namespace hv {

Value SumFloats(const ReduceGeometry& geometry, const Value& input, const Value& init,
                const Shape* shape);

}  // namespace hv
