// Times the contestants of bench_collectives on all ranks of a job.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/transport.h"

namespace hv {

struct ContestRow {
  int64_t bytes = 0;                                    // of the full array
  std::vector<std::pair<std::string, double>> seconds;  // by contestant, the same on all ranks

  double Of(const std::string& contestant) const {  // 0: did not take part
    for (const auto& [name, value] : seconds) {
      if (name == contestant) return value;
    }
    return 0;
  }
};

// Collective over all ranks, which share memory.
ContestRow RaceBarriers(Transport* transport, int repeats);
ContestRow RaceCollectives(Transport* transport, int64_t bytes, int repeats);

}  // namespace hv
