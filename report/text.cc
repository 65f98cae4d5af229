#include "report/text.h"

#include <fmt/format.h>

#include <cctype>

#include "base/text.h"
#include "report/text_case.h"
#include "report/units.h"

namespace hv {
namespace {

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// "3 cases: 2 proved, 1 refuted; all as expected (0.05 s)"
std::string TotalsLine(const Report& report) {
  const Totals& totals = report.totals;
  std::string line = CountOf(totals.cases, "case");
  std::string_view separator = ": ";
  for (int i = 0; i < kVerdictCount; ++i) {
    if (totals.by_verdict[i] == 0) continue;
    line += fmt::format("{}{} {}", separator, totals.by_verdict[i],
                        InLowerCase(ToString(static_cast<Verdict>(i))));
    separator = ", ";
  }
  const int64_t missed = totals.cases - totals.as_expected;
  line += missed == 0 ? "; all as expected"
                      : fmt::format("; {} as expected, {} not", totals.as_expected, missed);
  return line + fmt::format(" ({})\n", FormatSeconds(report.seconds));
}

}  // namespace

std::string RenderText(const Report& report, const TextOptions& options) {
  const bool verbose = options.verbosity == Verbosity::kVerbose;
  const bool alone = report.cases.size() == 1 && options.verbosity == Verbosity::kNormal;
  std::string text;
  for (const CaseReport& c : report.cases) {
    if (verbose || alone || !c.as_expected) {
      text += CaseBlock(c, verbose, options.color) + "\n";
    } else if (options.verbosity == Verbosity::kNormal) {
      text += CaseLine(c, options.color);
    }
  }
  return text + TotalsLine(report);
}

bool WantsColor(std::string_view flag, bool is_terminal, bool under_launcher) {
  if (flag == "always") return true;
  return flag != "never" && is_terminal && !under_launcher;
}

}  // namespace hv
