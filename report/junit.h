// A report as JUnit XML, in the subset that GitLab and Jenkins agree on: one suite, one testcase
// per case, its class made of the file's path; <failure> where an expectation was missed, <error>
// where the input is wrong or nothing can be told, <skipped> where that does not fail the job. The
// text of a case's block is the body, or <system-out> of a case that did not fail.
#pragma once

#include <string>

#include "verify/report_model.h"

namespace hv {

std::string RenderJunit(const Report& report, FailOn fail_on);

}  // namespace hv
