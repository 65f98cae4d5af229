// EvaluateControl: the value of an instruction on one device when it depends on constants, iota and
// device ids alone. Guarded passes, the simulator and the prover ask it for offsets and predicates.
#pragma once

#include <memory>
#include <string>

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
// stops at parameters, collectives and arrays too large to be control. Calls, fusions, conditionals
// and loops are followed. Keeps a reference to `module`.
class ControlEvaluator {
 public:
  ControlEvaluator(const Module& module, ComputationIndex computation);
  ~ControlEvaluator();
  ControlEvaluator(const ControlEvaluator&) = delete;
  ControlEvaluator& operator=(const ControlEvaluator&) = delete;

  const ControlValue& Evaluate(InstructionIndex instruction, ReplicaId replica,
                               PartitionId partition);

 private:
  struct Devices;
  const Module& module_;
  ComputationIndex computation_;
  std::unique_ptr<Devices> devices_;
};

}  // namespace hv
