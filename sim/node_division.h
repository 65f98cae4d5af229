// Which ranks of a node the groups of a collective join: they can meet by themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/grouping.h"
#include "sim/mesh.h"

namespace hv {

// By position in `node`: the number of the part a rank belongs to; -1: it cannot meet by itself,
// since it is all of the ranks, reaches beyond the node, or holds a device that takes no part.
std::vector<int64_t> DivideByGroups(const Grouping& grouping, const Placement& placement,
                                    std::span<const Rank> node);

}  // namespace hv
