#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace hv {
namespace {

// Restores one thread, the state every other test expects.
class Parallel : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetThreadCount(GetParam()); }
  void TearDown() override { SetThreadCount(1); }
};

TEST_P(Parallel, EveryElementOnceAndRangesStartAtGrains) {
  for (const int64_t count : {0, 1, 63, 64, 65, 1000, 12345}) {
    std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
    std::atomic<bool> aligned{true};
    ParallelFor(count, 64, [&](int64_t begin, int64_t end) {
      if (begin % 64 != 0 || (end % 64 != 0 && end != count)) aligned = false;
      for (int64_t k = begin; k < end; ++k) ++visits[static_cast<size_t>(k)];
    });
    EXPECT_TRUE(aligned);
    for (const std::atomic<int>& v : visits) ASSERT_EQ(v.load(), 1);
  }
}

TEST_P(Parallel, ManyRoundsInARow) {
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 2000; ++round) {
    ParallelFor(8, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  }
  EXPECT_EQ(sum.load(), 16000);
}

TEST_P(Parallel, ACallWithinABodyStaysOnItsThread) {
  std::atomic<bool> same{true};
  ParallelFor(64, 1, [&](int64_t, int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    ParallelFor(64, 1, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != outer) same = false;
    });
  });
  EXPECT_TRUE(same);
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, ::testing::Values(1, 2, 3, 8));

TEST(ParallelCores, AtLeastOne) { EXPECT_GE(AllowedCores(), 1); }

}  // namespace
}  // namespace hv
