// Elementwise ops on intervals, and the passage between native values and intervals.
#pragma once

#include <vector>

#include "base/result.h"
#include "eval/domain.h"
#include "eval/interval.h"

namespace hv {

// At least one operand is an interval array; no complex numbers, reduce-precision or
// bitcast-convert, which the domain answers itself. Integers and truth values come out native where all of
// them are certain.
Result<Value> IntervalScalar(const KernelCall& call, const std::vector<Value>& operands);

// A native element as an interval: a point, two neighbours for 64-bit integers beyond 2^53,
// everything for NaN and complex numbers.
Interval PointOf(const Value& native, int64_t element);

// A native array as intervals; interval arrays as they are.
Value LiftToCodes(const Value& value);

// An array of intervals as a native one, if each is a single number (the sign of zeros is not
// known); else as it is.
Value NativeIfCertain(const Value& value);

// What a value of the type can be.
Interval RangeOf(ElementType type);

}  // namespace hv
