// Which computation a conditional runs. Source: hlo_ops 5.26.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/value.h"
#include "hlo/module.h"

namespace hv {

// The branches in order of selection: true before false, or the list.
std::vector<ComputationIndex> BranchesOf(const Instruction& conditional);

// The branch a concrete selector picks: for pred true is 0; an index out of range is the last one.
size_t SelectedBranch(const Value& selector, size_t branches);

}  // namespace hv
