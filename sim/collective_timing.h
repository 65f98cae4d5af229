// Collectives timed on this engine, as the model of a machine sees them: the module, how long a run takes
// on all ranks, and what the model says. For calibration and for the cost that a rewrite saves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"
#include "sim/transport.h"

namespace hv {

enum class TimedOp : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kPermute,
  kAllReduceSlice,  // every device keeps its share of the sum
  kAdd,             // no collective: two operands added
};
inline constexpr std::string_view kTimedOpNames[] = {
    "all-reduce",         "reduce-scatter",       "all-gather", "all-to-all",
    "collective-permute", "all-reduce and slice", "add"};

// `repeats` such ops on f32 one after the other, on `devices` partitions in one group. `bytes`: of the
// whole array, operand or result (see GroupCosts); at least 4 for each device.
Module TimedModule(TimedOp op, int64_t devices, int64_t bytes, int64_t repeats);

// Runs the modules in turns, `rounds` times after a warm-up, and gives each its fastest round in seconds:
// what the engine takes when nothing else runs. A round is as long as its slowest rank. Collective over the ranks. Every device holds its own copy of results.
Result<std::vector<double>> TimeInTurns(const std::vector<const Module*>& modules, int64_t devices,
                                        int rounds, Transport* transport);

}  // namespace hv
