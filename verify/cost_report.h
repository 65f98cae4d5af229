// What a case's modules cost on a machine, as reports show it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"

namespace hv {

struct Pair;

struct LevelBytes {
  std::string level;
  int64_t bytes = 0;  // sent over it by the device that sends most
};

// One collective with the algorithm chosen, and the best of those that were not.
struct CollectiveLine {
  std::string instruction;
  std::string opcode;
  double turns = 1;
  double seconds = 0;  // of all turns
  std::string algorithm;
  std::string next_best;  // "" if there was no choice
  double next_best_seconds = 0;
};

struct CostSide {
  double seconds = 0;             // one device, start to end; hidden collectives cost nothing
  double compute_seconds = 0;     // of these, computing
  double collective_seconds = 0;  // of all collectives, hidden or not
  double messages = 0;            // sent per device, the largest over the devices, as bytes
  int64_t bytes = 0;
  std::vector<LevelBytes> levels;
  std::vector<CollectiveLine> collectives;  // dearest first, kMostCollectiveLines at most
};
inline constexpr size_t kMostCollectiveLines = 32;

struct CostReport {
  std::string machine;
  CostSide before, after;

  // A cost out of nothing is infinitely dearer.
  double ratio() const {
    if (before.seconds > 0) return after.seconds / before.seconds;
    return after.seconds > 0 ? std::numeric_limits<double>::infinity() : 1;
  }
};

// Both modules run here: medians, in seconds.
struct MeasuredCost {
  double before = 0, after = 0;
  int64_t rounds = 0;
  bool private_results = false;  // each device had a copy of its own of what collectives yield

  double ratio() const { return before > 0 ? after / before : 1; }
};

// Errors: those of LoadMachine and CostOf. Loops of the module after whose trip count is not known go to
// `notes`.
Result<CostReport> CompareCosts(const Pair& pair, const std::string& machine,
                                std::vector<std::string>* notes);

}  // namespace hv
