// Idempotence for free operations: x max x is x. Codes of free operations count how often an
// operand occurs, so operands that repeat are dropped before they are combined; under xor, pairs
// cancel.
#pragma once

#include <vector>

#include "eval/code_algebra.h"
#include "eval/reduce.h"
#include "eval/value.h"
#include "hlo/op.h"

namespace hv {

// Equally shaped code arrays that are combined element by element.
void DropRepeatsAcross(const CodeAlgebra& algebra, ScalarFn fn, std::vector<Value>* values);

// One code array that is reduced.
void DropRepeatsAlong(const CodeAlgebra& algebra, ScalarFn fn, const ReduceGeometry& geometry,
                      Value* value);

}  // namespace hv
