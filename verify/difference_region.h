// The part of two modules that lies between values known to be equal and one value of each: what
// has to be proved, as a stand-alone pair of modules whose parameters are those known values.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "sim/mesh.h"
#include "verify/value_numbering.h"

namespace hv {

struct DifferenceRegion {
  ValueId before = -1, after = -1;        // what is to be equal
  std::vector<ValueId> frontier;          // canonical; parameter i is frontier[i]
  std::array<std::set<size_t>, 2> nodes;  // by side, operands first

  size_t size() const { return nodes[0].size() + nodes[1].size(); }
};

// `layers`: how many values known to be equal may lie on a path inside. Constants and small values
// that follow from device ids are always inside. More than `most` nodes: stops early, size() tells.
DifferenceRegion CollectRegion(const ValueGraph& graph, ValueId before, ValueId after, int layers,
                               size_t most);

// One side of it; shares the context of `module`, which that side was numbered from.
Module RegionModule(const ValueGraph& graph, const DifferenceRegion& region, Side side,
                    const Module& module, const Mesh& mesh);

// Equal texts: the same problem, up to which values the parameters are. Functions that loops run
// count by number.
std::string RegionKey(const ValueGraph& graph, const DifferenceRegion& region);

}  // namespace hv
