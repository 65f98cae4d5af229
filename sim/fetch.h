// The boxes of operands that cross ranks in one superstep. Every rank walks the same needs in the same
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
#include "sim/recipe.h"

namespace hv {

class Fetcher {
 public:
  Fetcher(RunContext* context, const std::vector<std::unique_ptr<Device>>& devices,
          const Placement& placement)
      : context_(context), devices_(devices), placement_(placement),
        rank_(context->options().transport->rank()) {}

  bool IsLocal(DeviceId device) const { return placement_.RankOf(device) == rank_; }
  Device& LocalDevice(DeviceId device) const {
    return *devices_[static_cast<size_t>(device.value - placement_.FirstOf(rank_))];
  }

  // `destination` needs `part`: to be sent or received if the ranks differ. `number` identifies the
  // meeting in this superstep.
  Status Need(const Meeting& meeting, size_t number, DeviceId destination, const Part& part);
  // Moves everything that was needed since the last call.
  void Exchange();

  // The whole operand that holds `part` if its member is local, else the box as received.
  const Value& Find(const Meeting& meeting, size_t number, const Part& part) const;
  // The part itself, cut out if it is less than what Find gives.
  Result<Value> Cut(const Meeting& meeting, size_t number, const Part& part) const;
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
  Value NewBox(const Meeting& meeting, const Part& part) const;
  Status Send(const Meeting& meeting, size_t number, Rank to, const Part& part);
  void Receive(const Meeting& meeting, size_t number, Rank from, const Part& part);

  RunContext* context_;
  const std::vector<std::unique_ptr<Device>>& devices_;
  const Placement& placement_;
  Rank rank_;
  std::map<Key, Value> received_;
  std::set<std::pair<Rank, Key>> sent_;
  std::vector<Value> being_sent_;
  std::vector<OutgoingMessage> outgoing_;
  std::vector<IncomingMessage> incoming_;
  std::map<Rank, int64_t> next_out_, next_in_;  // message numbers by peer
};

}  // namespace hv
