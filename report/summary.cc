#include "report/summary.h"

#include <fmt/format.h>

#include "report/text_case.h"
#include "report/xml.h"

namespace hv {
namespace {

// Markdown takes HTML, so text that is not meant as markup is escaped as HTML is; in a cell a bar
// or a line break would end it.
std::string Cell(std::string_view text) {
  std::string cell;
  for (char c : XmlText(text)) {
    if (c == '|') {
      cell += "&#124;";
    } else if (std::string_view("*_`[]~\\").find(c) != std::string_view::npos) {
      cell += '\\';
      cell += c;
    } else {
      cell += c == '\n' || c == '\r' ? ' ' : c;
    }
  }
  return cell;
}

std::string Row(const CaseReport& c) {
  std::string cost = c.cost ? fmt::format("x {:.3g}", c.cost->ratio()) : "";
  std::string level(ToString(c.level));
  return fmt::format("| {} | {} | {}{}{} | {} | {} |\n", c.as_expected ? "ok" : "**missed**",
                     Cell(c.name), ToString(c.verdict), level.empty() ? "" : ", ", level,
                     Cell(c.as_expected ? c.reason : c.missed), cost);
}

}  // namespace

std::string RenderSummary(const Report& report) {
  std::string text = fmt::format("### verify_rewrite: {} of {} as expected\n\n",
                                 report.totals.as_expected, report.totals.cases);
  if (report.cases.empty()) return text;
  text += "| | case | verdict | why | cost |\n| --- | --- | --- | --- | --- |\n";
  for (const CaseReport& c : report.cases) text += Row(c);
  for (const CaseReport& c : report.cases) {
    if (c.as_expected) continue;
    text += fmt::format("\n<details><summary>{}</summary>\n\n<pre>{}</pre>\n\n</details>\n",
                        XmlText(c.name), XmlText(CaseBlock(c, false, false)));
  }
  return text;
}

}  // namespace hv
