// A part of a mesh: some replicas x some partitions, numbered anew in ascending order; which parts
// stand by themselves, and which are worth a try where a failure is looked for on fewer devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hlo/module.h"
#include "sim/mesh.h"

namespace hv {

struct SubMesh {
  std::vector<int64_t> replicas, partitions;  // ascending

  Mesh mesh() const {
    return {static_cast<int64_t>(replicas.size()), static_cast<int64_t>(partitions.size())};
  }
  int64_t devices() const { return mesh().devices(); }
  // New numbers of what is in it, -1 for what is not.
  int64_t ReplicaHere(int64_t replica) const;
  int64_t PartitionHere(int64_t partition) const;
  int64_t DeviceHere(DeviceId device, const Mesh& whole) const;
  // What its devices are in the whole mesh, in order.
  std::vector<DeviceId> DevicesIn(const Mesh& whole) const;

  friend auto operator<=>(const SubMesh&, const SubMesh&) = default;
};

// Closed: no collective of the modules brings anything in from outside, so that each device
// computes what it does in the whole mesh.
struct SmallerMesh {
  SubMesh part;
  bool closed = false;
};

// Meshes with more devices are not looked at.
inline constexpr int64_t kMostDevicesToCut = 4096;

// The smallest closed part that a device is in.
SubMesh ClosedPartOf(DeviceId device, std::span<const Module* const> modules, const Mesh& mesh);

// Parts worth a try, fewest devices first: what devices depend on (that of `wrong` above all), the
// first members of the groups, the first replicas and partitions.
std::vector<SmallerMesh> SmallerMeshes(std::span<const Module* const> modules, const Mesh& mesh,
                                       DeviceId wrong);

}  // namespace hv
