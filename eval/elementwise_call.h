// A scalar computation applied to whole arrays in any domain: each of its instructions becomes one
// elementwise op. Slower than ScalarProgram, but it asks nothing of what an element is.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "eval/domain.h"

namespace hv {

// `arguments` are arrays of the dimensions `dims`, one per parameter; the results (leaves of the
// root) have them too. kUnsupported, naming the op, for what is not elementwise.
Result<std::vector<Value>> CallElementwise(Domain& domain, const Module& module,
                                           ComputationIndex computation,
                                           std::span<const int64_t> dims,
                                           std::vector<Value> arguments);

// A scalar (of any encoding) repeated over `shape`.
Value Spread(const Value& scalar, const Shape* shape);

}  // namespace hv
