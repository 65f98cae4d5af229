// Values as lists of their data leaves (arrays; tokens left out), and back.
#pragma once

#include <vector>

#include "base/result.h"
#include "eval/domain.h"
#include "eval/value.h"
#include "hlo/shape.h"

namespace hv {

// A value of `shape` from its data leaves in order; tokens are made.
Value Assemble(const Shape* shape, std::vector<Value> leaves);

// A value of `shape` whose elements are all zero.
Result<Value> Zeros(Domain& domain, const Shape* shape);

// One zero piece that covers `count` elements (none if there is nothing to cover).
Pieces ZeroPieces(int64_t count);

// A copy of what others hold too; what this handle holds alone is taken over.
Value PrivateCopy(Value value);

}  // namespace hv
