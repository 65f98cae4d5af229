// Messages on the networks of a machine: which links each one crosses, and how long a step takes in which
// all of them are sent at once. Routes go along one axis after the other, outermost first, on rings the
// shorter way round; a switch leads from any port to any other.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/machine.h"

namespace hv {

struct Message {
  int64_t from = 0, to = 0;  // devices
};

// A step of one message per entry, each of the same size.
struct StepCost {
  double seconds = 0;            // latency of the longest route
  double seconds_of_sender = 0;  // of it, until its sender is free again
  double seconds_per_byte = 0;   // per byte of a message, by the most loaded link
  uint64_t levels = 0;           // bit l: a message crosses level l
};

class Topology {
 public:
  explicit Topology(const Machine& machine);

  const Machine& machine() const { return machine_; }
  // The digit of a device along an axis.
  int64_t PlaceOf(int64_t device, size_t axis) const;
  // The device at place 0 along the axis, elsewhere as this one.
  int64_t FirstOf(int64_t device, size_t axis) const {
    return device - PlaceOf(device, axis) * strides_[axis];
  }
  StepCost CostOf(std::span<const Message> messages) const;

 private:
  class Loads;
  void Route(const Message& message, Loads* loads, StepCost* cost) const;
  int64_t Cross(size_t axis_index, int64_t at, int64_t here, int64_t there, Loads* loads) const;

  const Machine& machine_;
  std::vector<int64_t> strides_;  // by axis: devices between neighbours
};

}  // namespace hv
