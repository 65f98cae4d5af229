#include "passes/all_reduce_dynamic_slice_to_reduce_scatter.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/control.h"
#include "eval/domain.h"
#include "passes/combined_all_reduce.h"
#include "passes/registry.h"

namespace hv {
namespace {

// Members know their group's width and their place in it; by device.
struct Position {
  int64_t width = 0;  // 0: in no group
  int64_t position = 0;
};

std::vector<Position> Positions(const std::vector<std::vector<DeviceId>>& groups, int64_t devices) {
  std::vector<Position> positions(static_cast<size_t>(devices));
  for (const std::vector<DeviceId>& group : groups) {
    for (size_t k = 0; k < group.size(); ++k) {
      positions[static_cast<size_t>(group[k].value)] = {static_cast<int64_t>(group.size()),
                                                        static_cast<int64_t>(k)};
    }
  }
  return positions;
}

std::optional<std::string> WhyNotOneDimension(const Shape& full, const Instruction& slice) {
  const std::span<const int64_t> sizes = slice.Ints(Attr::kDynamicSliceSizes);
  int64_t cut = 0;
  for (size_t d = 0; d < sizes.size(); ++d) cut += full.dims[d] != sizes[d] ? 1 : 0;
  if (full.HasDynamicDimensions()) return "Dynamic slice operand has dynamic dimensions.";
  if (cut == 1) return std::nullopt;
  if (cut == 0) return "Dynamic slice takes the whole array.";
  return fmt::format("Dynamic slice is not 1D: it cuts {} dimensions.", cut);
}

// The start in `dimension`, whether starts come one by one or in one vector.
int64_t StartAt(const Value& value, int64_t dimension) {
  const std::vector<int64_t> starts = IntegersOf(value);
  return starts.size() == 1 ? starts[0] : starts[static_cast<size_t>(dimension)];
}

}  // namespace

bool AllReduceDynamicSliceToReduceScatter::IsCandidate(const Instruction& instruction) const {
  return instruction.opcode == Opcode::kDynamicSlice;
}

std::vector<std::vector<DeviceId>> AllReduceDynamicSliceToReduceScatter::GroupsOf(
    const Instruction& all_reduce) const {
  return EffectiveGroups(all_reduce, counts_.replicas, counts_.partitions);
}

bool AllReduceDynamicSliceToReduceScatter::IsOwnShard(int64_t start, int64_t position, int64_t size,
                                                      int64_t full) const {
  return std::clamp<int64_t>(start, 0, full - size) == position * size;
}

AllReduceDynamicSliceToReduceScatter::ComputationFacts&
AllReduceDynamicSliceToReduceScatter::FactsOf(const Site& site) {
  ComputationFacts& facts = facts_[site.computation_index];
  if (facts.users.empty()) {
    facts.users = Users(site.computation());
    facts.under_control = UnderControl(site.computation());
  }
  return facts;
}

std::optional<std::string> AllReduceDynamicSliceToReduceScatter::WhyNot(const Site& site) {
  Reason reason = WhyNotOwnShard(site);
  if (reason || allow_dearer_) return reason;
  const auto source = FindShardSource(site.computation(), site.OperandIndex(0));
  const std::optional<std::string> reader = OtherReaderOf(site, *source);
  if (!reader) return std::nullopt;
  return fmt::format("Keeps the all-reduce, which {} reads too: dearer (allow_dearer overrides).",
                     *reader);
}

AllReduceDynamicSliceToReduceScatter::Reason AllReduceDynamicSliceToReduceScatter::WhyNotOwnShard(
    const Site& site) {
  ComputationFacts& facts = FactsOf(site);
  const auto known = facts.own_shard.find(site.index);
  if (known != facts.own_shard.end()) return known->second;
  return facts.own_shard[site.index] = ComputeOwnShard(site, facts);
}

AllReduceDynamicSliceToReduceScatter::Reason AllReduceDynamicSliceToReduceScatter::ComputeOwnShard(
    const Site& site, ComputationFacts& facts) {
  const auto source = FindShardSource(site.computation(), site.OperandIndex(0));
  if (!source) return source.error();
  const auto under_control = [&](InstructionIndex i) {
    return facts.under_control[static_cast<size_t>(i)];
  };
  if (under_control(site.index) || under_control(source->all_reduce) ||
      std::ranges::any_of(source->links,
                          [&](const ChainLink& l) { return under_control(l.instruction); })) {
    return std::string(kHasControlDependencies);
  }
  const Shape& full = *site.Operand(0).shape;
  if (Reason reason = WhyNotOneDimension(full, site.instruction())) return reason;
  const Instruction& all_reduce = site.At(source->all_reduce);
  const Instruction& operand = site.At(all_reduce.operands[source->output]);
  if (all_reduce.Bool(Attr::kConstrainLayout) &&
      !(HasDefaultLayout(*operand.shape) && HasDefaultLayout(*site.instruction().shape))) {
    return "The all-reduce constrains its layout.";
  }
  return CheckStarts(site, *source, *OneCutDimension(site.computation(), site.instruction()));
}

AllReduceDynamicSliceToReduceScatter::Reason AllReduceDynamicSliceToReduceScatter::CheckStarts(
    const Site& site, const ShardSource& source, const ShardSlice& cut) {
  const int64_t devices = counts_.replicas * counts_.partitions;
  const int64_t full = site.Operand(0).shape->dims[static_cast<size_t>(cut.dimension)];
  const std::vector<Position> positions = Positions(GroupsOf(site.At(source.all_reduce)), devices);
  const Instruction* scalar = StartOperand(site.computation(), site.instruction(), cut.dimension);
  const InstructionIndex start =
      site.OperandIndex(scalar != nullptr ? static_cast<size_t>(cut.dimension) + 1 : size_t{1});
  std::optional<ControlEvaluator> control;  // anew now and then: it remembers every device
  for (int64_t d = 0; d < devices; ++d) {
    if (d % 4096 == 0) control.emplace(site.module, site.computation_index);
    const Position& at = positions[static_cast<size_t>(d)];
    if (at.width == 0) return fmt::format("Device {} is in no replica group.", d);
    if (at.width != positions[0].width) return "Replica groups differ in size.";
    if (at.width * cut.size != full) {
      return fmt::format("Slice size {} times group size {} is not {}, the extent of dimension {}.",
                         cut.size, at.width, full, cut.dimension);
    }
    const ReplicaId replica(d / counts_.partitions);
    const PartitionId partition(d % counts_.partitions);
    const ControlValue& value = control->Evaluate(start, replica, partition);
    if (value.value.empty()) {
      return fmt::format("Start index depends on data ({}).", value.depends_on);
    }
    const int64_t begin = StartAt(value.value, cut.dimension);
    if (!IsOwnShard(begin, at.position, cut.size, full)) {
      return fmt::format(
          "Replica {}, partition {} is member {} of its group but slices from {}, not from {}.",
          replica.value, partition.value, at.position,
          std::clamp<int64_t>(begin, 0, full - cut.size), at.position * cut.size);
    }
  }
  return std::nullopt;
}

std::optional<std::string> AllReduceDynamicSliceToReduceScatter::OtherReader(const Site& site,
                                                                             InstructionIndex at) {
  if (at == site.computation().root) return "the caller";
  for (const InstructionIndex user : FactsOf(site).users[static_cast<size_t>(at)]) {
    const Instruction& instruction = site.At(user);
    if (instruction.opcode == Opcode::kDynamicSlice && instruction.operands[0] == at &&
        std::ranges::count(instruction.operands, at) == 1) {
      if (WhyNotOwnShard({site.module, site.computation_index, user})) {
        return std::string(instruction.name);
      }
      continue;
    }
    const std::optional<ChainLink> link = AsLink(site.computation(), user);
    if (!link || instruction.operands[link->data_operand] != at) {
      return std::string(instruction.name);
    }
    if (std::optional<std::string> reader = OtherReader(site, user)) return reader;
  }
  return std::nullopt;
}

std::optional<std::string> AllReduceDynamicSliceToReduceScatter::OtherReaderOf(
    const Site& site, const ShardSource& source) {
  if (!site.At(source.all_reduce).shape->IsTuple()) return OtherReader(site, source.all_reduce);
  if (source.all_reduce == site.computation().root) return "the caller";
  for (const InstructionIndex user : FactsOf(site).users[static_cast<size_t>(source.all_reduce)]) {
    const Instruction& element = site.At(user);
    if (element.opcode != Opcode::kGetTupleElement) return std::string(element.name);
    if (static_cast<size_t>(element.Int(Attr::kIndex, 0)) != source.output) continue;
    if (std::optional<std::string> reader = OtherReader(site, user)) return reader;
  }
  return std::nullopt;
}

InstructionIndex AllReduceDynamicSliceToReduceScatter::Emit(const ScatterPlan& plan,
                                                            Rebuild* rebuild) {
  return EmitReduceScatter(plan, rebuild);
}

InstructionIndex AllReduceDynamicSliceToReduceScatter::ApplyToShard(const Site& site,
                                                                    const ChainLink& link,
                                                                    InstructionIndex shard,
                                                                    Rebuild* rebuild) {
  ShapeTable& shapes = rebuild->module().context->shapes;
  const Shape& shape = *site.instruction().shape;
  const Instruction& old = site.At(link.instruction);
  std::vector<InstructionIndex> operands;
  for (size_t i = 0; i < old.operands.size(); ++i) {
    const Instruction& operand = site.At(old.operands[i]);
    if (i == link.data_operand) {
      operands.push_back(shard);
    } else if (operand.shape->IsScalar()) {
      operands.push_back(rebuild->Mapped(old.operands[i]));
    } else {
      const InstructionIndex scalar = rebuild->Mapped(operand.operands[0]);
      operands.push_back(rebuild->AddLike(operand, std::span(&scalar, 1),
                                          shapes.WithType(shape, operand.shape->type)));
    }
  }
  return rebuild->AddLike(old, operands, shapes.WithType(shape, old.shape->type));
}

Result<InstructionIndex> AllReduceDynamicSliceToReduceScatter::Expand(const Site& site,
                                                                      Rebuild* rebuild) {
  const ShardSource source = *FindShardSource(site.computation(), site.OperandIndex(0));
  const ShardSlice cut = *OneCutDimension(site.computation(), site.instruction());
  const Instruction& all_reduce = site.At(source.all_reduce);
  const ElementType type = site.At(all_reduce.operands[source.output]).shape->type;
  ShapeTable& shapes = rebuild->module().context->shapes;
  if (all_reduce.shape->IsTuple()) combined_.insert(std::string(all_reduce.name));

  ScatterKey key{site.computation_index, source.all_reduce, source.output, cut.dimension, {}};
  for (const ChainLink& link : source.links) {
    if (link.is_view) std::get<4>(key).push_back(link.instruction);
  }
  auto known = scatters_.find(key);
  if (known == scatters_.end()) {
    ScatterPlan plan;
    plan.all_reduce = &all_reduce;
    plan.operand = rebuild->Mapped(all_reduce.operands[source.output]);
    for (const InstructionIndex view : std::get<4>(key)) {
      const Instruction& old = site.At(view);
      plan.operand =
          rebuild->AddLike(old, std::span(&plan.operand, 1), shapes.WithType(*old.shape, type));
    }
    plan.shape = shapes.WithType(*site.instruction().shape, type);
    plan.dimension = cut.dimension;
    plan.keep_metadata = std::get<4>(key).size() < source.links.size();
    if (all_reduce.Has(Attr::kChannelId)) {
      if (last_channel_id_ == 0) last_channel_id_ = NextChannelId(site.module) - 1;
      plan.channel_id = ++last_channel_id_;
    }
    known = scatters_.emplace(std::move(key), Emit(plan, rebuild)).first;
  }
  InstructionIndex shard = known->second;
  for (const ChainLink& link : source.links) {
    if (!link.is_view) shard = ApplyToShard(site, link, shard, rebuild);
  }
  return shard;
}

void AllReduceDynamicSliceToReduceScatter::Finish(
    Module* module, const std::vector<RewriteDecision>& /*decisions*/) {
  for (const std::string& name : combined_) DropUnreadOperands(module, name);
}

std::unique_ptr<OpExpander> MakeAllReduceDynamicSliceToReduceScatter(const PassContext& context) {
  return std::make_unique<AllReduceDynamicSliceToReduceScatter>(
      context.counts, context.options.at("allow_dearer") == "true");
}

}  // namespace hv
