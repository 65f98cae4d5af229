// What a module claims about its inputs: parameters that hold the same on several devices, by
// parameter_replication (across replicas) and sharding (across partitions). Nothing is assumed
// until the modules turn out different without; then the claims are tried and printed as
// assumptions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/module.h"
#include "sim/mesh.h"

namespace hv {

struct Claim {
  int64_t parameter = 0;
  std::vector<int64_t> group_of_device;  // equal numbers: equal values
  std::string text;                      // "parameter 0 (x) is the same on all partitions"
};

// Claims that make some devices share values; parameters that are tuples make none.
std::vector<Claim> ClaimsOf(const Module& module, const Mesh& mesh);

// Which tile of a sharded array each of `partitions` devices holds; equal numbers for equal tiles.
// Empty if the text makes no statement about that many devices.
std::vector<int64_t> TileOfPartition(std::string_view sharding, int64_t partitions);

}  // namespace hv
