// A report as JUnit XML, in the subset that GitLab and Jenkins agree on: one suite, one testcase
// per case; <failure> where an expectation was missed, <error> where the input is wrong or nothing
// can be told. The text of a case's block is the body.
#pragma once

#include <string>

#include "verify/report_model.h"

namespace hv {

std::string RenderJunit(const Report& report, FailOn fail_on);

}  // namespace hv
