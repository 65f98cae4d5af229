// The single-group matcher and the emitter that both all-reduce passes share. The original matches
// in silence; the reasons here are ours.
#include "passes/faithful.h"
#include "passes/registry.h"

namespace hv {
namespace {

bool IsPartitionId(const Computation& computation, const Instruction& instruction) {
  return Peel(computation, instruction, {Opcode::kConvert}, 1).opcode == Opcode::kPartitionId;
}

// partition-id * size, operands in either order, a convert around the product or around the id.
bool IsPartitionOffset(const Computation& computation, const Instruction& start, int64_t size) {
  const Instruction& product = Peel(computation, start, {Opcode::kConvert}, 1);
  if (product.opcode != Opcode::kMultiply) return false;
  const Instruction& a = computation.At(product.operands[0]);
  const Instruction& b = computation.At(product.operands[1]);
  return (IsPartitionId(computation, a) && IsScalarConstant(b, size)) ||
         (IsPartitionId(computation, b) && IsScalarConstant(a, size));
}

}  // namespace

bool RewriteAllReduceDynamicSlice::IsCandidate(const Instruction& instruction) const {
  return instruction.opcode == Opcode::kDynamicSlice;
}

std::optional<std::string> RewriteAllReduceDynamicSlice::WhyNot(const Site& site) {
  const Instruction& all_reduce = site.Operand(0);
  if (all_reduce.opcode != Opcode::kAllReduce) return "Dynamic slice operand is not an all-reduce.";
  const std::optional<ShardSlice> cut = OneCutDimension(site.computation(), site.instruction());
  if (!cut) return "Dynamic slice is not 1D.";
  const DeviceList* list = all_reduce.Object<DeviceList>(Attr::kReplicaGroups);
  if (list == nullptr || GroupCount(*list) != 1) return "Not exactly one replica group.";
  const int64_t full = all_reduce.shape->dims[static_cast<size_t>(cut->dimension)];
  if (IdCount(*list) * cut->size != full) return "Dynamic slice size does not match operand size.";
  const Instruction* start = StartOperand(site.computation(), site.instruction(), cut->dimension);
  if (start == nullptr || !IsPartitionOffset(site.computation(), *start, cut->size)) {
    return "Start index is not partition-id times the slice size.";
  }
  return std::nullopt;
}

int64_t RewriteAllReduceDynamicSlice::FreshChannelId(const Module& module) {
  if (last_channel_id_ == 0) last_channel_id_ = NextChannelId(module) - 1;
  return ++last_channel_id_;
}

Result<InstructionIndex> RewriteAllReduceDynamicSlice::Expand(const Site& site, Rebuild* rebuild) {
  const std::optional<ShardSlice> cut = OneCutDimension(site.computation(), site.instruction());
  if (!cut) {
    return tl::make_unexpected(
        Error{ErrorKind::kInvalid,
              {MakeDiagnostic(site.module, site.instruction().offset, "pass-slice-not-1d",
                              "the dynamic-slice to replace does not cut exactly one dimension: " +
                                  std::string(site.instruction().name))}});
  }
  ScatterPlan plan;
  plan.all_reduce = &site.Operand(0);
  plan.operand = rebuild->Mapped(plan.all_reduce->operands[0]);
  plan.shape = site.instruction().shape;
  plan.dimension = cut->dimension;
  plan.channel_id = FreshChannelId(site.module);
  return EmitReduceScatter(plan, rebuild);
}

std::unique_ptr<OpExpander> MakeRewriteAllReduceDynamicSlice(const PassContext& /*context*/) {
  return std::make_unique<RewriteAllReduceDynamicSlice>();
}

}  // namespace hv
