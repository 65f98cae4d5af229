// Constants whose values the text leaves out ({...}): known by name and shape, and taken to be
// equal on both sides where both agree.
#pragma once

#include <string>
#include <vector>

#include "verify/pair.h"

namespace hv {

struct ElidedConstants {
  std::vector<std::string> shared;     // "weights f32[8]", in both modules
  std::vector<std::string> unmatched;  // "weights f32[8] of the module after"
};

ElidedConstants ElidedConstantsOf(const Pair& pair);

// Why a verdict that hangs on them is open, and how to get a text with the values.
std::string ReasonOfElided(const ElidedConstants& elided);

}  // namespace hv
