// Moves the data of complete collectives: fetches the boxes of operands that local members need from
// other ranks, and hands every local member its result.
#pragma once

#include <memory>
#include <vector>

#include "sim/agreement.h"
#include "sim/device.h"
#include "sim/mesh.h"

namespace hv {

// Every rank calls this with the meetings Agree gave it. A collective that fails (a domain that cannot
// fold, an undefined offset) fails its local members; ranks learn it at the next agreement.
void CompleteMeetings(RunContext* context, const std::vector<std::unique_ptr<Device>>& devices,
                      const Placement& placement, const std::vector<Meeting>& meetings,
                      OperandBoard* board);

}  // namespace hv
