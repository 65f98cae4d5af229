// What the local devices have posted, laid out for the other ranks of the node to read in place. A
// rank publishes before an agreement; until its own next one has ended, the others may read.
// Operands that lie in the arena are shared as they are and kept from being overwritten meanwhile,
// small ones are copied to where they can be read.
#pragma once

#include <compare>
#include <memory>
#include <span>
#include <vector>

#include "sim/circle.h"
#include "sim/device.h"
#include "sim/mesh.h"
#include "sim/node_ranks.h"

namespace hv {

class OperandBoard {
 public:
  // `node` is null where ranks share no memory; then nothing is ever found. `circle`: of the ranks
  // that agree.
  OperandBoard(const ModulePlan& plan, const Placement& placement, NodeRanks* node, Circle* circle,
               Rank own);

  // Before an agreement.
  void Publish(const std::vector<std::unique_ptr<Device>>& devices);
  // After it: nobody reads any longer what was published for the one before.
  void ReleaseOlder() { older_.clear(); }
  // After one of all ranks: what was published for agreements of some is read, or was for nothing.
  void ReleaseAll() {
    older_.clear();
    kept_.clear();
  }
  // What this rank has reduced of an operand, for the other members to copy once it has said that
  // it has finished reducing.
  void PublishReduced(const CollectiveKey& key, int64_t operand, const Value& value);
  void FinishReducing();
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
    size_t offset = 0;  // in the owner's arena

    friend auto operator<=>(const Entry& a, const Entry& b) {
      if (const auto by = a.device.value <=> b.device.value; by != 0) return by;
      if (const auto by = a.key <=> b.key; by != 0) return by;
      return a.operand <=> b.operand;
    }
  };

  const std::byte* FindIn(std::span<const std::byte> bulletin, int64_t position,
                          const Entry& wanted, size_t bytes) const;
  // Is a member of the collective on another rank of this node?
  bool IsReadByOthers(const PostKey& key, int32_t collective);
  bool HasPeerAmong(std::span<const DeviceId> members) const;
  void PublishPost(DeviceId device, const PostKey& key, const Posted& post);

  const ModulePlan& plan_;
  const Placement placement_;
  NodeRanks* node_;
  Circle* circle_;
  const Rank own_;
  std::vector<std::vector<signed char>>
      read_by_others_;               // by collective and group; -1: not known yet
  std::vector<Entry> entries_;       // as published, ascending
  std::vector<Entry> reduced_;  // likewise; of no device
  std::vector<Value> kept_, older_;  // that lie in the arena
};

}  // namespace hv
