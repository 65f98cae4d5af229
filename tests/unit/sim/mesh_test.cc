// Devices over ranks, and groupings by device.
#include "sim/mesh.h"

#include <gmock/gmock.h>

#include "sim/grouping.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

TEST(Placement, DealsContiguousBlocks) {
  for (int64_t devices : {1, 2, 7, 8, 64}) {
    for (int64_t ranks : {1, 2, 3, 5, 8, 16}) {
      const Placement placement{devices, ranks};
      int64_t next = 0;
      for (int64_t r = 0; r < ranks; ++r) {
        EXPECT_EQ(placement.FirstOf(Rank(r)), next);
        for (int64_t k = 0; k < placement.CountOf(Rank(r)); ++k) {
          EXPECT_EQ(placement.RankOf(DeviceId(next++)), Rank(r));
        }
      }
      EXPECT_EQ(next, devices);
    }
  }
}

TEST(Grouping, LinksPairsOfAPermute) {
  const Module module = ParseOrDie(R"(HloModule m, replica_count=6
ENTRY main { p = f32[] parameter(0)
  ROOT c = f32[] collective-permute(p), source_target_pairs={{4,1},{1,3},{0,0}} })");
  GroupingTable table({6, 1});
  const auto grouping = table.Of(module.Entry().Root());
  EXPECT_EQ(grouping->groups.size(), 4u);  // {0}, {1,3,4}, {2}, {5}
  EXPECT_EQ(grouping->groups[1], (std::vector{DeviceId(1), DeviceId(3), DeviceId(4)}));
  EXPECT_EQ(grouping->source_of, (std::vector<int64_t>{0, 4, -1, 1, -1, -1}));
  EXPECT_EQ(grouping->target_of, (std::vector<int64_t>{0, 3, -1, -1, 1, -1}));
  EXPECT_EQ(grouping->position_of[4], 2);
  EXPECT_EQ(table.Of(module.Entry().Root()), grouping) << "computed once";
}

}  // namespace
}  // namespace hv
