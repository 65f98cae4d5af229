// Records complete collectives as events of a run.
#pragma once

#include <memory>
#include <vector>

#include "sim/agreement.h"
#include "sim/device.h"
#include "sim/run.h"

namespace hv {

// One event per meeting whose first member is local.
void RecordEvents(const std::vector<Meeting>& meetings,
                  const std::vector<std::unique_ptr<Device>>& devices,
                  std::vector<CollectiveEvent>* events);

}  // namespace hv
