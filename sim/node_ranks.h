// The ranks of one node, which see each other's memory. They go through rounds together: a rank
// enters a round with a signature and a few bytes, and goes on when all have entered; the flags
// that say so are its barrier, and carry the signature for nothing. Between two rounds ranks read
// each other's arenas in place.
//
// What a rank leaves for others in a round (signature, bytes, bulletin, blocks of its arena) stays
// valid until it has returned from the next one.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strong_id.h"
#include "sim/shared_arena.h"
#include "sim/shared_counter.h"
#include "sim/watchdog.h"

namespace hv {

class NodeRanks {
 public:
  static constexpr size_t kBulletinBytes = size_t{1} << 17;

  // Every rank's text, by position in the node.
  using Gather = std::function<std::vector<std::string>(const std::string& mine)>;

  // Over memfds that the ranks open through /proc; null on all ranks if one of them cannot.
  // `ranks`: of the node, ascending; `mine` is one of them. Collective over them, as `gather` is.
  static std::unique_ptr<NodeRanks> OverMemfds(const std::vector<Rank>& ranks, Rank mine,
                                               const Gather& gather);
  // Over segments of zeros that are mapped already, of ranks ascending.
  struct Member {
    Rank rank;
    SharedRange segment;
    pid_t process = 0;  // 0: unknown
  };
  static std::unique_ptr<NodeRanks> Over(std::vector<Member> members, Rank mine, bool spins);
  // What this takes of each segment; the rest is arena.
  static size_t HeaderBytes();

  int64_t size() const { return static_cast<int64_t>(members_.size()); }
  bool IsLeader() const { return own_ == 0; }
  // Position in the node; -1 elsewhere.
  int64_t PositionOf(Rank rank) const;

  // Enters the next round and waits for all.
  void Enter(uint64_t signature);
  // Have all entered the round that was entered last with the same signature?
  bool AllEntered(uint64_t signature) const;
  uint64_t SignatureOfLeader() const;
  // Rounds enough to tell everyone everyone's text.
  std::vector<std::string> GatherTexts(const std::string& mine);

  // Room for something to read that the next bulletin speaks of; null: there is none left.
  std::byte* Scratch(size_t bytes);
  // What others can read once they have entered the next round; at most kBulletinBytes.
  void Post(std::span<const std::byte> bulletin);
  std::span<const std::byte> BulletinOf(int64_t position) const;

  // The same for what is made after a round; to be read by those who await the stage that follows.
  void PostLate(std::span<const std::byte> bulletin);
  std::span<const std::byte> LateBulletinOf(int64_t position) const;

  // Steps after a round, each monotone: waiting for one concerns only the rank waited for.
  enum Stage : int { kReduced, kRead, kStages };
  void Reach(Stage stage);
  void Await(Stage stage, int64_t position);

  SharedArena& arena() { return arena_; }
  // The block at an offset of a rank's arena; `bytes` of it will be read.
  const std::byte* At(int64_t position, size_t offset, size_t bytes);

  // Waits are `watchdog`'s to end; it learns whom this rank waits for, and the others what it does.
  void SetWatchdog(Watchdog* watchdog);
  void SetIdle(std::function<void()> idle) { waiter_.SetIdle(std::move(idle)); }

 private:
  struct Header;
  NodeRanks(std::vector<Member> members, int64_t own, bool spins);
  Header& HeaderOf(int64_t position) const;
  void EnterWith(uint64_t signature, std::string_view piece, uint64_t whole_bytes);
  void Await(SharedCounter& counter, uint64_t target);

  // For the watchdog's thread.
  std::string DescribeMissing() const;
  void TellWork();

  std::vector<Member> members_;
  int64_t own_;
  std::vector<std::set<size_t>> mapped_;  // blocks of each whose pages this process has mapped
  SharedArena arena_;
  Waiter waiter_;
  Watchdog* watchdog_ = nullptr;
  uint64_t round_ = 0;
  uint64_t posts_ = 0;
  size_t staged_ = 0;  // bytes, for the next post
};

}  // namespace hv
