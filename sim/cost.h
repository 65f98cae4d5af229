// What the collectives of a module cost on a machine, from the module alone: no run, no data. Each
// collective costs the least of the usual algorithms; reduce-scatter never more than the all-reduce of
// the same operand, because a back end may do that and slice.
// Source: the alpha-beta-gamma models of ring, recursive doubling and halving, and pairwise exchange.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"
#include "sim/machine.h"
#include "sim/mesh.h"

namespace hv {

struct CollectiveCost {
  double seconds = 0;
  int64_t bytes = 0;  // sent by the member that sends most
};

// One collective of `opcode` (plain) among `members` devices; `bytes`: the whole operand of a member,
// for all-gather the whole result.
CollectiveCost CostOfCollective(Opcode opcode, int64_t bytes, int64_t members, const Link& link,
                                double reduce_bytes_per_second);

struct Cost {
  double seconds = 0;   // all collectives one after the other
  int64_t bytes = 0;    // sent per device, the dearest group of each collective
  std::vector<std::string> notes;  // loops whose trip count is not known
};

// Walks the module from ENTRY; loops count as often as they turn if that is known (known_trip_count, or
// a counter from a constant to a constant), else once; of a conditional the dearest branch.
Cost CostOf(const Module& module, const Mesh& mesh, const Machine& machine);

// How often a while of `computation` turns; -1 if that is not known.
int64_t TripCountOf(const Module& module, const Computation& computation,
                    const Instruction& loop);

}  // namespace hv
