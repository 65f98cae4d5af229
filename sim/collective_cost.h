// What one collective costs on a machine: the least of the usual algorithms its networks allow, all its
// groups running at once. Reduce-scatter never costs more than the all-reduce of the same operand, because
// a back end may do that and slice.
// Source: alpha-beta models of ring, bidirectional ring, recursive halving and doubling (Rabenseifner),
// direct exchange, Bruck, pipelined trees, in-network reduction, and one pass per axis of a torus.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hlo/op.h"
#include "sim/group_network.h"

namespace hv {

struct AlgorithmCost {
  std::string algorithm;
  double seconds = 0;
  double messages = 0;                // sent by the member that sends most
  std::vector<double> bytes_by_level;  // sent over it by that member

  double bytes() const;  // over all levels
};

struct CollectiveCost {
  AlgorithmCost best;
  std::vector<AlgorithmCost> others;  // that are dearer, cheapest first
};

// The collectives of one list of groups; remembers what steps cost, so that sizes are cheap.
class GroupCosts {
 public:
  GroupCosts(const Topology& topology, DeviceGroups groups);
  // `opcode` is plain. `bytes`: the whole operand of a member, for all-gather the whole result.
  CollectiveCost Of(Opcode opcode, double bytes) const;

 private:
  using Candidates = std::vector<AlgorithmCost>;
  struct Tier {  // the axes of one level: a torus passes along all of them at once
    std::vector<GroupCosts> axes;
    int64_t members = 1;
  };
  GroupCosts(const Topology& topology, DeviceGroups groups, bool split);

  double members() const { return static_cast<double>(network_.size()); }
  int steps() const;  // of a recursion, log2 of the members rounded up
  bool IsPowerOfTwo() const;
  bool ReducesInNetwork() const;

  AlgorithmCost Direct(double bytes) const;
  AlgorithmCost OneShot(double bytes) const;
  // A reduce-scatter, or where `fold` is 0 an all-gather, of all `bytes`; `fold`: seconds per byte folded.
  Candidates Flat(double bytes, double fold) const;
  Candidates FlatAllReduce(double bytes, double fold) const;
  AlgorithmCost PassTier(const Tier& tier, double bytes, double fold) const;
  AlgorithmCost PassTiers(double bytes, double fold) const;
  AlgorithmCost AllReduceTiers(double bytes, double fold) const;
  std::string NameOfTiers() const;
  Candidates Shuffles(double bytes, double fold) const;
  Candidates AllReduces(double bytes, double fold) const;
  Candidates AllToAlls(double bytes) const;
  Candidates Broadcasts(double bytes) const;

  struct InCache;

  GroupNetwork network_;
  double devices_ = 0;  // of all groups
  std::shared_ptr<const InCache> in_cache_;  // of a bus that has a cache
  std::vector<Tier> tiers_;  // innermost first; empty where the groups are no boxes
};

// A permute, or a send: all messages at once, each of `bytes`.
CollectiveCost CostOfMessages(double bytes, const std::vector<Message>& messages,
                              const Topology& topology);

}  // namespace hv
