// The domain of enclosures: floats are intervals, integers and truth values stay native as long as
// they are certain. Two runs whose intervals have nothing in common differ by more than any
// rounding.
#pragma once

#include <memory>

#include "eval/domain.h"
#include "eval/interval.h"

namespace hv {

// Codes are Intervals. What this domain has no enclosure for (complex arithmetic, most opaque ops)
// has results that can be anything; a value that decides control and is not certain is
// kUnsupported.
std::unique_ptr<Domain> MakeIntervalDomain();

// Floats of a native array as points; other types as they are.
Value LiftToIntervals(const Value& native);

// Element of an array of either encoding.
Interval IntervalAt(const Value& value, int64_t element);

}  // namespace hv
