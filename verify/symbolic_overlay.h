// Sums over ranges that are cut differently: a sum over a box is the sum over its parts, so two
// lists of boxes of one summand are equal if they cover the same places equally often. For maximum,
// minimum, and, or it is enough that they cover the same places.
#pragma once

#include <cstdint>
#include <span>

#include "verify/symbolic_algebra.h"

namespace hv {

// Are the terms equal once sums (also below equal functions) are cut to match? For sums that may be
// bracketed anew. False says nothing.
bool SumsAgree(Algebra* algebra, const Term& a, const Term& b, std::span<const int64_t> extents);

}  // namespace hv
