// What the simulator costs beside its kernels: steps of loops, supersteps, memory.
#pragma once

#include <string>
#include <vector>

namespace hv {

struct StepFigure {
  std::string name;  // with its unit
  double value = 0;
  double bar = 0;    // what it should reach, or stay below
};

// Measures memory first: it looks at the most that this process has held so far.
std::vector<StepFigure> MeasureSteps();

}  // namespace hv
