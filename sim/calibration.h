// A machine fitted to times measured on an engine whose devices share one memory: a bus with a latency, a
// rate and a faster rate for what fits a cache, the folding of a reduction, and computing by a roofline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/collective_timing.h"
#include "sim/machine.h"

namespace hv {

// One op of all devices, as measured.
struct Sample {
  TimedOp op;
  int64_t bytes = 0;
  double seconds = 0;
};

// The machine "this-node" whose times come nearest to the samples', by least squares of relative errors.
// There must be collectives and additions among them, of two sizes at least.
Machine FitMachine(const std::vector<Sample>& samples, int64_t devices);

// As a file for --machine; `source` says where the figures are from.
std::string MachineText(const Machine& machine, const std::string& source);

}  // namespace hv
