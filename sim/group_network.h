// The groups of one collective on the networks of a machine: what a step costs in which every member
// talks to another at a fixed distance, and, where the groups are boxes of axes, the lines along each axis.
// All groups run at once and share links. Members are taken in ascending order of device, as back ends lay
// their rings, whatever the order of the group.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/topology.h"

namespace hv {

// Devices that take part, by group.
using DeviceGroups = std::vector<std::vector<int64_t>>;

class GroupNetwork {
 public:
  GroupNetwork(const Topology& topology, DeviceGroups groups);

  const Topology& topology() const { return topology_; }
  int64_t size() const { return size_; }  // members of the largest group

  const StepCost& Next() const;              // each to the next, the last to the first
  const StepCost& BothNeighbours() const;    // each to the next and to the one before
  const StepCost& Distance(int power) const;  // each to the one 2^power away
  const StepCost& Everyone() const;          // each to all others, one message each

  // The lines along the axes the groups span, innermost first; empty if a group is no box (every place
  // along one axis with every place along the others), or if only one axis is spanned.
  struct Lines {
    size_t axis = 0;
    DeviceGroups groups;
  };
  std::vector<Lines> LinesOfAxes() const;

 private:
  std::optional<std::vector<size_t>> SpannedBy(const std::vector<int64_t>& group) const;
  // All messages from member i of a group of n to member target(i, n).
  template <typename Target>
  void AddMessages(const Target& target, std::vector<Message>* messages) const;

  const Topology& topology_;
  DeviceGroups groups_;
  int64_t size_ = 0;
  mutable std::optional<StepCost> next_, both_, everyone_;
  mutable std::map<int, StepCost> distances_;
};

}  // namespace hv
