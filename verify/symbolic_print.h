// Terms in words, for people: sources by name, offsets as functions of the digits i, j, k, ...
#pragma once

#include <string>

#include "verify/symbolic_domain.h"

namespace hv {

// At most about `limit` characters, then "...".
std::string DescribeTerm(SymbolicDomain* domain, const Term& term, size_t limit);
// What a sum (or product, set) misses and has in excess of another: "misses a, b; has c in excess".
// Empty unless both are of one such function.
std::string DescribeSummands(SymbolicDomain* domain, const Term& before, const Term& after);
// "elements 4..7", "elements 4, 6, 8 (4 of them)".
std::string DescribeRegion(const Region& region);

}  // namespace hv
