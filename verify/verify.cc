#include "verify/verify.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <variant>

#include "base/check.h"
#include "verify/confirm.h"
#include "verify/examine.h"
#include "verify/examined_wire.h"

namespace hv {
namespace {

// Examines case i on rank i mod N; all results in order, on every rank.
std::vector<Examined> ExamineAll(const std::vector<Scenario>& scenarios, Transport* transport) {
  const auto ranks = static_cast<size_t>(transport->size());
  const auto rank = static_cast<size_t>(transport->rank().value);
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
    if (all[i].refutation) ConfirmRefutation(scenarios[i], &all[i], transport);
    Conclude(&all[i], &internal_error);
    report.cases.push_back(std::move(all[i].report));
  }
  Summarize(options.fail_on, &report);
  if (internal_error) report.exit_code = kExitInternal;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  report.seconds = elapsed.count();
  return report;
}

}  // namespace hv
