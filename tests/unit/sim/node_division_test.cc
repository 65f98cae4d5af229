#include "sim/node_division.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace hv {
namespace {

using ::testing::ElementsAre;

Grouping Groups(int64_t devices, const std::vector<std::vector<int64_t>>& groups) {
  Grouping grouping;
  grouping.group_of.assign(static_cast<size_t>(devices), -1);
  for (size_t g = 0; g < groups.size(); ++g) {
    grouping.groups.emplace_back();
    for (int64_t d : groups[g]) {
      grouping.groups.back().push_back(DeviceId(d));
      grouping.group_of[static_cast<size_t>(d)] = static_cast<int32_t>(g);
    }
  }
  return grouping;
}

std::vector<Rank> Ranks(int64_t begin, int64_t end) {
  std::vector<Rank> ranks;
  for (int64_t r = begin; r < end; ++r) ranks.push_back(Rank(r));
  return ranks;
}

TEST(DivideByGroups, JoinsRanksWhoseDevicesMeet) {
  const Grouping pairs = Groups(8, {{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  const std::vector<int64_t> parts = DivideByGroups(pairs, {8, 8}, Ranks(0, 8));
  for (size_t r = 0; r < 8; r += 2) EXPECT_EQ(parts[r], parts[r + 1]);
  EXPECT_EQ(std::set<int64_t>(parts.begin(), parts.end()).size(), 4u);
  EXPECT_EQ(std::count(parts.begin(), parts.end(), -1), 0);
}

TEST(DivideByGroups, TellsRanksThatMeetNobody) {
  const Grouping pairs = Groups(8, {{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  const std::vector<int64_t> parts = DivideByGroups(pairs, {8, 4}, Ranks(0, 4));
  EXPECT_EQ(std::set<int64_t>(parts.begin(), parts.end()).size(), 4u);
}

TEST(DivideByGroups, FollowsChainsOfGroups) {
  const Grouping strided = Groups(6, {{0, 3}, {1, 4}, {2, 5}});
  // All of them are joined.
  EXPECT_THAT(DivideByGroups(strided, {6, 3}, Ranks(0, 3)), ElementsAre(-1, -1, -1));
}

TEST(DivideByGroups, KeepsToTheNode) {
  const Grouping pairs = Groups(6, {{0, 1}, {2, 3}, {4, 5}});
  const std::vector<int64_t> parts = DivideByGroups(pairs, {6, 6}, Ranks(0, 3));
  EXPECT_GE(parts[0], 0);
  EXPECT_EQ(parts[0], parts[1]);
  EXPECT_EQ(parts[2], -1);
  const Grouping halves = Groups(6, {{0, 1, 2}, {3, 4, 5}});
  EXPECT_EQ(std::count(parts.begin(), parts.end(), -1), 1);
  const std::vector<int64_t> node = DivideByGroups(halves, {6, 6}, Ranks(0, 3));
  EXPECT_THAT(node, ElementsAre(node[0], node[0], node[0]));
  EXPECT_GE(node[0], 0);
}

TEST(DivideByGroups, LeavesOutWhereADeviceTakesNoPart) {
  const Grouping some = Groups(6, {{0, 1}, {2, 3}});
  const std::vector<int64_t> parts = DivideByGroups(some, {6, 4}, Ranks(0, 4));  // 2, 2, 1, 1
  EXPECT_EQ(parts[2], -1);
  EXPECT_EQ(parts[3], -1);
  EXPECT_GE(parts[0], 0);
  const Grouping lone = Groups(4, {{0, 2}});
  EXPECT_THAT(DivideByGroups(lone, {4, 2}, Ranks(0, 2)), ElementsAre(-1, -1));
}

TEST(DivideByGroups, LeavesOutRanksWithoutDevices) {
  const Grouping pairs = Groups(2, {{0}, {1}});
  const std::vector<int64_t> parts = DivideByGroups(pairs, {2, 3}, Ranks(0, 3));
  EXPECT_EQ(parts[2], -1);
  EXPECT_GE(parts[0], 0);
}

}  // namespace
}  // namespace hv
