// Which values of a computation are provably equal on all members of each of some groups, whatever
// the inputs: constants and iota, control values that happen to agree, results of all-reduce,
// all-gather and collective-broadcast over groups that contain the members, and what deterministic
// ops make of such values. Parameters are taken to differ: claims about them
// (parameter_replication, sharding) are no proof.
#pragma once

#include <vector>

#include "base/strong_id.h"
#include "eval/control.h"
#include "hlo/module.h"
#include "hlo/validator.h"

namespace hv {

class SameOnMembers {
 public:
  SameOnMembers(const Module& module, ComputationIndex computation, DeviceCounts counts,
                std::vector<std::vector<DeviceId>> groups);
  // Is the value of `instruction` the same on all members of every group?
  bool Holds(InstructionIndex instruction);

 private:
  bool Compute(const Instruction& instruction, InstructionIndex index);
  bool GroupsContainMembers(const Instruction& collective) const;
  bool ControlAgrees(InstructionIndex index);

  const Module& module_;
  const Computation& computation_;
  DeviceCounts counts_;
  std::vector<std::vector<DeviceId>> groups_;
  ControlEvaluator control_;
  std::vector<bool> same_;  // of the instructions looked at so far, which are a prefix
};

}  // namespace hv
