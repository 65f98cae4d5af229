// EvaluateControl: the value of an instruction on one device when it depends on constants, iota and
// device ids alone. Guarded passes, the simulator and the prover ask it for offsets and predicates.
#pragma once

#include <string>
#include <unordered_map>

#include "base/strong_id.h"
#include "eval/value.h"
#include "hlo/module.h"

namespace hv {

// Either a concrete value, or the name of what it depends on ("parameter", "all-reduce", ...).
struct ControlValue {
  Value value;             // empty if not control
  std::string depends_on;  // opcode of the first data-dependent ancestor, when value is empty
};

// Evaluates instructions of one computation for any device, memoised per (instruction, device);
// stops at parameters and collectives. Calls and fusions are followed. Keeps a reference to `module`.
class ControlEvaluator {
 public:
  ControlEvaluator(const Module& module, ComputationIndex computation);
  const ControlValue& Evaluate(InstructionIndex instruction, ReplicaId replica,
                               PartitionId partition);

 private:
  const Module& module_;
  ComputationIndex computation_;
  std::unordered_map<uint64_t, ControlValue> memo_;
};

}  // namespace hv
