// Scalar computations (map bodies, reducers nobody recognises) applied to terms.
#pragma once

#include <optional>
#include <vector>

#include "hlo/module.h"
#include "verify/symbolic_algebra.h"

namespace hv {

// The elementwise function of `instruction` on terms; float operands of another precision than the
// function's are converted first. Nothing if it is no function of elements.
std::optional<Term> ApplyInstruction(Algebra* algebra, const Instruction& instruction,
                                     const Shape& result, std::span<const ElementType> types,
                                     std::vector<Term> arguments);

// The results (leaves of the root) of a scalar computation, or nothing if it does more than
// elementwise functions, constants, tuples and calls.
std::optional<std::vector<Term>> ApplyComputation(Algebra* algebra, const Module& module,
                                                  ComputationIndex computation,
                                                  std::vector<Term> arguments);

}  // namespace hv
