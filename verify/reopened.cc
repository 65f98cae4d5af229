#include "verify/reopened.h"

#include <utility>
#include <variant>

#include "base/check.h"
#include "verify/native_input.h"
#include "verify/prepare.h"

namespace hv {
namespace {

Pair PreparedAgain(const Scenario& scenario, const Examined& examined) {
  auto prepared = Prepare(Settled(scenario, examined));
  HV_CHECK(std::holds_alternative<Prepared>(prepared), "a case that was prepared no longer can be");
  return std::move(std::get<Prepared>(prepared).pair);
}

std::vector<std::optional<InputRange>> RangesAgain(const InputSpace& space, const InputPlan& plan) {
  auto ranges = ResolveRanges(space, plan);
  HV_CHECK(ranges.has_value(), "ranges that were resolved no longer can be");
  return std::move(*ranges);
}

}  // namespace

Scenario Settled(const Scenario& scenario, const Examined& examined) {
  Scenario settled = scenario;
  if (examined.rewritten.empty()) return settled;
  settled.pass_command.clear();
  settled.after = {"", examined.rewritten, "<output of pass command>"};
  return settled;
}

Reopened::Reopened(const Scenario& scenario, const Examined& examined)
    : pair(PreparedAgain(scenario, examined)),
      space(SpaceOf(pair, scenario, examined.assumptions)),
      ranges(RangesAgain(space, scenario.inputs)) {}

}  // namespace hv
