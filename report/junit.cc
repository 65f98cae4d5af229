#include "report/junit.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_case.h"
#include "report/xml.h"

namespace hv {
namespace {

enum class Outcome : uint8_t { kPassed, kFailure, kError, kSkipped };

// A case that does not fail the job, and yet has not been decided, is skipped: it did not pass.
Outcome OutcomeOf(const CaseReport& report, FailOn fail_on) {
  if (report.as_expected) return Outcome::kPassed;
  switch (ExitCodeOf(report, fail_on)) {
    case kExitOk:
      return Outcome::kSkipped;
    case kExitMissed:
      return Outcome::kFailure;
    default:
      return Outcome::kError;
  }
}

// Test runners sort cases by the dots of their class: the path of the file without its suffix, as
// in "scenarios.truths.ring" for scenarios/truths/ring.json.
std::string ClassName(std::string_view file) {
  if (const size_t dot = file.rfind('.');
      dot != 0 && dot != std::string_view::npos && file.find('/', dot) == std::string_view::npos) {
    file = file.substr(0, dot);
  }
  std::string name;
  for (std::string_view part : SplitText(file, '/')) {
    if (part.empty() || part == "." || part == "..") continue;
    if (!name.empty()) name += '.';
    for (char c : part) name += c == '.' ? '_' : c;
  }
  return name.empty() ? "verify_rewrite" : name;
}

std::string Testcase(const CaseReport& report, Outcome outcome) {
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\"",
                                XmlAttribute(ClassName(report.file)), XmlAttribute(report.name));
  if (!report.file.empty()) xml += fmt::format(" file=\"{}\"", XmlAttribute(report.file));
  xml += fmt::format(" time=\"{:.6f}\">\n", report.seconds);
  const std::string text = XmlText(CaseBlock(report, false, false));
  if (outcome == Outcome::kFailure || outcome == Outcome::kError) {
    xml += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                       outcome == Outcome::kFailure ? "failure" : "error", ToString(report.verdict),
                       XmlAttribute(report.missed), text);
  } else {
    if (outcome == Outcome::kSkipped) {
      xml += fmt::format("      <skipped message=\"{}\"/>\n", XmlAttribute(report.reason));
    }
    xml += fmt::format("      <system-out>{}</system-out>\n", text);
  }
  return xml + "    </testcase>\n";
}

}  // namespace

std::string RenderJunit(const Report& report, FailOn fail_on) {
  int64_t counts[4] = {};
  std::string testcases;
  for (const CaseReport& c : report.cases) {
    const Outcome outcome = OutcomeOf(c, fail_on);
    ++counts[static_cast<size_t>(outcome)];
    testcases += Testcase(c, outcome);
  }
  const auto count = [&](Outcome outcome) { return counts[static_cast<size_t>(outcome)]; };
  const std::string totals = fmt::format(
      "name=\"verify_rewrite\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.6f}\"",
      report.cases.size(), count(Outcome::kFailure), count(Outcome::kError), report.seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
      "  <testsuite {0} skipped=\"{1}\">\n{2}  </testsuite>\n</testsuites>\n",
      totals, count(Outcome::kSkipped), testcases);
}

}  // namespace hv
