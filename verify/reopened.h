// A case that one rank has examined, made ready on any rank to run again. Its pass command does not run
// again: what it made is what was examined.
#pragma once

#include <optional>
#include <vector>

#include "verify/examine.h"
#include "verify/input_space.h"
#include "verify/pair.h"
#include "verify/scenario.h"

namespace hv {

// The scenario as a pair of what was verified.
Scenario Settled(const Scenario& scenario, const Examined& examined);

struct Reopened {
  Reopened(const Scenario& scenario, const Examined& examined);

  const Pair pair;
  const InputSpace space;  // under the assumptions of the examination
  const std::vector<std::optional<InputRange>> ranges;
};

}  // namespace hv
