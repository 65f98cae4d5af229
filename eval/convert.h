// Whole values from one element type to another.
#pragma once

#include "base/result.h"
#include "eval/value.h"
#include "hlo/module.h"

namespace hv {

// `value` (native) as an array of `type`, rounded as convert does; the value itself if it is one.
// Shapes are made in `module`'s table. kUnsupported for complex to real.
Result<Value> ConvertValue(const Module& module, const Value& value, ElementType type);

// bitcast-convert of native values between any widths: bits keep their order, the low ones first.
// One element becomes a row of narrower ones, or the other way round. Source: hlo_ops 3.2.
Value BitcastConvertValue(const Value& value, const Shape* shape);

}  // namespace hv
