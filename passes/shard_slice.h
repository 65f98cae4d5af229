// What the passes about "all-reduce, then dynamic-slice" share: the shape of a shard, recognisers
// of its parts, and the emitter of the reduce-scatter.
#pragma once

#include <optional>

#include "hlo/module.h"
#include "passes/op_expander.h"

namespace hv {

// The one dimension in which a dynamic-slice takes less than its operand has, and how much it
// takes.
struct ShardSlice {
  int64_t dimension = 0;
  int64_t size = 0;
};
// Nothing if no dimension or more than one is cut (GetSliceInfo1D).
std::optional<ShardSlice> OneCutDimension(const Computation& computation,
                                          const Instruction& dynamic_slice);

// The operand that holds the start in `dimension`; null if the starts are one vector operand.
const Instruction* StartOperand(const Computation& computation, const Instruction& dynamic_slice,
                                int64_t dimension);

// An integer constant of one element (all dimensions are 1) that holds `value`, whatever its type.
bool IsScalarConstant(const Instruction& instruction, int64_t value);

// Follows operand 0 of `from` while the opcode is one of `opcodes`, at most `most` times.
const Instruction& Peel(const Computation& computation, const Instruction& from,
                        std::initializer_list<Opcode> opcodes, int most);

// What a reduce-scatter needs besides the attributes it takes over from the all-reduce: reducer,
// replica groups, constrain_layout, use_global_device_ids.
struct ScatterPlan {
  const Instruction* all_reduce = nullptr;
  InstructionIndex operand = -1;  // new index
  const Shape* shape = nullptr;
  int64_t dimension = 0;
  int64_t channel_id = 0;      // 0: none
  bool keep_metadata = false;  // the all-reduce's; otherwise the driver gives it the slice's
};
InstructionIndex EmitReduceScatter(const ScatterPlan& plan, Rebuild* rebuild);

}  // namespace hv
