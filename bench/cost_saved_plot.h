// The grid of bench_cost_saved as one page: a plot of what is saved over the size, one line per machine
// and one as measured, for every number of devices. No scripts, nothing fetched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hv {

struct CostSaved {
  double before = 0, after = 0;  // seconds
  double ratio() const { return before > 0 ? after / before : 1; }
};

struct CostSavedRow {
  int64_t devices = 0, bytes = 0;
  std::vector<std::optional<CostSaved>> modelled;  // by machine; none: too small for the devices
  std::optional<CostSaved> here, measured;         // this engine, modelled and measured
};

std::string CostSavedPage(const std::vector<CostSavedRow>& rows,
                          const std::vector<std::string>& machines);

}  // namespace hv
