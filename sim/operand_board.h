// What the local devices have posted, laid out for the other ranks of the node to read in place. A
// rank publishes before an agreement; until its own next one has ended, the others may read.
// Operands that lie in the arena are shared as they are and kept from being overwritten meanwhile,
// small ones are copied to where they can be read.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/circle.h"
#include "sim/device.h"
#include "sim/mesh.h"
#include "sim/node_ranks.h"

namespace hv {

// From here on every rank reduces a slice of an all-reduce; below, reducing everything everywhere
// costs less than waiting for each other once more.
inline constexpr int64_t kSplitBytes = 32 * 1024;

class OperandBoard {
 public:
  // `node` is null where ranks share no memory; then nothing is ever found. `circle`: of the ranks
  // that agree.
  // `shares_results`: offer room for results that ranks share.
  OperandBoard(const ModulePlan& plan, const Placement& placement, NodeRanks* node, Circle* circle,
               Rank own, bool shares_results);

  // Before an agreement.
  void Publish(const std::vector<std::unique_ptr<Device>>& devices);
  // After it: nobody reads any longer what was published for the one before.
  void ReleaseOlder() { older_.clear(); }
  // After one of all ranks: what was published for agreements of some is read, or was for nothing.
  void ReleaseAll();
  // What this rank has reduced of an operand, for the other members to copy once it has said that
  // it has finished reducing.
  void PublishReduced(const CollectiveKey& key, int64_t operand, const Value& value);
  void FinishReducing();
  void AwaitReduced(Rank rank) { circle_->Await(Circle::kReduced, node_->PositionOf(rank)); }
  // Room for one operand of an all-reduce, reduced, that the rank of the first member has offered
  // to all members together with its operands; null if it has not. Every rank writes a part of it,
  // and all of them take it when all have finished reducing.
  std::byte* FindRoom(Rank owner, const CollectiveKey& key, int64_t operand, size_t bytes) const;
  Value TakeRoom(Rank owner, const CollectiveKey& key, int64_t operand, const Shape* shape);
  // Waits until the rank has; null if it could not publish this.
  const std::byte* FindReduced(Rank rank, const CollectiveKey& key, int64_t operand, size_t bytes);
  // When this rank has read all it needs. Returns once large operands of its own, which are to be
  // dropped or overwritten, have been read by the others.
  void FinishReading();

  // The operand as its owner has published it, for ranks of the owner's node; null: it has to be
  // sent.
  const std::byte* Find(Rank owner, DeviceId device, const PostKey& key, int64_t operand,
                        size_t bytes) const;
  // Do the two see each other's memory?
  bool Reaches(Rank rank) const { return node_ != nullptr && node_->PositionOf(rank) >= 0; }

 private:
  struct Entry {
    DeviceId device;
    PostKey key;
    int64_t operand = 0;
    NodeRanks::Place place = {};
    int32_t loan = -1;  // of room

    friend auto operator<=>(const Entry& a, const Entry& b) {
      if (const auto by = a.device.value <=> b.device.value; by != 0) return by;
      if (const auto by = a.key <=> b.key; by != 0) return by;
      return a.operand <=> b.operand;
    }
  };

  // Room that this rank offers, by operand.
  struct Offer {
    std::vector<Value> values;
    std::vector<int32_t> loans;
    bool taken = false;
  };

  static const Entry* FindIn(std::span<const std::byte> bulletin, const Entry& wanted);
  const Entry* FindOffered(Rank owner, const CollectiveKey& key, int64_t operand) const;
  const std::byte* BytesOf(const Entry* entry, size_t bytes) const;
  // How many other ranks may share what a post yields; 0: it is no large all-reduce of which this
  // rank holds the first member, or it goes beyond the node.
  uint32_t SharersOf(const PostKey& key, const Posted& post) const;
  void OfferRoom(const std::vector<std::unique_ptr<Device>>& devices);
  void Withdraw(Offer* offer);
  // Is a member of the collective on another rank of this node?
  bool IsReadByOthers(const PostKey& key, int32_t collective);
  bool HasPeerAmong(std::span<const DeviceId> members) const;
  void PublishPost(DeviceId device, const PostKey& key, const Posted& post);

  const ModulePlan& plan_;
  const Placement placement_;
  NodeRanks* node_;
  Circle* circle_;
  const Rank own_;
  const bool shares_results_;
  std::vector<std::vector<signed char>>
      read_by_others_;               // by collective and group; -1: not known yet
  std::vector<Entry> entries_;       // as published, ascending
  std::vector<Entry> reduced_;  // likewise; of no device
  std::map<CollectiveKey, Offer> offers_;  // of what is posted
  std::vector<Value> kept_, older_;  // that lie in the arena
};

}  // namespace hv
