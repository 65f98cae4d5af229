#include "passes/shard_slice.h"

#include <algorithm>

namespace hv {

std::optional<ShardSlice> OneCutDimension(const Computation& computation,
                                          const Instruction& dynamic_slice) {
  const std::span<const int64_t> full = computation.At(dynamic_slice.operands[0]).shape->dims;
  const std::span<const int64_t> sizes = dynamic_slice.Ints(Attr::kDynamicSliceSizes);
  if (full.size() != sizes.size()) return std::nullopt;
  std::optional<ShardSlice> cut;
  for (size_t d = 0; d < full.size(); ++d) {
    if (full[d] == sizes[d]) continue;
    if (cut) return std::nullopt;
    cut = ShardSlice{static_cast<int64_t>(d), sizes[d]};
  }
  return cut;
}

const Instruction* StartOperand(const Computation& computation, const Instruction& dynamic_slice,
                                int64_t dimension) {
  const size_t at = static_cast<size_t>(dimension) + 1;
  if (at >= dynamic_slice.operands.size()) return nullptr;
  const Instruction& start = computation.At(dynamic_slice.operands[at]);
  return start.shape->dims.empty() ? &start : nullptr;
}

bool IsScalarConstant(const Instruction& instruction, int64_t value) {
  if (instruction.opcode != Opcode::kConstant || instruction.literal == nullptr) return false;
  const Literal& literal = *instruction.literal;
  return !literal.elided && IsInteger(instruction.shape->type) &&
         std::ranges::all_of(instruction.shape->dims, [](int64_t d) { return d == 1; }) &&
         IntegerAt(literal, 0) == value;
}

const Instruction& Peel(const Computation& computation, const Instruction& from,
                        std::initializer_list<Opcode> opcodes, int most) {
  const Instruction* at = &from;
  for (int i = 0; i < most && std::ranges::find(opcodes, at->opcode) != opcodes.end(); ++i) {
    at = &computation.At(at->operands[0]);
  }
  return *at;
}

InstructionIndex EmitReduceScatter(const ScatterPlan& plan, Rebuild* rebuild) {
  const InstructionIndex operands[] = {plan.operand};
  const int64_t dimensions[] = {plan.dimension};
  InstructionBuilder builder(&rebuild->module(), Opcode::kReduceScatter, plan.shape);
  builder.Operands(operands);
  if (plan.channel_id > 0) builder.SetInt(Attr::kChannelId, plan.channel_id);
  for (const Attr key :
       {Attr::kReplicaGroups, Attr::kConstrainLayout, Attr::kUseGlobalDeviceIds, Attr::kToApply}) {
    builder.Copy(*plan.all_reduce, key);
  }
  builder.SetInts(Attr::kDimensions, dimensions);
  if (plan.keep_metadata) builder.Copy(*plan.all_reduce, Attr::kMetadata);
  return rebuild->Add(builder.Build());
}

}  // namespace hv
