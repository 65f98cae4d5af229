// Numbers that the text of two modules mentions: inputs that are such a number may be what a select
// or a compare waits for, which no random number ever is.
#pragma once

#include <vector>

#include "verify/pair.h"

namespace hv {

// Constants of both modules, scalars and short lists, each with the numbers one below and one
// above; ascending, at most `most` of them.
std::vector<double> NumbersMentioned(const Pair& pair, size_t most);

}  // namespace hv
