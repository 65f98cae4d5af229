// Pairs of modules, random but the same for one seed: common steps with one or two laws among them,
// written once in each of their two ways.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/laws.h"

namespace hv {

struct SketchPair {
  Sketch before, after;
  std::vector<std::string> laws;  // names
  std::string type;               // element type of the laws' operands
};

// One law by itself, as draw `seed` makes it; nothing if it does not apply to the mesh or type.
std::optional<SketchPair> PairOfLaw(const Law& law, const Mesh& mesh, const std::string& type,
                                    uint64_t seed);

SketchPair RandomPair(uint64_t seed);

}  // namespace hv
