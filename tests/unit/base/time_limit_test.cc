#include "base/time_limit.h"

#include <gtest/gtest.h>

#include <thread>

namespace hv {
namespace {

TEST(TimeLimit, NestsAndTheNearestEndCounts) {
  EXPECT_FALSE(TimeLimit::IsOver());
  {
    const TimeLimit over(1e-9);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(TimeLimit::IsOver());
    const TimeLimit longer(1000), unlimited(0);
    EXPECT_TRUE(TimeLimit::IsOver());
  }
  EXPECT_FALSE(TimeLimit::IsOver());
  const TimeLimit none(0), beyond_the_clock(1e300);
  EXPECT_FALSE(TimeLimit::IsOver());
}

}  // namespace
}  // namespace hv
