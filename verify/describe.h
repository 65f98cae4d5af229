// Findings in words and numbers for the report: counterexamples, inputs, stalls.
#pragma once

#include "verify/counterexample.h"
#include "verify/pair.h"
#include "verify/report_model.h"

namespace hv {

Counterexample DescribeCounterexample(const Pair& pair, const InputSpace& space,
                                      const Refutation& refutation);

void DescribeStall(const Mesh& mesh, const Stall& stall, CaseReport* report);

}  // namespace hv
