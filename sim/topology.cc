#include "sim/topology.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace hv {

// How many messages cross each link, named by 64 bits.
class Topology::Loads {
 public:
  void Add(size_t axis, int64_t height, bool forward, int64_t where, double seconds_per_byte) {
    const uint64_t link = static_cast<uint64_t>(axis) << 56 | static_cast<uint64_t>(height) << 49 |
                          static_cast<uint64_t>(forward) << 48 | static_cast<uint64_t>(where);
    crossed_.push_back({link, seconds_per_byte});
  }
  // Seconds per byte of the most loaded link.
  double Most() {
    std::sort(crossed_.begin(), crossed_.end());
    double most = 0;
    for (size_t i = 0, first = 0; i < crossed_.size(); ++i) {
      if (crossed_[i].link != crossed_[first].link) first = i;
      most = std::max(most, static_cast<double>(i - first + 1) * crossed_[i].seconds_per_byte);
    }
    return most;
  }

 private:
  struct Crossed {
    uint64_t link;
    double seconds_per_byte;  // the same for each of its messages
    friend bool operator<(const Crossed& a, const Crossed& b) { return a.link < b.link; }
  };
  std::vector<Crossed> crossed_;  // one entry for each message and link
};

Topology::Topology(const Machine& machine) : machine_(machine) {
  int64_t stride = 1;
  for (const Axis& axis : machine.axes) {
    strides_.push_back(stride);
    stride *= std::max<int64_t>(axis.size, 1);
  }
}

int64_t Topology::PlaceOf(int64_t device, size_t axis) const {
  const int64_t place = device / strides_[axis];
  const int64_t size = machine_.axes[axis].size;
  return size > 0 ? place % size : place;
}

// The hops of one message along one axis, from place `here` of device `at` to place `there`.
int64_t Topology::Cross(size_t axis_index, int64_t at, int64_t here, int64_t there,
                        Loads* loads) const {
  const Axis& axis = machine_.axes[axis_index];
  const NetworkLevel& level = machine_.levels[static_cast<size_t>(axis.level)];
  const int64_t stride = strides_[axis_index];
  const double per_byte = 1 / level.bytes_per_second;
  const auto add = [&](int64_t height, bool forward, int64_t where) {
    loads->Add(axis_index, height, forward, where, per_byte);
  };
  if (axis.wiring == Wiring::kBus) {
    add(0, true, axis.size > 0 ? at / (stride * axis.size) : 0);
    return 1;
  }
  if (axis.wiring == Wiring::kSwitch) {
    const int64_t devices = level.shared_port ? stride : 1;  // behind one port
    add(0, true, at / devices);
    add(0, false, (at + (there - here) * stride) / devices);
    return 1;
  }
  if (axis.wiring == Wiring::kTree) {
    const int64_t top = std::bit_width(static_cast<uint64_t>(here ^ there));
    const int64_t origin = at - here * stride;  // tells trees side by side apart
    for (int64_t height = 0; height < top; ++height) {
      add(height, true, origin + (here >> height) * stride);
      add(height, false, origin + (there >> height) * stride);
    }
    return 2 * top;
  }
  const bool closed = axis.wiring == Wiring::kRing && axis.size > 2;
  const int64_t ahead = (there - here + axis.size) % axis.size;
  const bool forward = closed ? 2 * ahead <= axis.size : there > here;
  const int64_t hops = closed ? std::min(ahead, axis.size - ahead) : std::abs(there - here);
  for (int64_t hop = 0, place = here; hop < hops; ++hop) {
    add(0, forward, at + (place - here) * stride);
    place = (place + (forward ? 1 : axis.size - 1)) % axis.size;
  }
  return hops;
}

void Topology::Route(const Message& message, Loads* loads, StepCost* cost) const {
  double seconds = 0, sender = 0;
  int64_t at = message.from;
  for (size_t a = machine_.axes.size(); a-- > 0;) {
    const Axis& axis = machine_.axes[a];
    const NetworkLevel& level = machine_.levels[static_cast<size_t>(axis.level)];
    const int64_t here = PlaceOf(at, a), there = PlaceOf(message.to, a);
    if (here == there) continue;
    const int64_t hops = Cross(a, at, here, there, loads);
    at = HasAnyPort(axis.wiring) ? message.to : at + (there - here) * strides_[a];
    seconds += static_cast<double>(hops) * level.seconds_per_message;
    sender = std::max(sender, level.seconds_of_sender);
    cost->levels |= uint64_t{1} << axis.level;
  }
  cost->seconds = std::max(cost->seconds, seconds);
  cost->seconds_of_sender = std::max(cost->seconds_of_sender, sender);
}

StepCost Topology::CostOf(std::span<const Message> messages) const {
  StepCost cost;
  Loads loads;
  for (const Message& message : messages) Route(message, &loads, &cost);
  cost.seconds_per_byte = loads.Most();
  return cost;
}

}  // namespace hv
