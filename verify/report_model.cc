#include "verify/report_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hv {
namespace {

constexpr std::string_view kVerdictNames[kVerdictCount] = {
    "PROVED", "TESTED", "REFUTED", "DEADLOCK", "INCONSISTENT", "INVALID", "UNKNOWN"};
constexpr std::string_view kLevelNames[] = {"", "real", "reassociation", "bitwise"};

bool IsEquivalent(Verdict v) { return v == Verdict::kProved || v == Verdict::kTested; }

Level MinimumLevel(const Demand& demand, const CaseReport& report) {
  if (demand.min_level) return *demand.min_level;
  return report.precision == "wider" ? Level::kReal : Level::kReassociation;
}

// Does the verdict itself, levels and cost aside, meet the expectation?
bool VerdictMeets(const Demand& demand, const CaseReport& report) {
  switch (demand.expect) {
    case Expectation::kEquivalent:
      return IsEquivalent(report.verdict);
    case Expectation::kProved:
      return report.verdict == Verdict::kProved;
    case Expectation::kNotEquivalent:
      return report.verdict == Verdict::kRefuted || report.verdict == Verdict::kInconsistent;
    case Expectation::kDeadlock:
      return report.verdict == Verdict::kDeadlock;
    case Expectation::kInvalid:
      return report.verdict == Verdict::kInvalid;
    case Expectation::kUnchanged:
      return IsEquivalent(report.verdict) && !demand.fired;
    case Expectation::kUnsupported:
      return report.verdict == Verdict::kUnknown && report.unsupported;
  }
  return false;
}

std::string MissedBecause(const Demand& demand, const CaseReport& report) {
  if (!VerdictMeets(demand, report)) {
    if (demand.expect == Expectation::kUnchanged && demand.fired) {
      return "expected no pass to fire, but one did";
    }
    return fmt::format("expected {}, got {}", ToString(demand.expect), ToString(report.verdict));
  }
  const Level minimum = MinimumLevel(demand, report);
  if (report.level != Level::kNone && report.level < minimum) {
    return fmt::format("{} only at level {}{}{}, below {}",
                       report.verdict == Verdict::kProved ? "proved" : "tested",
                       ToString(report.level), report.precision.empty() ? "" : ", precision ",
                       report.precision, ToString(minimum));
  }
  if (demand.max_cost_ratio && !report.cost && report.verdict != Verdict::kInvalid) {
    return "max_cost_ratio is given, but no machine to compute costs for";
  }
  if (demand.max_cost_ratio && report.cost && report.cost->ratio() > *demand.max_cost_ratio) {
    return fmt::format("costs {:.3g} times as much, more than {:.3g}", report.cost->ratio(),
                       *demand.max_cost_ratio);
  }
  return "";
}

}  // namespace

std::string_view ToString(Verdict verdict) { return kVerdictNames[static_cast<int>(verdict)]; }

std::string_view ToString(Level level) { return kLevelNames[static_cast<int>(level)]; }

std::optional<Level> ParseLevel(std::string_view text) {
  for (Level level : {Level::kReal, Level::kReassociation, Level::kBitwise}) {
    if (ToString(level) == text) return level;
  }
  return std::nullopt;
}

void JudgeExpectation(const Demand& demand, CaseReport* report) {
  report->expect = demand.expect;
  report->missed = MissedBecause(demand, *report);
  report->as_expected = report->missed.empty();
}

int ExitCodeOf(const CaseReport& report, FailOn fail_on) {
  if (report.as_expected) return kExitOk;
  switch (report.verdict) {
    case Verdict::kInvalid:
      return report.invalid_from_pass ? kExitMissed : kExitBadInput;
    case Verdict::kUnknown:
      return fail_on == FailOn::kRefuted ? kExitOk : kExitUnknown;
    default:
      return kExitMissed;
  }
}

int WorseExitCode(int a, int b) {
  constexpr int kOrder[] = {kExitInternal, kExitMissed, kExitBadInput, kExitUnknown, kExitOk};
  return *std::find_if(std::begin(kOrder), std::end(kOrder) - 1,
                       [&](int code) { return code == a || code == b; });
}

void Summarize(FailOn fail_on, Report* report) {
  report->totals = Totals{};
  report->exit_code = kExitOk;
  for (const CaseReport& c : report->cases) {
    ++report->totals.cases;
    report->totals.as_expected += c.as_expected ? 1 : 0;
    ++report->totals.by_verdict[static_cast<int>(c.verdict)];
    report->exit_code = WorseExitCode(report->exit_code, ExitCodeOf(c, fail_on));
  }
}

}  // namespace hv
