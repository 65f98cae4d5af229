// Where two modules round differently: the float types in which their arithmetic is done.
#pragma once

#include <string>

#include "hlo/module.h"

namespace hv {

// "wider", "narrower" or "mixed" as `after` computes in wider or narrower types what it does not
// share with `before`, and the instructions by name; empty if both do the same arithmetic in the
// same types.
std::string PrecisionChange(const Module& before, const Module& after);

}  // namespace hv
