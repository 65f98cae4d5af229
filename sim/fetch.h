// The boxes of operands that cross ranks in one superstep. What a rank of the same node has
// published is read where it lies; the rest is sent. Every rank walks the same needs in the same
// order, so the n-th message from a to b is the same one for both without a word about it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/agreement.h"
#include "sim/device.h"
#include "sim/mesh.h"
#include "sim/operand_board.h"
#include "sim/recipe.h"

namespace hv {

class Fetcher {
 public:
  Fetcher(RunContext* context, const std::vector<std::unique_ptr<Device>>& devices,
          const Placement& placement, OperandBoard& board)
      : context_(context),
        devices_(devices),
        placement_(placement),
        board_(board),
        rank_(context->options().transport->rank()) {}

  Rank rank() const { return rank_; }
  Rank RankOf(DeviceId device) const { return placement_.RankOf(device); }
  bool IsLocal(DeviceId device) const { return placement_.RankOf(device) == rank_; }
  Device& LocalDevice(DeviceId device) const {
    return *devices_[static_cast<size_t>(device.value - placement_.FirstOf(rank_))];
  }

  // `destination` needs `part`: to be sent or received if the ranks differ. `number` identifies the
  // meeting in this superstep.
  Status Need(const Meeting& meeting, size_t number, DeviceId destination, const Part& part);
  // A box that is nobody's operand, for another rank, which expects it; kept by the caller until it
  // has moved. Boxes between two ranks match in order.
  void PassOn(Rank to, const Value& box) {
    outgoing_.push_back({to, next_out_[to]++, box.bytes()});
  }
  void Expect(Rank from, Value* box) {
    incoming_.push_back({from, next_in_[from]++, box->MutableBytes()});
  }
  // Has an operand of a member to be sent to `to`, since that rank cannot read it in place?
  bool Travels(const Meeting& meeting, const Meeting::Member& owner, int64_t operand,
               Rank to) const;
  // Moves everything that was asked for since the last call.
  void Exchange();
  // Does this rank see the memory of another, which has a member of some collective?
  bool Reaches(Rank rank) const { return rank == rank_ || board_.Reaches(rank); }

  // The whole operand that holds `part` if its member is local or of this node, else the box as
  // received. What is of another rank is borrowed until the superstep ends.
  const Value& Find(const Meeting& meeting, size_t number, const Part& part) const;
  // Are all operands of a member where the ranks of its node read them?
  bool IsPublished(const Meeting& meeting, const Meeting::Member& member) const;
  // An operand of a member on another rank of this node, which has published it: borrowed until the
  // superstep ends.
  Value Peek(const Meeting& meeting, size_t member, size_t operand) const;
  // What this rank has reduced of an operand, for the other members to copy; theirs (waits for it;
  // null if others cannot read it).
  void PublishReduced(const CollectiveKey& key, size_t operand, const Value& value) {
    board_.PublishReduced(key, static_cast<int64_t>(operand), value);
  }
  const std::byte* FindReduced(Rank rank, const CollectiveKey& key, size_t operand, size_t bytes) {
    return board_.FindReduced(rank, key, static_cast<int64_t>(operand), bytes);
  }
  // Room in which the ranks of a collective's members reduce together; what it holds in the end,
  // when all of them have finished reducing.
  std::byte* FindRoom(Rank owner, const CollectiveKey& key, size_t operand, size_t bytes) const {
    return board_.FindRoom(owner, key, static_cast<int64_t>(operand), bytes);
  }
  void AwaitReduced(Rank rank) { board_.AwaitReduced(rank); }
  Value TakeRoom(Rank owner, const CollectiveKey& key, size_t operand, const Shape* shape) {
    return board_.TakeRoom(owner, key, static_cast<int64_t>(operand), shape);
  }
  // The part itself, cut out if it is less than what Find gives.
  Result<Value> Cut(const Meeting& meeting, size_t number, const Part& part) const;
  // The part to be read only, as long as its operand is there: in place where it is one run of
  // bytes.
  Result<Value> View(const Meeting& meeting, size_t number, const Part& part) const;
  // The box of `part` out of a value that is a whole operand, or that box already.
  Result<Value> CutBox(const Value& whole, const Part& part) const;

 private:
  using Key = std::tuple<size_t, int64_t, int64_t, std::vector<int64_t>, std::vector<int64_t>>;

  static Key KeyOf(size_t number, const Part& part) {
    return {number, part.member, part.operand, part.starts, part.sizes};
  }
  bool IsHere(const Meeting& meeting, const Part& part) const {
    return IsLocal(meeting.members[static_cast<size_t>(part.member)].device);
  }
  // Where an operand of a member lies if this rank can read it; `bytes` of it will be.
  const std::byte* Published(const Meeting& meeting, const Meeting::Member& member, int64_t operand,
                             size_t bytes) const;
  const Value& Borrow(const Meeting& meeting, size_t number, const Part& part) const;
  Value NewBox(const Meeting& meeting, const Part& part) const;
  Status Send(const Meeting& meeting, size_t number, Rank to, const Part& part);
  void Receive(const Meeting& meeting, size_t number, Rank from, const Part& part);

  RunContext* context_;
  const std::vector<std::unique_ptr<Device>>& devices_;
  const Placement& placement_;
  OperandBoard& board_;
  Rank rank_;
  std::map<Key, Value> received_;
  mutable std::map<std::tuple<size_t, int64_t, int64_t>, Value> borrowed_;  // whole operands
  std::set<std::pair<Rank, Key>> sent_;
  std::vector<Value> being_sent_;
  std::vector<OutgoingMessage> outgoing_;
  std::vector<IncomingMessage> incoming_;
  std::map<Rank, int64_t> next_out_, next_in_;  // message numbers by peer
};

}  // namespace hv
