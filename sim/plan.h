// What the simulator knows about a module before it runs it, computed once: a step kind per
// instruction, how often each value is read, what waits for what, which computations can wait at all,
// and every collective with its groups.
//
// Sites. Every call of a computation counts as its own copy of it, as in a flattened call graph; a
// collective in such a copy is a *site* with a number of its own. Executions of one site on one device
// follow each other, so (site, execution) names one collective whatever the order of execution is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/elementwise_program.h"
#include "hlo/module.h"
#include "hlo/view.h"
#include "sim/grouping.h"
#include "sim/mesh.h"
#include "sim/trip_count.h"

namespace hv {

enum class StepKind : uint8_t {
  kSkip,         // parameters (given by the caller) and what nothing needs
  kConstant,     // evaluated once for all devices
  kPinned,       // a constant that every frame holds from the start
  kLocal,        // one device computes it by itself
  kFused,        // the last of a group of elementwise instructions, computed as one
  kMove,         // the last of several instructions that only move elements, as one
  kHandOn,       // a conversion that its reader makes as it reads: yields its operand
  kTuple,
  kElement,      // get-tuple-element
  kCollective,   // posts and waits
  kStart,        // posts a collective, send or recv
  kCopyStart,    // complete at once
  kAsyncStart,   // runs its computation beside the caller
  kAsyncUpdate,
  kDone,         // waits for what a start posted
  kWhile,
  kConditional,
  kCall,         // call, fusion
};

struct Step {
  const Instruction* instruction = nullptr;
  std::span<const InstructionIndex> operands;  // whose values the step reads
  StepKind kind = StepKind::kLocal;
  bool take = false;            // kElement: nobody else reads this part of the tuple
  bool alike = false;           // has one value on all devices: computed once for those of a process
  int32_t reads = 0;            // operand slots that read the value, +1 for the root
  int32_t waits_for = 0;        // data flow: operands and control predecessors but parameters
  int32_t part = 0;             // kElement: which
  int32_t collective = -1;      // index into ModulePlan::collectives
  int32_t program = -1;         // index into programs (kFused), views (kMove), counters (kWhile)
  ComputationIndex callees[2] = {-1, -1};  // kWhile: condition, body; kCall: one
  uint64_t site = 0;            // of its collective or of its first callee, from the frame's first
};

// A collective instruction, its shapes flattened to leaves.
struct Collective {
  const Computation* computation = nullptr;
  const Instruction* instruction = nullptr;
  Opcode opcode = Opcode::kAllReduce;        // plain
  std::vector<const Shape*> operands;        // leaves that are data
  std::vector<const Shape*> results;         // leaves of what it yields, tokens left out
  const Shape* result = nullptr;             // shape of what it yields
  std::shared_ptr<const Grouping> grouping;
  bool by_channel = false;                   // send/recv whose partner stands in another computation
  bool uniform = true;  // if all devices post it, all are complete (false: pairs or shapes differ)
  std::string signature;                     // op, shapes, groups in words; channel left out
  int64_t channel = 0;                       // 0: none
};

// Movement that several instructions make together, from the operands of the first ones.
struct ComposedView {
  const Shape* shape = nullptr;
  std::vector<InstructionIndex> operands;
  Pieces pieces;
};

struct ComputationPlan {
  const Computation* computation = nullptr;
  ComputationIndex index = -1;
  bool can_wait = false;   // holds something that waits, or calls such a computation
  bool data_flow = false;  // an instruction may run as soon as its operands are there
  uint64_t sites = 0;      // of this computation with everything it calls
  std::vector<Step> steps;
  std::vector<ElementwiseProgram> programs;
  std::vector<ComposedView> views;
  std::vector<LoopCounter> counters;             // of loops whose conditions need not run
  std::vector<InstructionIndex> order;           // steps to run, in text order
  std::vector<InstructionIndex> pinned;
  std::vector<int32_t> reads, waits_for;         // copies of the step fields: a frame's start state
  std::vector<InstructionIndex> first_ready;     // data flow: steps that wait for nothing
  std::vector<InstructionIndex> successors;      // data flow, one list per instruction, back to back
  std::vector<int32_t> successor_begin;          // size: steps + 1

  const Step& At(InstructionIndex i) const { return steps[static_cast<size_t>(i)]; }
};

struct ModulePlan {
  const Module* module = nullptr;
  Mesh mesh;
  std::vector<ComputationPlan> computations;
  std::vector<Collective> collectives;
  uint64_t fingerprint = 0;  // of the structure: equal on all ranks or they run different modules

  const ComputationPlan& Entry() const {
    return computations[static_cast<size_t>(module->entry)];
  }
};

// Sites above this number match by channel (see Collective::by_channel).
inline constexpr uint64_t kChannelSite = uint64_t{1} << 63;

enum class Fusion : uint8_t { kNone, kElementwise };

// `fusion`: elementwise steps run in groups, for native values that nobody observes one by one.
// Errors: a call graph of more than 2^62 sites.
Result<ModulePlan> MakePlan(const Module& module, const Mesh& mesh, Fusion fusion = Fusion::kNone);

}  // namespace hv
