#include "verify/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time_limit.h"
#include "sim/timing.h"
#include "verify/native_input.h"
#include "verify/pair.h"
#include "verify/reopened.h"

namespace hv {
namespace {

constexpr size_t kWarmUps = 1;  // the first round touches fresh memory
constexpr size_t kLeastRounds = 5, kMostRounds = 1000;
constexpr double kEnoughSeconds = 0.5;  // of all rounds together

// The same arrays for every run, each device with one of its own. What is in them does not matter, so
// the devices of a rank get copies of what its first one gets: drawing numbers takes longest.
SlotFill Kept(SlotFill fill) {
  auto kept = std::make_shared<std::map<std::pair<int64_t, int64_t>, Value>>();
  return [fill = std::move(fill), kept](const Shape* shape, int64_t slot,
                                        int64_t device) -> Result<Value> {
    const auto found = kept->lower_bound({slot, 0});
    const bool drawn = found != kept->end() && found->first.first == slot;
    if (const auto own = kept->find({slot, device}); own != kept->end()) return own->second;
    Value value;
    if (drawn) {
      value = Value::NewNative(shape);
      std::memcpy(value.MutableBytes().data(), found->second.bytes().data(), value.bytes().size());
    } else {
      HV_ASSIGN(value, fill(shape, slot, device));
    }
    return kept->emplace(std::pair(slot, device), std::move(value)).first->second;
  };
}

class Stopwatch {
 public:
  Stopwatch(const Pair& pair, const InputSpace& space, SlotFill fill, bool private_results,
            Transport* transport)
      : pair_(pair), space_(space), fill_(Kept(std::move(fill))), transport_(transport) {
    options_.domain = domain_.get();
    options_.transport = transport;
    options_.memory_limit_bytes = MemoryLimit(pair);
    options_.private_results = private_results;
  }

  // Each side once, and whether both ran to their end. The same on every rank.
  bool Round(std::array<double, 2>* seconds) const {
    for (const Side side : kSides) {
      const Module& module = pair_.of(side);
      const auto outcome =
          RunModule(module, pair_.mesh, MakeInputs(module, space_, fill_), options_);
      if (!outcome || outcome->stall) return false;
      (*seconds)[static_cast<size_t>(side)] = SlowestOf(outcome->seconds, transport_);
    }
    return true;
  }

 private:
  const Pair& pair_;
  const InputSpace& space_;
  const SlotFill fill_;
  Transport* const transport_;
  const std::unique_ptr<Domain> domain_ = MakeNativeDomain(1);
  RunOptions options_;
};

std::optional<MeasuredCost> Measure(const Stopwatch& stopwatch) {
  std::array<std::vector<double>, 2> times;
  std::array<double, 2> seconds{};
  for (size_t k = 0; k < kWarmUps; ++k) {
    if (!stopwatch.Round(&seconds)) return {};
  }
  double total = 0;
  while (times[0].size() < kMostRounds &&
         (times[0].size() < kLeastRounds || total < kEnoughSeconds) && stopwatch.Round(&seconds)) {
    for (size_t side = 0; side < 2; ++side) times[side].push_back(seconds[side]);
    total += seconds[0] + seconds[1];
  }
  if (times[0].empty()) return {};
  return MeasuredCost{MedianOf(times[0]), MedianOf(times[1]), static_cast<int64_t>(times[0].size()),
                      false};
}

}  // namespace

void MeasureCase(const Scenario& scenario, Examined* examined, Transport* transport) {
  const TimeLimit limit(scenario.timeout_seconds);
  const Reopened again(scenario, *examined);
  NativeInput input;
  input.seed = scenario.inputs.seed;
  const Stopwatch stopwatch(again.pair, again.space,
                            FillNative(input, again.space, again.ranges, scenario.inputs),
                            scenario.private_results, transport);
  CaseReport& report = examined->report;
  report.measured = Measure(stopwatch);
  if (report.measured) {
    report.measured->private_results = scenario.private_results;
  } else {
    report.notes.push_back("not measured: before and after do not both run to their end here");
  }
}

}  // namespace hv
