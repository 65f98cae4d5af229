#include "passes/shard_source.h"

#include <algorithm>

#include "hlo/op.h"

namespace hv {
namespace {

// A bitcast goes through memory: only between row-major layouts of one type is it a reshape.
bool IsView(const Computation& computation, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kCopy:
      return true;
    case Opcode::kBitcast: {
      const Shape& from = *computation.At(instruction.operands[0]).shape;
      const Shape& to = *instruction.shape;
      return from.type == to.type && from.element_count == to.element_count &&
             HasDefaultLayout(from) && HasDefaultLayout(to);
    }
    default:
      return false;
  }
}

}  // namespace

bool IsSplat(const Computation& computation, const Instruction& instruction) {
  return instruction.shape->IsScalar() ||
         (instruction.opcode == Opcode::kBroadcast &&
          computation.At(instruction.operands[0]).shape->IsScalar());
}

std::optional<ChainLink> AsLink(const Computation& computation, InstructionIndex index) {
  const Instruction& instruction = computation.At(index);
  if (IsView(computation, instruction)) return ChainLink{index, 0, true};
  if (Definition(instruction).kernel != KernelKind::kScalar) return std::nullopt;
  std::optional<size_t> data;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (IsSplat(computation, computation.At(instruction.operands[i]))) continue;
    if (data) return std::nullopt;
    data = i;
  }
  if (!data) return std::nullopt;
  const Shape& shape = *computation.At(instruction.operands[*data]).shape;
  if (!SameDims(shape, *instruction.shape)) return std::nullopt;  // bitcast-convert of other width
  return ChainLink{index, *data, false};
}

tl::expected<ShardSource, std::string> FindShardSource(const Computation& computation,
                                                       InstructionIndex from) {
  ShardSource source;
  for (InstructionIndex at = from;;) {
    const Instruction& instruction = computation.At(at);
    if (instruction.opcode == Opcode::kGetTupleElement) {
      source.output = static_cast<size_t>(instruction.Int(Attr::kIndex, 0));
      source.all_reduce = instruction.operands[0];
    } else if (instruction.opcode == Opcode::kAllReduce) {
      source.all_reduce = at;
    } else if (instruction.opcode == Opcode::kAllReduceDone) {
      return tl::make_unexpected("Dynamic slice operand is an asynchronous all-reduce.");
    }
    if (source.all_reduce >= 0) break;
    const std::optional<ChainLink> link = AsLink(computation, at);
    if (!link) return tl::make_unexpected("Dynamic slice operand is not an all-reduce.");
    source.links.push_back(*link);
    at = instruction.operands[link->data_operand];
  }
  if (computation.At(source.all_reduce).opcode != Opcode::kAllReduce) {
    return tl::make_unexpected("Dynamic slice operand is not an all-reduce.");
  }
  std::reverse(source.links.begin(), source.links.end());
  return source;
}

}  // namespace hv
