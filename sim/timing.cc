#include "sim/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace hv {

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double SlowestOf(double seconds, Transport* transport) {
  double slowest = 0;
  for (const std::string& text : transport->AllGather(fmt::format("{:.17g}", seconds))) {
    slowest = std::max(slowest, std::stod(text));
  }
  return slowest;
}

}  // namespace hv
