// Values as JSON: nested lists with the shape of the value, a bare value for a scalar. Integers are
// exact to 64 bits, NaN and infinities are strings, complex numbers are [re, im].
// Source: tests/data/cases/conformance/README.md, "Literals".
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "eval/value.h"

namespace hv {

// Reads a native array of `shape`. f32 and f64 to the nearest; narrower floats from their exact
// decimals. Errors ("bad-literal"): wrong nesting, length or kind, or an integer out of range.
Result<Value> ReadLiteralJson(const Json& node, const Shape* shape);

// Appends a native array; floats with enough digits to read back the same bits, -0 as -0.0.
void AppendLiteralJson(const Value& value, std::string* out);

// One element as JSON: "-3", "\"nan\"", "[1, 0]".
void AppendElementJson(ElementType type, const std::byte* element, std::string* out);

}  // namespace hv
