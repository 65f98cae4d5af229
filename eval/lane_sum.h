// Sums of floats below 64 bits, in f64 and rounded once by the caller. The order is part of what a
// sum means here: chunks of 1024 terms, each from zero, are added up in order after the initial
// value. Term t of a chunk belongs to lane t mod 8; a lane adds its terms of every 64 from zero and
// those to what it has; the lanes are added up in order. So up to eight terms go one by one, and
// rows, columns, any vectors and any number of threads have the same bits.
#pragma once

#include "eval/reduce.h"
#include "eval/value.h"

namespace hv {

// sums[r] += the terms of result r. `input` holds floats of at most 32 bits.
void SumByLanes(const ReduceGeometry& geometry, const Value& input, double* sums);

}  // namespace hv
