// Is the ground firm? Every kind of collective on values that no arithmetic blurs, over the
// transport in use, against plain loops that know nothing of the simulator; and the transport by
// itself. A difference is a fault of the MPI library, the network or this program, and no pass is
// to blame.
#pragma once

#include <cstdint>
#include <string>

#include "sim/transport.h"

namespace hv {

struct SelfTestResult {
  int64_t checks = 0;
  std::string difference;  // the first one, in words; empty if there is none
};

// Collective over all ranks; the same result on each.
SelfTestResult SelfTest(Transport* transport);

}  // namespace hv
