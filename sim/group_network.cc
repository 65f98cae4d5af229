#include "sim/group_network.h"

#include <algorithm>
#include <bit>
#include <set>

namespace hv {
namespace {

constexpr int64_t kMostMessages = 1 << 18;  // of an exchange of all with all; beyond, a sample

bool IsPowerOfTwo(int64_t n) { return std::has_single_bit(static_cast<uint64_t>(n)); }

}  // namespace

GroupNetwork::GroupNetwork(const Topology& topology, DeviceGroups groups)
    : topology_(topology), groups_(std::move(groups)) {
  for (std::vector<int64_t>& group : groups_) {
    std::sort(group.begin(), group.end());
    size_ = std::max(size_, static_cast<int64_t>(group.size()));
  }
}

template <typename Target>
void GroupNetwork::AddMessages(const Target& target, std::vector<Message>* messages) const {
  for (const std::vector<int64_t>& group : groups_) {
    const int64_t n = static_cast<int64_t>(group.size());
    for (int64_t i = 0; i < n && n > 1; ++i) {
      const int64_t j = target(i, n);
      if (j == i) continue;
      messages->push_back({group[static_cast<size_t>(i)], group[static_cast<size_t>(j)]});
    }
  }
}

const StepCost& GroupNetwork::Next() const {
  if (next_) return *next_;
  std::vector<Message> messages;
  AddMessages([](int64_t i, int64_t n) { return (i + 1) % n; }, &messages);
  return next_.emplace(topology_.CostOf(messages));
}

const StepCost& GroupNetwork::BothNeighbours() const {
  if (both_) return *both_;
  std::vector<Message> messages;
  AddMessages([](int64_t i, int64_t n) { return (i + 1) % n; }, &messages);
  AddMessages([](int64_t i, int64_t n) { return (i + n - 1) % n; }, &messages);
  return both_.emplace(topology_.CostOf(messages));
}

const StepCost& GroupNetwork::Distance(int power) const {
  const auto [at, is_new] = distances_.try_emplace(power);
  if (!is_new) return at->second;
  const int64_t distance = int64_t{1} << power;
  std::vector<Message> messages;
  AddMessages(
      [distance](int64_t i, int64_t n) {
        return IsPowerOfTwo(n) && distance < n ? i ^ distance : (i + distance) % n;
      },
      &messages);
  return at->second = topology_.CostOf(messages);
}

const StepCost& GroupNetwork::Everyone() const {
  if (everyone_) return *everyone_;
  int64_t members = 0;
  for (const std::vector<int64_t>& group : groups_) members += static_cast<int64_t>(group.size());
  const int64_t shifts = size_ - 1;
  const int64_t taken = std::clamp<int64_t>(kMostMessages / std::max<int64_t>(members, 1), 1,
                                            std::max<int64_t>(shifts, 1));
  std::vector<Message> messages;
  for (int64_t k = 0; k < std::min(taken, shifts); ++k) {
    const int64_t shift = 1 + k * shifts / taken;
    AddMessages([shift](int64_t i, int64_t n) { return (i + shift) % n; }, &messages);
  }
  StepCost cost = topology_.CostOf(messages);
  if (taken < shifts) {
    cost.seconds_per_byte *= static_cast<double>(shifts) / static_cast<double>(taken);
  }
  return everyone_.emplace(cost);
}

std::vector<GroupNetwork::Lines> GroupNetwork::LinesOfAxes() const {
  const size_t axes = topology_.machine().axes.size();
  std::vector<std::map<std::vector<int64_t>, std::vector<int64_t>>> lines(axes);
  std::set<size_t> spanned;
  for (const std::vector<int64_t>& group : groups_) {
    if (static_cast<int64_t>(group.size()) != size_) return {};
    int64_t box = 1;
    for (size_t axis = 0; axis < axes; ++axis) {
      std::set<int64_t> places;
      for (int64_t device : group) places.insert(topology_.PlaceOf(device, axis));
      box *= static_cast<int64_t>(places.size());
      if (box > size_) return {};
      if (places.size() > 1) spanned.insert(axis);
    }
    if (box != size_) return {};
    for (int64_t device : group) {
      std::vector<int64_t> place(axes);
      for (size_t axis = 0; axis < axes; ++axis) place[axis] = topology_.PlaceOf(device, axis);
      for (size_t axis : spanned) {
        std::vector<int64_t> line = place;
        line[axis] = -1;
        line.push_back(group.front());  // lines of other groups stay apart
        lines[axis][line].push_back(device);
      }
    }
  }
  if (spanned.size() < 2) return {};
  std::vector<Lines> result;
  for (size_t axis : spanned) {
    Lines& along = result.emplace_back(Lines{axis, {}});
    for (auto& [key, devices] : lines[axis]) along.groups.push_back(std::move(devices));
  }
  return result;
}

}  // namespace hv
