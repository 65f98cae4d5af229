// The native domain but for sums of floats: `reduce` adds them one by one in their own type, as a
// back end may. The native domain adds in f64, which hides that sums in other orders differ.
#pragma once

#include <memory>

#include "eval/domain.h"

namespace hv {

std::unique_ptr<Domain> MakeInOrderDomain();

}  // namespace hv
