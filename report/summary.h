// A report as GitHub markdown, for the summary of a CI job: the totals, a table of all cases, and a
// folded block for each that missed its expectation.
#pragma once

#include <string>

#include "verify/report_model.h"

namespace hv {

std::string RenderSummary(const Report& report);

}  // namespace hv
