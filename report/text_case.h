// One case in text: a single line, or a block that says what was found, why, and how to see it
// again.
#pragma once

#include <string>

#include "verify/report_model.h"

namespace hv {

std::string CaseLine(const CaseReport& report, bool color);
std::string CaseBlock(const CaseReport& report, bool verbose, bool color);

}  // namespace hv
