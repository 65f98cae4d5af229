#include "verify/confirm.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/time_limit.h"
#include "verify/native_runs.h"
#include "verify/reopened.h"

namespace hv {
namespace {

// Both values at the place, from the rank that holds the device; empty if none has them.
std::array<std::string, 2> Gather(const NativeRuns::Ran& ran, const OutputPlace& place,
                                  Transport* transport) {
  std::array<std::string, 2> texts;
  for (size_t side = 0; side < 2; ++side) {
    const bool mine = ran.outputs[side].count(place.device) != 0;
    for (std::string& text : transport->AllGather(mine ? TextAt(ran.outputs[side], place) : "")) {
      if (!text.empty()) texts[side] = std::move(text);
    }
  }
  return texts;
}

bool RanOutOfTime(const NativeRuns::Ran& ran) {
  return std::any_of(ran.error.begin(), ran.error.end(), [](const std::optional<Error>& error) {
    return error && error->kind == ErrorKind::kTime;
  });
}

}  // namespace

void ConfirmRefutation(const Scenario& scenario, Examined* examined, Transport* transport) {
  const TimeLimit limit(scenario.timeout_seconds);
  const Reopened again(scenario, *examined);
  const NativeRuns native(again.pair, again.space, scenario.inputs, again.ranges, {});
  const NativeDifference& found = examined->refutation->difference;
  const NativeRuns::Ran ran = native.Run(examined->refutation->input, transport);
  if (RanOutOfTime(ran)) return RunOutOfTime(scenario, examined);
  HV_CHECK(ran.finished(), "a run that finished in one process no longer does");
  const auto [before, after] = Gather(ran, found.place, transport);
  HV_CHECK(before == found.before && after == found.after,
           fmt::format("one process found {} and {}, the ranks find {} and {}", found.before,
                       found.after, before, after));
  examined->report.evidence.push_back(
      {"native run", "the counterexample run again across all ranks", std::nullopt});
}

}  // namespace hv
