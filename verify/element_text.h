// Single elements of arrays: their index, their text, and numbers put into them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/value.h"

namespace hv {

// Multi-dimensional index of the row-major element number.
std::vector<int64_t> IndexOf(const Shape& shape, int64_t element);

// Element of a native array as HLO prints it.
std::string ElementText(const Value& value, int64_t element);

// Element of a native array as a real number: the real part of complex ones, 0 or 1 for pred.
double ElementReal(const Value& value, int64_t element);

// Puts `number` into element `element`, rounded to the type: integers wrap to its width, pred is
// number != 0, complex gets the real part.
void StoreNumber(double number, int64_t element, Value* value);

}  // namespace hv
