// Integers that must not be mixed: a replica number is not a partition number, a device is not a
// rank. Mixing them is the very bug this project looks for in others.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace hv {

template <class Tag>
struct StrongId {
  int64_t value = 0;
  constexpr StrongId() = default;
  constexpr explicit StrongId(int64_t v) : value(v) {}
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

using ReplicaId = StrongId<struct ReplicaTag>;      // 0 .. replica_count-1
using PartitionId = StrongId<struct PartitionTag>;  // 0 .. num_partitions-1
using DeviceId = StrongId<struct DeviceTag>;        // flattened id: replica * P + partition
using Rank = StrongId<struct RankTag>;              // a process

}  // namespace hv

template <class Tag>
struct std::hash<hv::StrongId<Tag>> {
  size_t operator()(hv::StrongId<Tag> id) const noexcept { return std::hash<int64_t>()(id.value); }
};
