// Comparing the outputs of two runs in a code domain.
#pragma once

#include <optional>

#include "eval/code_domain.h"
#include "verify/pair.h"

namespace hv {

// The first place, by device, leaf and element, at which the codes differ. Concrete integers and
// truth values are compared by their bits, concrete floats as the numbers they are.
std::optional<OutputPlace> FirstCodeDifference(const CodeDomain& domain, const Outputs& before,
                                               const Outputs& after);

}  // namespace hv
