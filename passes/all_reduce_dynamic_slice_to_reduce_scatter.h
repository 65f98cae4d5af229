// The sound counterpart of the rewrites under test. It knows no patterns of offsets: it evaluates
// the start index for every device of the mesh, clamps it as dynamic-slice does, and fires if every
// device takes the shard that belongs to its position in its group. The group mode is kept (a
// channel id is added only where there was one), and an all-reduce that would stay for another user
// is left alone.
#pragma once

#include <map>
#include <set>
#include <tuple>

#include "hlo/groups.h"
#include "hlo/validator.h"
#include "passes/op_expander.h"
#include "passes/shard_slice.h"
#include "passes/shard_source.h"

namespace hv {

class AllReduceDynamicSliceToReduceScatter : public OpExpander {
 public:
  // `allow_dearer`: also where the all-reduce keeps other users, so that both collectives run.
  AllReduceDynamicSliceToReduceScatter(DeviceCounts counts, bool allow_dearer)
      : counts_(counts), allow_dearer_(allow_dearer) {}

  bool IsCandidate(const Instruction& instruction) const override;
  std::optional<std::string> WhyNot(const Site& site) override;
  Result<InstructionIndex> Expand(const Site& site, Rebuild* rebuild) override;
  // Drops from combined all-reduces the operands whose result nobody reads any more.
  void Finish(Module* module, const std::vector<RewriteDecision>& decisions) override;

 protected:
  // The steps a wrong twin gets wrong.
  virtual std::vector<std::vector<DeviceId>> GroupsOf(const Instruction& all_reduce) const;
  virtual bool IsOwnShard(int64_t start, int64_t position, int64_t size, int64_t full) const;
  virtual InstructionIndex Emit(const ScatterPlan& plan, Rebuild* rebuild);
  // The elementwise `link` of `site` applied to the shard; returns its new index.
  virtual InstructionIndex ApplyToShard(const Site& site, const ChainLink& link,
                                        InstructionIndex shard, Rebuild* rebuild);

 private:
  using Reason = std::optional<std::string>;
  struct ComputationFacts {
    std::vector<std::vector<InstructionIndex>> users;
    std::vector<bool> under_control;
    std::map<InstructionIndex, Reason> own_shard;  // by dynamic-slice
  };
  ComputationFacts& FactsOf(const Site& site);

  // Ignoring other users of the all-reduce: does the slice take the device's own shard?
  Reason WhyNotOwnShard(const Site& site);
  Reason ComputeOwnShard(const Site& site, ComputationFacts& facts);
  Reason CheckStarts(const Site& site, const ShardSource& source, const ShardSlice& cut);
  // A reader of value `at` that is no matching slice: its name, or nothing.
  std::optional<std::string> OtherReader(const Site& site, InstructionIndex at);
  std::optional<std::string> OtherReaderOf(const Site& site, const ShardSource& source);

  DeviceCounts counts_;
  bool allow_dearer_;
  int64_t last_channel_id_ = 0;
  std::map<ComputationIndex, ComputationFacts> facts_;
  // (computation, all-reduce, output, dimension, views) -> the reduce-scatter made for it
  using ScatterKey = std::tuple<ComputationIndex, InstructionIndex, size_t, int64_t,
                                std::vector<InstructionIndex>>;
  std::map<ScatterKey, InstructionIndex> scatters_;
  std::set<std::string> combined_;  // names of combined all-reduces that lost a reader
};

}  // namespace hv
