// Runs one module on every device of a mesh, in any value domain, over any transport. Supersteps:
// devices run until they wait, ranks agree on what is posted, complete collectives move their data.
// The outcome (outputs, or a stall with its cycle) is the same on every rank and for every rank count.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/domain.h"
#include "hlo/module.h"
#include "sim/mesh.h"
#include "sim/transport.h"

namespace hv {

// The ENTRY argument `parameter` of a device; asked for local devices only.
using InputFn = std::function<Result<Value>(DeviceId device, int64_t parameter)>;

enum class ReductionOrder : uint8_t { kGroup, kRing, kTree, kRandom, kMpi };

// One collective as executed by one group, for reports, cost and first-divergence search.
struct CollectiveEvent {
  std::string instruction;    // name
  Opcode opcode;              // plain
  int64_t execution = 0;      // how often this instruction ran before on these devices
  std::vector<DeviceId> group;
  int64_t operand_bytes = 0;  // per member
  int64_t result_bytes = 0;
};

// Sees every value as it is computed on local devices; used to find the first diverging instruction.
using ValueObserver = std::function<void(DeviceId device, const Module& module,
                                         ComputationIndex computation, InstructionIndex instruction,
                                         int64_t execution, const Value& value)>;

// What a while loop yields from its first state, if it is known without running it.
using LoopFn = std::function<std::optional<Value>(DeviceId device, const Instruction& loop,
                                                  const Value& state)>;

struct RunOptions {
  Domain* domain = nullptr;           // required
  Transport* transport = nullptr;     // required
  ReductionOrder order = ReductionOrder::kGroup;
  uint64_t order_seed = 0;            // kRandom
  bool accumulate_wide = false;       // --accumulate=f32
  bool private_results = false;       // each device a copy of its own of what collectives yield
  int64_t memory_limit_bytes = 0;     // 0: none; checked against an estimate before running
  int64_t max_steps = 0;              // 0: none; loop iterations per device before kUnsupported
  ValueObserver observer;
  LoopFn loop;                        // null: every loop is run
  bool record_events = false;
};

// Why nothing can move any more. `kind` "deadlock" or "mismatch".
struct Waiting {
  DeviceId device;
  std::string instruction;    // where it waits
  std::string opcode;
  std::string signature;      // op, shape, groups in words
  std::vector<DeviceId> waits_for;
};
struct Stall {
  std::string kind;
  std::vector<Waiting> waiting;
  std::vector<DeviceId> cycle;  // devices of one wait cycle, first repeated last; may be empty
  std::string note;             // "back ends that match by channel would pair these", ...
  std::string ToString() const;
};

struct RunOutcome {
  std::map<DeviceId, Value> outputs;        // of local devices; empty if stalled
  std::optional<Stall> stall;               // the same on all ranks
  std::vector<CollectiveEvent> events;      // of groups whose first member is local
  double seconds = 0;
  int64_t peak_bytes = 0;
};

// Errors are the same on every rank (kUnsupported, kMemory, or kInvalid at run time).
Result<RunOutcome> RunModule(const Module& module, const Mesh& mesh, const InputFn& inputs,
                             const RunOptions& options);

// Bytes of values that a run needs at its peak per device, from liveness over shapes.
int64_t EstimatePeakBytes(const Module& module);

}  // namespace hv
