// The multiple-groups matcher: its checks in their order, its reasons in their words.
#include "passes/faithful.h"
#include "passes/registry.h"

namespace hv {
namespace {

// The width of the groups if all have the same; nothing for `{}`, which the original reads out of
// bounds.
std::optional<int64_t> CommonWidth(const Instruction& all_reduce) {
  const DeviceList* list = all_reduce.Object<DeviceList>(Attr::kReplicaGroups);
  const Groups groups = list == nullptr ? Groups() : Expand(*list);
  if (groups.empty()) return std::nullopt;
  for (const std::vector<int64_t>& group : groups) {
    if (group.size() != groups[0].size()) return std::nullopt;
  }
  return static_cast<int64_t>(groups[0].size());
}

}  // namespace

std::optional<std::string> RewriteAllReduceDynamicSliceMultipleGroups::WhyNot(const Site& site) {
  const Computation& computation = site.computation();
  const Instruction& all_reduce = site.Operand(0);
  if (all_reduce.opcode != Opcode::kAllReduce) return "Dynamic slice operand is not an all-reduce.";
  const std::optional<ShardSlice> cut = OneCutDimension(computation, site.instruction());
  if (!cut) return "Dynamic slice is not 1D.";
  const std::optional<int64_t> width = CommonWidth(all_reduce);
  if (!width) return "Replica group sizes are not consistent.";
  const int64_t full = all_reduce.shape->dims[static_cast<size_t>(cut->dimension)];
  if (*width * cut->size != full) return "Dynamic slice size does not match operand size.";
  const Instruction* index = StartOperand(computation, site.instruction(), cut->dimension);
  if (index == nullptr) return "Slice dimension is out of bounds.";
  if (index->opcode != Opcode::kReshape) return "Index operand is not a reshape.";
  const Instruction& product = computation.At(index->operands[0]);
  if (product.opcode != Opcode::kMultiply) return "Reshape operand is not a multiply.";
  // Either operand may be the constant here, but the pool slice is always looked for in operand 1.
  if (!IsScalarConstant(computation.At(product.operands[0]), cut->size) &&
      !IsScalarConstant(computation.At(product.operands[1]), cut->size)) {
    return "Multiply operand is not an effective scalar constant.";
  }
  const Instruction& inner = computation.At(product.operands[1]);
  if (inner.opcode != Opcode::kDynamicSlice) return "Multiply operand is not a dynamic slice.";
  const std::span<const int64_t> sizes = inner.Ints(Attr::kDynamicSliceSizes);
  if (sizes.size() != 1) return "Pool slice sizes are not 1D.";
  if (sizes[0] != 1) return "Pool slice size is not 1.";
  const Instruction& id = Peel(computation, computation.At(inner.operands[1]),
                               {Opcode::kConvert, Opcode::kReshape, Opcode::kBitcast}, 1);
  if (id.opcode != Opcode::kPartitionId) return "Slice pool operand is not a partition ID.";
  const Instruction& pool = computation.At(inner.operands[0]);
  if (pool.opcode != Opcode::kConstant) return "Slice pool operand is not a constant.";
  const DeviceList& groups = *all_reduce.Object<DeviceList>(Attr::kReplicaGroups);
  if (pool.shape->type != ElementType::kS32 || pool.literal->elided ||
      !IsRamp(*pool.literal, GroupCount(groups), *width, cut->size)) {
    return "Slice pool does not match.";
  }
  return std::nullopt;
}

bool RewriteAllReduceDynamicSliceMultipleGroups::IsRamp(const Literal& pool, int64_t groups,
                                                        int64_t width, int64_t size) const {
  const int64_t count = groups * width;
  if (pool.shape->rank() != 1 || pool.shape->element_count != count) return false;
  const int64_t repeat = reading_ == RepeatedPool::kPosition ? groups : width;
  bool identity = true, multiplied = true, repeated = true;
  for (int64_t p = 0; p < count; ++p) {
    const int64_t entry = IntegerAt(pool, p);
    identity &= entry == p;
    multiplied &= entry == p % width * size;
    repeated &= entry == p / repeat;
  }
  return identity || multiplied || repeated;
}

std::unique_ptr<OpExpander> MakeRewriteAllReduceDynamicSliceMultipleGroups(
    const PassContext& context) {
  const bool by_group = context.options.at("pool_repeated") == "group";
  return std::make_unique<RewriteAllReduceDynamicSliceMultipleGroups>(
      by_group ? RepeatedPool::kGroup : RepeatedPool::kPosition);
}

}  // namespace hv
