// What run_hlo prints: one JSON document, or text for people.
#pragma once

#include <string>
#include <vector>

#include "tools/run_case.h"

namespace hv {

// The document of one run (docs/design.md, "JSON"), without a final newline.
std::string RunJson(const CaseRun& run, bool with_outputs);
// {"cases": [...], "totals": {...}}.
std::string RunsJson(const std::vector<CaseRun>& runs, bool with_outputs);

struct RunTextOptions {
  bool with_outputs = true;
  bool verbose = false;
  bool color = false;
};
std::string RunText(const CaseRun& run, const RunTextOptions& options);
// One line: "agrees  name", "DIFFERS name: why", ...
std::string RunLine(const CaseRun& run, bool color);
// "3 cases: 2 agree, 1 differs".
std::string RunsSummary(const std::vector<CaseRun>& runs);

// The op table, one line per opcode.
std::string ListOps();

}  // namespace hv
