// From a scenario to two checked modules on one mesh: reads HLO, runs passes or the pass command,
// validates, and makes sure that the modules can be compared.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "verify/pair.h"
#include "verify/report_model.h"
#include "verify/scenario.h"

namespace hv {

struct Prepared {
  Pair pair;
  bool fired = false;  // did a pass change the module?
  std::vector<PassDecision> decisions;
};

struct PrepareError {
  Error error;
  bool from_pass = false;  // a pass or the pass command made the invalid module
  std::vector<PassDecision> decisions;
};

std::variant<Prepared, PrepareError> Prepare(const Scenario& scenario);

}  // namespace hv
