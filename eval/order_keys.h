// Numbers whose order is the order of native elements.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/value.h"

namespace hv {

// Keys in the total order of the type: integers by value (u64 too), floats -NaN < .. < +NaN.
std::vector<int64_t> TotalKeys(const Value& value);

}  // namespace hv
