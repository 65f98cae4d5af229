// Collectives timed on this engine, as the model of a machine sees them: the module, how long a run takes
// on all ranks, and what the model says. For calibration and for the cost that a rewrite saves.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"
#include "sim/machine.h"
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
  kNothing,         // the loop alone
};
inline constexpr std::string_view kTimedOpNames[] = {
    "all-reduce",         "reduce-scatter",       "all-gather", "all-to-all",
    "collective-permute", "all-reduce and slice", "add", "nothing"};

// A loop of `repeats` such ops on f32, on `devices` partitions in one group. `bytes`: of the
// whole array, operand or result (see GroupCosts); at least 4 for each device.
Module TimedModule(TimedOp op, int64_t devices, int64_t bytes, int64_t repeats);

// Seconds of one op without the loop around it, by the model of a machine.
Result<double> ModelledSeconds(TimedOp op, int64_t devices, int64_t bytes, const Machine& machine);

// Seconds of one op of each kind on this engine, without the loop around it: the loops run in turns,
// `rounds` times after a warm-up, and the fastest round counts, which is what the engine takes when
// nothing else runs. A round is as long as its slowest rank. Every device holds its own copy of results.
// Collective over the ranks.
Result<std::vector<double>> MeasuredSeconds(std::span<const TimedOp> ops, int64_t devices,
                                            int64_t bytes, int rounds, Transport* transport);

}  // namespace hv
