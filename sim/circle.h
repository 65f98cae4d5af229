// Ranks of one node that meet: all of them, or those that the groups of a collective join. They go
// through rounds together: a rank enters a round with a signature and a few bytes, and goes on when
// all have entered; the flags that say so are its barrier, and carry the signature for nothing.
// Between two rounds ranks read each other's arenas in place.
//
// What a rank leaves for others in a round (signature, bytes, bulletin, blocks of its arena) stays
// valid until it has returned from the next one. Ranks are named by their position in the node.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/node_header.h"

namespace hv {

class NodeRanks;

class Circle {
 public:
  static constexpr size_t kBulletinBytes = CircleHeader::kBulletinBytes;

  // `positions`: ascending, this rank's among them. Circle 0 of a node is the whole of it.
  Circle(NodeRanks* node, size_t number, std::vector<int64_t> positions);

  const std::vector<int64_t>& positions() const { return positions_; }
  uint64_t round() const { return round_; }

  // Enters the next round and waits for all.
  void Enter(uint64_t signature);
  // The same, but of a part of the node: false if the others will never come, since all ranks of
  // the node rest and none can go on by itself. All of them learn it; then the whole node has to
  // meet, and its parts start anew.
  bool TryEnter(uint64_t signature);
  void Restart();
  // Have all entered the round that was entered last with the same signature?
  bool AllEntered(uint64_t signature) const;
  uint64_t SignatureOfFirst() const;
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
  enum Stage : int { kReduced, kRead, kStages = CircleHeader::kStages };
  void Reach(Stage stage);
  void Await(Stage stage, int64_t position);

 private:
  CircleHeader& HeaderOf(int64_t position) const;
  CircleHeader& Own() const;
  void Say(uint64_t signature, std::string_view piece, uint64_t whole_bytes);
  void EnterWith(uint64_t signature, std::string_view piece, uint64_t whole_bytes);

  NodeRanks& node_;
  size_t number_;
  std::vector<int64_t> positions_;
  uint64_t round_ = 0;
  uint64_t posts_ = 0;
  size_t staged_ = 0;  // bytes, for the next post
};

}  // namespace hv
