#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/check.h"
#include "sim/watchdog.h"
#include "verify/confirm.h"
#include "verify/examine.h"
#include "verify/examined_wire.h"
#include "verify/measure.h"
#include "verify/minimize_topology.h"

namespace hv {
namespace {

// Time limits of the cases that one rank examines, for the rank that may take longest; 0 if
// unlimited.
double LongestShare(const std::vector<Scenario>& scenarios, size_t ranks) {
  std::vector<double> shares(ranks);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (scenarios[i].timeout_seconds <= 0) return 0;
    shares[i % ranks] += scenarios[i].timeout_seconds;
  }
  return *std::max_element(shares.begin(), shares.end());
}

// Examines case i on rank i mod N; all results in order, on every rank.
std::vector<Examined> ExamineAll(const std::vector<Scenario>& scenarios, Transport* transport) {
  const auto ranks = static_cast<size_t>(transport->size());
  const auto rank = static_cast<size_t>(transport->rank().value);
  transport->LimitWaits(PatienceFor(LongestShare(scenarios, ranks)));
  std::vector<Examined> mine;
  for (size_t i = rank; i < scenarios.size(); i += ranks) {
    const CheckContext context("examining " + scenarios[i].name);
    mine.push_back(Examine(scenarios[i]));
  }
  if (ranks == 1) return mine;
  std::vector<std::vector<Examined>> by_rank;
  for (const std::string& bytes : transport->AllGather(ToWire(mine))) {
    by_rank.push_back(FromWire(bytes));
  }
  std::vector<Examined> all;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    all.push_back(std::move(by_rank[i % ranks][i / ranks]));
  }
  return all;
}

// A refutation on a smaller mesh counts if it, too, stands on the ranks.
void ConfirmSmaller(const Scenario& scenario, Examined* examined, Transport* transport) {
  Examined& smaller = examined->smaller.front();
  if (!smaller.refutation) return;
  ConfirmRefutation(SmallerScenario(scenario, *examined->report.smaller), &smaller, transport);
  if (smaller.refutation) return;
  examined->report.smaller.reset();
  if (!examined->refutation) RunOutOfTime(scenario, examined);  // the whole rests on it
}

// The verdict of one case, unless it was clear before anything ran.
void Conclude(Examined* examined, bool* internal_error) {
  CaseReport& report = examined->report;
  if (report.diagnostics.empty()) {
    const Decision decision = Decide(examined->findings);
    report.verdict = decision.verdict;
    report.level = decision.level;
    report.precision = decision.precision;
    report.reason = decision.reason;
    report.unsupported = examined->findings.unsupported;
    *internal_error |= decision.internal_error;
  }
  JudgeExpectation(examined->demand, &report);
}

}  // namespace

Report Verify(const std::vector<Scenario>& scenarios, const VerifyOptions& options,
              Transport* transport) {
  const auto start = std::chrono::steady_clock::now();
  Report report;
  report.version = options.version;
  bool internal_error = false;
  std::vector<Examined> all = ExamineAll(scenarios, transport);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    const CheckContext context("confirming " + scenarios[i].name);
    transport->LimitWaits(PatienceFor(scenarios[i].timeout_seconds));
    if (all[i].refutation) ConfirmRefutation(scenarios[i], &all[i], transport);
    if (all[i].report.smaller) ConfirmSmaller(scenarios[i], &all[i], transport);
    if (scenarios[i].measure && all[i].report.diagnostics.empty()) {
      MeasureCase(scenarios[i], &all[i], transport);
    }
    Conclude(&all[i], &internal_error);
    report.cases.push_back(std::move(all[i].report));
  }
  transport->LimitWaits(0);
  Summarize(options.fail_on, &report);
  if (internal_error) report.exit_code = kExitInternal;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  report.seconds = elapsed.count();
  return report;
}

}  // namespace hv
