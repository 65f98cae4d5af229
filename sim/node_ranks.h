// The ranks of one node, which see each other's memory, and the circles in which they meet
// (circle.h): the whole node, and during a run the parts that the groups of its collectives join.
// Ranks of a part do not wait for the rest of the node. If a part cannot meet, that comes out when
// the node is at rest: every rank waits in some circle, and none has all it waits for. Nothing ends
// that but a meeting of the whole node, so it is no matter of time, and every rank finds the same.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "sim/circle.h"
#include "sim/loans.h"
#include "sim/node_header.h"
#include "sim/shared_arena.h"
#include "sim/shared_counter.h"
#include "sim/watchdog.h"

namespace hv {

class NodeRanks {
 public:
  // Every rank's text, by position in the node.
  using Gather = std::function<std::vector<std::string>(const std::string& mine)>;

  // Over memfds that the ranks open through /proc; null on all ranks if one of them cannot.
  // `ranks`: of the node, ascending; `mine` is one of them. Collective over them, as `gather` is.
  // A rank can meet others in `circles` circles.
  static std::unique_ptr<NodeRanks> OverMemfds(const std::vector<Rank>& ranks, Rank mine,
                                               const Gather& gather,
                                               size_t circles = kMostCircles);
  // Over cleared segments, in whole pages, that are mapped already, of ranks ascending.
  struct Member {
    Rank rank;
    SharedRange segment;
    pid_t process = 0;  // 0: unknown
  };
  static std::unique_ptr<NodeRanks> Over(std::vector<Member> members, Rank mine, bool spins,
                                         size_t circles);
  // What this takes of each segment; the rest is arena.
  static size_t HeaderBytes(size_t circles);
  // Sets what the ranks look at before they have written it. Segments of zeros need no clearing.
  static void Clear(SharedRange segment, size_t circles);

  int64_t size() const { return static_cast<int64_t>(members_.size()); }
  // Position of this rank in the node; of another, -1 elsewhere.
  int64_t position() const { return own_; }
  int64_t PositionOf(Rank rank) const;
  std::vector<Rank> ranks() const;
  Circle& whole() { return whole_; }

  // A division of the node: by position, which part a rank belongs to.
  using Parts = std::vector<int64_t>;
  // For a run: circle number n + 1 of a rank is its part in division n. All ranks of the node state
  // the same, at most most_divisions(), before any of them meets in a part.
  void Divide(std::vector<Parts> divisions) { divisions_ = std::move(divisions); }
  size_t most_divisions() const { return circles_ - 1; }

  // From a rank that will not meet in parts before the whole node has met: the others shall not go
  // on without it for long.
  void RaiseAlarm();
  bool IsAlarmed() const;

  // A stretch of waiting in a circle, for a round of it to be complete.
  class Rest {
   public:
    Rest(NodeRanks* node, size_t circle, uint64_t round);
    ~Rest();
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;

   private:
    NodeRanks& node_;
  };
  // For a counter of the rank at a position.
  void Await(int64_t position, SharedCounter& counter, uint64_t target);
  // False: the node is at rest, this rank too.
  bool AwaitUnlessAtRest(int64_t position, SharedCounter& counter, uint64_t target);
  RankHeader& HeaderOf(int64_t position) const;

  SharedArena& arena() { return arena_; }
  Loans& loans() { return loans_; }
  // Where bytes lie: a position whose arena holds them, -1 if none does, and the offset.
  struct Place {
    int64_t position = -1;
    size_t offset = 0;
  };
  Place PlaceOf(const std::byte* data) const;
  // The block at an offset of a rank's arena; `bytes` of it will be read.
  const std::byte* At(int64_t position, size_t offset, size_t bytes);

  // Waits are `watchdog`'s to end; it learns whom this rank waits for, and the others what it does.
  void SetWatchdog(Watchdog* watchdog);
  // A stretch of waiting for the rank at `position`, or for ranks of other nodes.
  class Wait {
   public:
    static constexpr int64_t kElsewhere = -1;
    Wait(NodeRanks* node, int64_t position);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    std::atomic<int64_t>& awaits_;
    const Watchdog::Wait wait_;
  };
  void SetIdle(std::function<void()> idle) { waiter_.SetIdle(std::move(idle)); }

 private:
  NodeRanks(std::vector<Member> members, int64_t own, bool spins, size_t circles);
  bool AreTogether(size_t circle, int64_t a, int64_t b) const;
  bool IsComplete(size_t circle, int64_t position, uint64_t round) const;
  bool IsAtRest();
  void WakeSleepers();

  // For the watchdog's thread.
  Watchdog::Awaited DescribeAwaited() const;
  std::string DescribeState(int64_t position, char process_state) const;
  void TellWork();

  std::vector<Member> members_;
  int64_t own_;
  size_t circles_;
  std::vector<Parts> divisions_;
  std::vector<std::set<size_t>> mapped_;  // blocks of each whose pages this process has mapped
  SharedArena arena_;
  Loans loans_;
  Waiter waiter_;
  Watchdog* watchdog_ = nullptr;
  std::vector<uint64_t> seen_;  // where the ranks rest
  // What it awaits, for the watchdog.
  std::atomic<const SharedCounter*> awaited_{nullptr};
  std::atomic<uint64_t> awaited_target_{0};
  Circle whole_;
};

}  // namespace hv
