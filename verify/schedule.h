// What a rewrite does to the order of collectives, beyond values: orders that only control
// dependencies kept and that are gone, and collectives over overlapping groups that may now be in
// flight at once. Both are notes, not verdicts: whether they hurt depends on the back end.
#pragma once

#include <string>
#include <vector>

#include "verify/pair.h"

namespace hv {

// In words, the first few.
std::vector<std::string> NotesOnSchedule(const Pair& pair);

}  // namespace hv
