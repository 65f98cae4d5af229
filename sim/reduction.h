// The order in which a collective reduces its members' operands. Group order is the default and makes
// all-reduce, reduce-scatter, every placement and every transport agree bit for bit; the others show
// how robust a program is against reassociation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "eval/domain.h"
#include "sim/run.h"

namespace hv {

// Folds `values`, one per member in group order, with the scalar computation `reducer`. `salt` names
// the collective: a random order is the same on all its members.
Result<Value> FoldMembers(const Module& module, ComputationIndex reducer,
                          std::vector<Value> values, const RunOptions& options, uint64_t salt);

}  // namespace hv
