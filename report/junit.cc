#include "report/junit.h"

#include <fmt/format.h>

#include "report/text_case.h"

namespace hv {
namespace {

// XML 1.0 has no way to write most control characters: they become '?'.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\n':
        escaped += "&#10;";
        break;
      default: {
        const auto code = static_cast<unsigned char>(c);
        escaped += code < 0x20 && c != '\t' ? '?' : c;
      }
    }
  }
  return escaped;
}

// "failure", "error", or nothing for a case that does not fail the job.
std::string_view Outcome(const CaseReport& report, FailOn fail_on) {
  switch (ExitCodeOf(report, fail_on)) {
    case kExitOk:
      return "";
    case kExitMissed:
      return "failure";
    default:
      return "error";
  }
}

std::string Testcase(const CaseReport& report, std::string_view outcome) {
  std::string xml =
      fmt::format("    <testcase classname=\"verify_rewrite\" name=\"{}\"", Escaped(report.name));
  if (!report.file.empty()) xml += fmt::format(" file=\"{}\"", Escaped(report.file));
  xml += fmt::format(" time=\"{:.6f}\"", report.seconds);
  if (outcome.empty()) return xml + "/>\n";
  return xml +
         fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n    </testcase>\n",
                     outcome, ToString(report.verdict), Escaped(report.missed),
                     Escaped(CaseBlock(report, false, false)));
}

}  // namespace

std::string RenderJunit(const Report& report, FailOn fail_on) {
  int failures = 0, errors = 0;
  std::string testcases;
  for (const CaseReport& c : report.cases) {
    const std::string_view outcome = Outcome(c, fail_on);
    failures += outcome == "failure" ? 1 : 0;
    errors += outcome == "error" ? 1 : 0;
    testcases += Testcase(c, outcome);
  }
  const std::string counts = fmt::format(
      "name=\"verify_rewrite\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.6f}\"",
      report.cases.size(), failures, errors, report.seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite {0}>\n{1}"
      "  </testsuite>\n</testsuites>\n",
      counts, testcases);
}

}  // namespace hv
