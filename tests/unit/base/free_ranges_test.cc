#include "base/free_ranges.h"

#include <gtest/gtest.h>

namespace hv {
namespace {

TEST(FreeRanges, TakesWhatFitsFirst) {
  FreeRanges free;
  free.Give(100, 110);
  free.Give(200, 300);
  EXPECT_EQ(free.Take(20), 200);
  EXPECT_EQ(free.Take(10), 100);
  EXPECT_EQ(free.Take(1), 220);
  EXPECT_EQ(free.Take(80), std::nullopt);
}

TEST(FreeRanges, JoinsNeighbours) {
  FreeRanges free;
  free.Give(10, 20);
  const FreeRanges::Range apart = free.Give(30, 40);
  EXPECT_EQ(apart.begin, 30);
  const FreeRanges::Range joined = free.Give(20, 30);
  EXPECT_EQ(joined.begin, 10);
  EXPECT_EQ(joined.end, 40);
  const FreeRanges::Range before = free.Give(0, 10);
  EXPECT_EQ(before.begin, 0);
  EXPECT_EQ(before.end, 40);
  EXPECT_EQ(free.Take(40), 0);
}

}  // namespace
}  // namespace hv
