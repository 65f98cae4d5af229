#include "sim/group_network.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

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

// The axes along which a group has more than one place; nothing if it is no box.
std::optional<std::vector<size_t>> GroupNetwork::SpannedBy(
    const std::vector<int64_t>& group) const {
  std::vector<size_t> spanned;
  int64_t box = 1;
  std::vector<int64_t> places(group.size());
  for (size_t axis = 0; axis < topology_.machine().axes.size(); ++axis) {
    for (size_t i = 0; i < group.size(); ++i) places[i] = topology_.PlaceOf(group[i], axis);
    std::sort(places.begin(), places.end());
    const auto count = std::unique(places.begin(), places.end()) - places.begin();
    if (count > 1) spanned.push_back(axis);
    box *= count;
    if (box > size_) return std::nullopt;
  }
  if (box != size_ || static_cast<int64_t>(group.size()) != size_) return std::nullopt;
  return spanned;
}

std::vector<GroupNetwork::Lines> GroupNetwork::LinesOfAxes() const {
  std::set<size_t> spanned;
  for (const std::vector<int64_t>& group : groups_) {
    const auto axes = SpannedBy(group);
    if (!axes) return {};
    spanned.insert(axes->begin(), axes->end());
  }
  if (spanned.size() < 2) return {};
  std::vector<Lines> result;
  for (const size_t axis : spanned) {
    Lines& along = result.emplace_back(Lines{axis, {}});
    for (const std::vector<int64_t>& group : groups_) {
      std::vector<std::pair<int64_t, int64_t>> members;  // where the line begins, and the device
      for (const int64_t device : group) members.emplace_back(topology_.FirstOf(device, axis), device);
      std::sort(members.begin(), members.end());
      for (size_t i = 0; i < members.size(); ++i) {
        if (i == 0 || members[i].first != members[i - 1].first) along.groups.emplace_back();
        along.groups.back().push_back(members[i].second);
      }
    }
  }
  return result;
}

}  // namespace hv
