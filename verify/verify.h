// Verifies a list of scenarios on all ranks together. Cases are examined by the ranks in turn, each
// in its own process; what they find is shared, and refutations are then confirmed by native runs
// across all ranks, in the order of the list. The report is the same for every rank count.
#pragma once

#include <string>
#include <vector>

#include "sim/transport.h"
#include "verify/report_model.h"
#include "verify/scenario.h"

namespace hv {

struct VerifyOptions {
  std::string version;
  FailOn fail_on = FailOn::kUnknown;
};

// Collective over the ranks of `transport`; every rank gets the whole report.
Report Verify(const std::vector<Scenario>& scenarios, const VerifyOptions& options,
              Transport* transport);

}  // namespace hv
