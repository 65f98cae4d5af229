// A domain that forwards to another one and notes what is done to data: which functions meet values
// that depend on inputs, in which types. Concrete control does not count.
#pragma once

#include <memory>

#include "eval/domain.h"
#include "verify/arithmetic_facts.h"

namespace hv {

// Forwards to `inner`, collecting into `facts`; both must outlive it.
std::unique_ptr<Domain> MakeProbeDomain(Domain* inner, ArithmeticFacts* facts);

}  // namespace hv
