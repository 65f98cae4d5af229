// Findings in words and numbers for the report: counterexamples, inputs, stalls.
#pragma once

#include "verify/counterexample.h"
#include "verify/pair.h"
#include "verify/report_model.h"

namespace hv {

Counterexample DescribeCounterexample(const Pair& pair, const InputSpace& space,
                                      const Refutation& refutation);

// "device 0,5 misses x[2] of device 0,3", of all summands that are wrong in one element of
// `reader`; empty if there are none, or if a single contribution is all there is to say.
std::string ExplainSummands(const InputSpace& space, DeviceId reader,
                            const std::vector<WrongSummand>& wrong);

void DescribeStall(const Mesh& mesh, const Stall& stall, CaseReport* report);

}  // namespace hv
