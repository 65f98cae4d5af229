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
  std::string rewritten;  // what the pass command made of the module, where it must run again
  std::vector<Examined> smaller;  // the case of report.smaller, if there is one
};

// Takes no longer than the scenario allows, but for one long step.
Examined Examine(const Scenario& scenario);

// The time of the case was over before it could be judged: whatever was found is left.
void RunOutOfTime(const Scenario& scenario, Examined* examined);

// The input leaves of a prepared pair under assumptions; the same on every rank.
InputSpace SpaceOf(const Pair& pair, const Scenario& scenario, const InputAssumptions& assumptions);

}  // namespace hv
