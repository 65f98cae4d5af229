// Replicas x partitions, and how devices are dealt to ranks. Device id = replica * P + partition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/strong_id.h"

namespace hv {

// Most devices one run simulates.
inline constexpr int64_t kMostDevices = int64_t{1} << 20;

struct Mesh {
  int64_t replicas = 1;
  int64_t partitions = 1;

  int64_t devices() const { return replicas * partitions; }
  DeviceId At(ReplicaId r, PartitionId p) const { return DeviceId(r.value * partitions + p.value); }
  ReplicaId ReplicaOf(DeviceId d) const { return ReplicaId(d.value / partitions); }
  PartitionId PartitionOf(DeviceId d) const { return PartitionId(d.value % partitions); }
  // "r,p", the name of a device in JSON.
  std::string NameOf(DeviceId d) const {
    return std::to_string(ReplicaOf(d).value) + "," + std::to_string(PartitionOf(d).value);
  }
};

// Contiguous blocks of devices over ranks; the first (devices % ranks) ranks hold one more. Ranks
// beyond the device count hold none.
struct Placement {
  int64_t devices = 1;
  int64_t ranks = 1;

  int64_t FirstOf(Rank rank) const {
    const int64_t base = devices / ranks, extra = devices % ranks;
    return rank.value * base + std::min(rank.value, extra);
  }
  int64_t CountOf(Rank rank) const {
    return devices / ranks + (rank.value < devices % ranks ? 1 : 0);
  }
  Rank RankOf(DeviceId d) const {
    const int64_t base = devices / ranks, extra = devices % ranks;
    const int64_t in_larger = extra * (base + 1);
    if (d.value < in_larger) return Rank(d.value / (base + 1));
    return Rank(extra + (d.value - in_larger) / base);
  }
};

}  // namespace hv
