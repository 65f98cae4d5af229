// What a module costs one device of a machine, from the module alone: no run, no data. Instructions take
// their turns in text order; what an asynchronous collective hides between its start and its done costs
// nothing. Loops count as often as they turn, of a conditional the dearest branch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"
#include "sim/collective_cost.h"
#include "sim/machine.h"
#include "sim/mesh.h"

namespace hv {

// One collective of the module, its groups and turns taken together.
struct CollectiveUse {
  std::string instruction;
  std::string opcode;
  double turns = 1;  // how often it runs
  CollectiveCost cost;

  double seconds() const { return turns * cost.best.seconds; }
};

struct Cost {
  double seconds = 0;             // of one device from start to end
  double compute_seconds = 0;     // of these, computing
  double collective_seconds = 0;  // of all collectives, hidden or not
  double messages = 0;            // sent by the device that sends most
  std::vector<double> bytes_by_level;  // sent over each level of the machine by that device
  std::vector<CollectiveUse> collectives;  // dearest first
  std::vector<std::string> notes;  // loops whose trip count is not known

  int64_t bytes() const;  // over all levels, saturated
};

// Rounded, and INT64_MAX from there on.
int64_t SaturatedBytes(double bytes);

// Costs of several modules on one mesh: groups that they share are looked at once. Errors:
// "machine-too-small" if the machine has fewer devices than the mesh, kTime.
Result<std::vector<Cost>> CostsOf(std::span<const Module* const> modules, const Mesh& mesh,
                                  const Machine& machine);
Result<Cost> CostOf(const Module& module, const Mesh& mesh, const Machine& machine);

// How often a while of `computation` turns: known_trip_count, or a counter from a constant to a constant;
// -1 if that is not known.
int64_t TripCountOf(const Module& module, const Computation& computation,
                    const Instruction& loop);
// Does a counter that grows by a constant reach a constant, wherever it starts? Then the loop ends.
bool CountsToItsEnd(const Module& module, const Instruction& loop);

}  // namespace hv
