// One case examined in this process: prepared, run in code domains and natively, searched for a
// counterexample. What it leaves open is the confirmation of a refutation across the ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/counterexample.h"
#include "verify/decide.h"
#include "verify/prepare.h"
#include "verify/report_model.h"
#include "verify/scenario.h"

namespace hv {

// What the inputs are assumed to obey.
struct InputAssumptions {
  bool claims = false;          // the module's own claims hold
  std::vector<int64_t> shared;  // parameters taken as equal on all devices
};

struct Examined {
  CaseReport report;  // all but the verdict and what follows from it
  Findings findings;
  Demand demand;
  InputAssumptions assumptions;  // under which the findings hold
  std::optional<Refutation> refutation;
};

Examined Examine(const Scenario& scenario);

// The input leaves of a prepared pair under assumptions; the same on every rank.
InputSpace SpaceOf(const Pair& pair, const Scenario& scenario, const InputAssumptions& assumptions);

}  // namespace hv
