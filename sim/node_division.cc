#include "sim/node_division.h"

#include <algorithm>
#include <numeric>

namespace hv {
namespace {

// Ranks joined so far, each set under one of its members.
class Joined {
 public:
  explicit Joined(int64_t ranks) : up_(static_cast<size_t>(ranks)) {
    std::iota(up_.begin(), up_.end(), 0);
  }
  int64_t Of(int64_t rank) {
    int64_t& up = up_[static_cast<size_t>(rank)];
    if (up != rank) up = Of(up);
    return up;
  }
  void Join(int64_t a, int64_t b) { up_[static_cast<size_t>(Of(a))] = Of(b); }

 private:
  std::vector<int64_t> up_;
};

}  // namespace

std::vector<int64_t> DivideByGroups(const Grouping& grouping, const Placement& placement,
                                    std::span<const Rank> node) {
  Joined joined(placement.ranks);
  for (const std::vector<DeviceId>& group : grouping.groups) {
    for (DeviceId device : group) {
      joined.Join(placement.RankOf(device).value, placement.RankOf(group[0]).value);
    }
  }
  std::vector<bool> is_whole(static_cast<size_t>(placement.ranks), true);
  for (int64_t d = 0; d < placement.devices; ++d) {
    if (grouping.group_of[static_cast<size_t>(d)] >= 0) continue;
    is_whole[static_cast<size_t>(joined.Of(placement.RankOf(DeviceId(d)).value))] = false;
  }
  std::vector<int64_t> here(is_whole.size()), anywhere(is_whole.size());  // members of each set
  for (Rank rank : node) ++here[static_cast<size_t>(joined.Of(rank.value))];
  for (int64_t r = 0; r < placement.ranks; ++r) ++anywhere[static_cast<size_t>(joined.Of(r))];
  std::vector<int64_t> parts;
  for (Rank rank : node) {
    const int64_t set = joined.Of(rank.value);
    const auto s = static_cast<size_t>(set);
    const bool meets = is_whole[s] && here[s] == anywhere[s] && here[s] < placement.ranks &&
                       placement.CountOf(rank) > 0;
    parts.push_back(meets ? set : -1);
  }
  return parts;
}

}  // namespace hv
