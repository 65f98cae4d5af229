// How much memory a run may take when nobody says.
#pragma once

#include <cstdint>

namespace hv {

// 80 % of the machine's memory or of the control group's limit, whichever is less.
int64_t DefaultMemoryLimit();

}  // namespace hv
