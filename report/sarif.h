// A report as SARIF 2.1.0, which code scanning services read: one result per case that missed its
// expectation, at the place in the HLO or scenario where that is known.
#pragma once

#include <string>

#include "verify/report_model.h"

namespace hv {

std::string RenderSarif(const Report& report, FailOn fail_on);

}  // namespace hv
