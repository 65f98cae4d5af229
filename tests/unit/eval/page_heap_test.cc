#include "eval/page_heap.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace hv {
namespace {

constexpr size_t kPage = size_t{1} << 12, kHugePage = size_t{1} << 21;

TEST(PageHeap, CutsPagesOneAfterTheOther) {
  PageHeap heap;
  std::byte* const first = heap.Allocate(4 * kHugePage);
  if (first == nullptr) GTEST_SKIP() << "no memory to be had";
  std::byte* const second = heap.Allocate(kPage + 1);  // before the first: it needs few pages
  std::byte* const third = heap.Allocate(kHugePage);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % kPage, 0);
  EXPECT_LT(second + kPage, first);
  EXPECT_EQ(third, first + 4 * kHugePage);
  first[4 * kHugePage - 1] = second[kPage] = third[0] = std::byte{1};
  EXPECT_TRUE(heap.Release(first, 4 * kHugePage));
  EXPECT_EQ(heap.Allocate(4 * kHugePage), first);
}

// Others are left alone.
TEST(PageHeap, GivesBackPagesThatHoldNothing) {
  PageHeap heap;
  std::byte* const left = heap.Allocate(2 * kHugePage + kPage);
  if (left == nullptr) GTEST_SKIP() << "no memory to be had";
  std::byte* const right = heap.Allocate(2 * kHugePage);
  left[0] = left[2 * kHugePage] = right[0] = right[kHugePage] = std::byte{7};
  EXPECT_TRUE(heap.Release(right, 2 * kHugePage));
  EXPECT_EQ(left[2 * kHugePage], std::byte{7});
  EXPECT_EQ(heap.Allocate(2 * kHugePage), right);
  EXPECT_EQ(right[kHugePage], std::byte{0});
}

TEST(PageHeap, KnowsWhatIsNotItsOwn) {
  PageHeap heap;
  std::byte elsewhere[8];
  EXPECT_FALSE(heap.Release(elsewhere, sizeof(elsewhere)));
}

TEST(WorkingMemory, StaysAndGrows) {
  WorkingMemory memory;
  std::byte* const small = memory.AtLeast(100);
  EXPECT_EQ(memory.AtLeast(50), small);
  std::byte* const large = memory.AtLeast(3 * kHugePage);
  large[3 * kHugePage - 1] = std::byte{1};
  EXPECT_EQ(memory.AtLeast(kHugePage), large);
}

}  // namespace
}  // namespace hv
