// Times of runs: what several rounds on several ranks come to.
#pragma once

#include <vector>

#include "sim/transport.h"

namespace hv {

double MedianOf(std::vector<double> values);  // at least one

// The largest of all ranks' numbers, on every rank. Collective.
double SlowestOf(double seconds, Transport* transport);

}  // namespace hv
