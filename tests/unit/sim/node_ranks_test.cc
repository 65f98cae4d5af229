// Ranks of one node as threads of this process: memory is found through /proc all the same.
#include "sim/node_ranks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

namespace hv {
namespace {

using ::testing::Each;

// Runs `body` as each of `count` ranks, numbered 10, 11, ...
template <class Body>
void RunRanks(int64_t count, Body body) {
  std::vector<Rank> ranks;
  for (int64_t r = 0; r < count; ++r) ranks.push_back(Rank(10 + r));
  std::vector<std::string> said(static_cast<size_t>(count));
  std::barrier meeting(count);
  std::vector<std::thread> threads;
  for (int64_t r = 0; r < count; ++r) {
    threads.emplace_back([&, r] {
      const auto node = NodeRanks::OverMemfds(ranks, Rank(10 + r), [&](const std::string& mine) {
        said[static_cast<size_t>(r)] = mine;
        meeting.arrive_and_wait();
        std::vector<std::string> all = said;
        meeting.arrive_and_wait();
        return all;
      });
      ASSERT_NE(node, nullptr);
      body(*node, r);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::string TextOf(int64_t rank, int64_t step) {
  return std::string(static_cast<size_t>(rank * 40'000 + step % 3), static_cast<char>('a' + rank));
}

TEST(NodeRanks, KnowTheirPlaces) {
  RunRanks(3, [](NodeRanks& node, int64_t rank) {
    EXPECT_EQ(node.size(), 3);
    EXPECT_EQ(node.position(), rank);
    EXPECT_EQ(node.PositionOf(Rank(10 + rank)), rank);
    EXPECT_EQ(node.PositionOf(Rank(9)), -1);
    EXPECT_EQ(node.PositionOf(Rank(13)), -1);
  });
}

TEST(NodeRanks, CompareSignatures) {
  RunRanks(4, [](NodeRanks& node, int64_t rank) {
    for (uint64_t step = 0; step < 2000; ++step) {
      const bool differs = step % 7 == 3 && rank == 2;
      node.whole().Enter(differs ? 0 : step + 1);
      if (rank != 2) {
        EXPECT_EQ(node.whole().AllEntered(step + 1), step % 7 != 3);
      }
      EXPECT_EQ(node.whole().SignatureOfFirst(), step + 1);
    }
  });
}

TEST(NodeRanks, TellEachOtherTextsOfAnyLength) {
  RunRanks(3, [](NodeRanks& node, int64_t rank) {
    for (int64_t step = 0; step < 50; ++step) {
      const std::vector<std::string> all = node.whole().GatherTexts(TextOf(rank, step));
      for (int64_t r = 0; r < 3; ++r) ASSERT_EQ(all[static_cast<size_t>(r)], TextOf(r, step));
    }
  });
}

// What one rank leaves can be read until all have entered the round after the next.
TEST(NodeRanks, ReadWhatOthersLeft) {
  RunRanks(3, [](NodeRanks& node, int64_t rank) {
    for (int64_t step = 0; step < 2000; ++step) {
      const int64_t value = rank * 10'000 + step;
      std::byte* room = node.whole().Scratch(sizeof value);
      ASSERT_NE(room, nullptr);
      std::memcpy(room, &value, sizeof value);
      const size_t offset = node.arena().OffsetOf(room);
      node.whole().Post(std::as_bytes(std::span(&offset, 1)));
      node.whole().Enter(0);
      for (int64_t r = 0; r < 3; ++r) {
        size_t place = 0;
        ASSERT_EQ(node.whole().BulletinOf(r).size(), sizeof place);
        std::memcpy(&place, node.whole().BulletinOf(r).data(), sizeof place);
        int64_t seen = 0;
        std::memcpy(&seen, node.At(r, place, sizeof seen), sizeof seen);
        ASSERT_EQ(seen, r * 10'000 + step);
      }
    }
  });
}

TEST(NodeRanks, WaitForAStageOfOneRank) {
  RunRanks(3, [](NodeRanks& node, int64_t rank) {
    std::byte* block = node.arena().Allocate(sizeof(int64_t));
    const size_t offset = node.arena().OffsetOf(block);
    for (int64_t step = 0; step < 500; ++step) {
      node.whole().Post(std::as_bytes(std::span(&offset, 1)));
      node.whole().Enter(0);
      std::memcpy(block, &step, sizeof step);
      node.whole().Reach(Circle::kReduced);
      const int64_t next = (rank + 1) % 3;
      node.whole().Await(Circle::kReduced, next);
      size_t place = 0;
      int64_t seen = -1;
      std::memcpy(&place, node.whole().BulletinOf(next).data(), sizeof place);
      std::memcpy(&seen, node.At(next, place, sizeof seen), sizeof seen);
      ASSERT_EQ(seen, step);
      node.whole().Reach(Circle::kRead);
      for (int64_t r = 0; r < 3; ++r) node.whole().Await(Circle::kRead, r);
    }
  });
}

TEST(NodeRanks, SleepForOneThatIsLate) {
  RunRanks(2, [](NodeRanks& node, int64_t rank) {
    for (int step = 0; step < 5; ++step) {
      if (rank == step % 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      node.whole().Enter(1);
    }
  });
}

TEST(NodeRanks, MeetInPartsWhileOthersWait) {
  RunRanks(4, [](NodeRanks& node, int64_t rank) {
    node.Divide({{0, 0, 1, 1}, {-1, 0, 0, -1}});
    node.whole().Enter(0);
    Circle part(&node, 1, rank < 2 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{2, 3});
    part.Restart();
    for (uint64_t step = 0; rank >= 2 && step < 1000; ++step) {
      ASSERT_TRUE(part.TryEnter(step + static_cast<uint64_t>(rank) * (step % 5 == 0 ? 1 : 0)));
      EXPECT_EQ(part.AllEntered(step), step % 5 != 0);
    }
    node.whole().Enter(0);
    if (rank == 0 || rank == 3) return node.whole().Enter(0);
    Circle middle(&node, 2, {1, 2});
    middle.Restart();
    EXPECT_TRUE(middle.TryEnter(1));
    node.whole().Enter(0);
  });
}

// In every step some ranks stay away from their parts, now and then only after a while.
TEST(NodeRanks, FindThatAPartCannotMeet) {
  RunRanks(5, [](NodeRanks& node, int64_t rank) {
    const NodeRanks::Parts parts = {7, 8, 7, 8, 7};
    node.Divide({parts});
    node.whole().Enter(0);
    Circle part(&node, 1, rank % 2 == 0 ? std::vector<int64_t>{0, 2, 4}
                                        : std::vector<int64_t>{1, 3});
    std::mt19937 random(1);  // the same for all
    for (int step = 0; step < 300; ++step) {
      part.Restart();
      const uint32_t away = random() % 32, late = random() % 8;
      const auto stays_away = [away](int64_t r) { return (away >> r & 1) != 0; };
      const bool meets = std::none_of(part.positions().begin(), part.positions().end(), stays_away);
      if (late == static_cast<uint32_t>(rank)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + step % 7));
      }
      if (!stays_away(rank)) {
        ASSERT_EQ(part.TryEnter(1), meets) << step;
        if (meets) {
          ASSERT_TRUE(part.TryEnter(2)) << step;
        }
      }
      node.whole().Enter(0);
    }
  });
}

TEST(NodeRanks, HearAnAlarmUntilAllHaveMet) {
  RunRanks(2, [](NodeRanks& node, int64_t rank) {
    node.whole().Enter(0);
    EXPECT_FALSE(node.IsAlarmed());
    node.whole().Enter(0);
    if (rank == 1) node.RaiseAlarm();
    while (!node.IsAlarmed()) std::this_thread::yield();
    node.whole().Enter(0);
    EXPECT_FALSE(node.IsAlarmed());
  });
}

TEST(NodeRanks, HaveScratchForOneRoundAtATime) {
  RunRanks(1, [](NodeRanks& node, int64_t) {
    EXPECT_EQ(node.whole().Scratch(size_t{1} << 40), nullptr);
    std::byte* first = node.whole().Scratch(100);
    std::byte* second = node.whole().Scratch(100);
    EXPECT_GE(second - first, 100);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 64, 0u);
    node.whole().Post({});
    node.whole().Enter(0);
    EXPECT_NE(node.whole().Scratch(100), first);
    node.whole().Post({});
    node.whole().Enter(0);
    EXPECT_EQ(node.whole().Scratch(100), first);
  });
}

class SharedArenaTest : public ::testing::Test {
 protected:
  static constexpr size_t kPage = 4096;
  int descriptor_ = CreateSharedMemory(64 * kPage);
  SharedArena arena_{MapSharedMemory(descriptor_, 64 * kPage), kPage + 1};  // 62 pages left
};

TEST_F(SharedArenaTest, HandsOutZeroedPages) {
  std::byte* block = arena_.Allocate(3 * kPage);
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(arena_.Holds(block));
  EXPECT_EQ(arena_.OffsetOf(block), 2 * kPage);
  EXPECT_THAT(std::vector<std::byte>(block, block + 3 * kPage), Each(std::byte{0}));
}

TEST_F(SharedArenaTest, JoinsWhatComesBack) {
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 62; ++i) blocks.push_back(arena_.Allocate(kPage));
  ASSERT_NE(blocks.back(), nullptr);
  EXPECT_EQ(arena_.Allocate(1), nullptr);
  for (size_t i : {3, 5, 4, 0, 61}) EXPECT_TRUE(arena_.Release(blocks[i], kPage));
  EXPECT_EQ(arena_.Allocate(4 * kPage), nullptr);
  EXPECT_EQ(arena_.Allocate(3 * kPage), blocks[3]);
  EXPECT_EQ(arena_.Allocate(kPage), blocks[0]);
}

TEST_F(SharedArenaTest, KnowsWhatIsNotItsOwn) {
  std::byte elsewhere[8];
  EXPECT_FALSE(arena_.Holds(elsewhere));
  EXPECT_FALSE(arena_.Release(elsewhere, 8));
  EXPECT_EQ(arena_.Allocate(63 * kPage), nullptr);
}

}  // namespace
}  // namespace hv
