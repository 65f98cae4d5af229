#include "sim/collective_plan.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "hlo/op.h"

namespace hv {
namespace {

void AppendDataLeaves(const Shape* shape, std::vector<const Shape*>* leaves) {
  if (shape->IsArray()) leaves->push_back(shape);
  if (!shape->IsTuple()) return;
  for (const Shape* element : shape->elements) AppendDataLeaves(element, leaves);
}

// What a collective yields: for starts the part of the start's shape that its done returns.
const Shape* YieldedShape(const Instruction& instruction) {
  const Shape* shape = instruction.shape;
  switch (instruction.opcode) {
    case Opcode::kAllGatherStart: case Opcode::kCollectivePermuteStart: return shape->elements[1];
    case Opcode::kRecv: return shape->elements[0];
    default: return shape;
  }
}

std::string SignatureOf(const Module& module, const Collective& collective) {
  const Instruction& instruction = *collective.instruction;
  std::string text(ToString(collective.opcode));
  text += '(';
  const bool receives = collective.opcode == Opcode::kRecv;
  for (const Shape* operand : receives ? collective.results : collective.operands) {
    if (text.back() != '(') text += ", ";
    AppendShape(*operand, false, &text);
  }
  text += ')';
  if (const DeviceList* list = instruction.Object<DeviceList>(Attr::kReplicaGroups)) {
    text += " groups ";
    AppendDeviceList(*list, &text);
    text += fmt::format(" {}", ToString(GroupModeOf(instruction)));
  }
  for (int64_t dimension : instruction.Ints(Attr::kDimensions)) {
    text += fmt::format(" dimension {}", dimension);
  }
  if (instruction.Has(Attr::kToApply)) {
    const Computation& reducer = module.At(instruction.Computation(Attr::kToApply));
    text += fmt::format(" reducer {}", ToString(reducer.Root().opcode));
  }
  return text;
}

Collective MakeCollective(const Module& module, const Computation& computation,
                          const Instruction& instruction, GroupingTable* groupings) {
  Collective collective;
  collective.computation = &computation;
  collective.instruction = &instruction;
  collective.opcode = PlainOpcode(instruction.opcode);
  for (InstructionIndex o : instruction.operands) {
    AppendDataLeaves(computation.At(o).shape, &collective.operands);
  }
  collective.result = YieldedShape(instruction);
  if (collective.opcode != Opcode::kSend) collective.results = DataLeaves(collective.result);
  collective.grouping = groupings->Of(instruction);
  collective.channel = instruction.Int(Attr::kChannelId, 0);
  collective.signature = SignatureOf(module, collective);
  return collective;
}

bool SameLeaves(const std::vector<const Shape*>& a, const std::vector<const Shape*>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameShape(*a[i], *b[i])) return false;
  }
  return true;
}

// Gives the sends and recvs of one channel their sites.
class MessageLinks {
 public:
  MessageLinks(ComputationPlan* plan, ModulePlan* module_plan)
      : plan_(plan), module_plan_(module_plan) {}

  void Add(Step* step, bool is_send) {
    Channel& channel = channels_[CollectiveOf(*step).channel];
    (is_send ? channel.sends : channel.recvs).push_back(step);
  }

  void Link() {
    for (auto& [number, channel] : channels_) {
      if (channel.sends.size() == channel.recvs.size()) {
        for (size_t i = 0; i < channel.sends.size(); ++i) {
          LinkPair(channel.sends[i], channel.recvs[i]);
        }
        continue;
      }
      for (Step* step : channel.sends) MatchByChannel(step, number);
      for (Step* step : channel.recvs) MatchByChannel(step, number);
    }
  }

 private:
  struct Channel {
    std::vector<Step*> sends, recvs;
  };

  Collective& CollectiveOf(const Step& step) {
    return module_plan_->collectives[static_cast<size_t>(step.collective)];
  }

  void LinkPair(Step* send, Step* recv) {
    send->site = recv->site = plan_->sites++;
    Collective &s = CollectiveOf(*send), &r = CollectiveOf(*recv);
    s.uniform = r.uniform = s.grouping == r.grouping && MessageFits(s, r);
  }

  void MatchByChannel(Step* step, int64_t channel) {
    step->site = kChannelSite | static_cast<uint64_t>(channel);
    CollectiveOf(*step).by_channel = true;
    CollectiveOf(*step).uniform = false;
  }

  ComputationPlan* plan_;
  ModulePlan* module_plan_;
  std::map<int64_t, Channel> channels_;
};

}  // namespace

std::vector<const Shape*> DataLeaves(const Shape* shape) {
  std::vector<const Shape*> leaves;
  AppendDataLeaves(shape, &leaves);
  return leaves;
}

bool MessageFits(const Collective& a, const Collective& b) {
  const bool a_sends = a.opcode == Opcode::kSend;
  return SameLeaves(a_sends ? a.operands : b.operands, a_sends ? b.results : a.results);
}

void AddCollectives(const Computation& computation, const Module& module, GroupingTable* groupings,
                    ComputationPlan* plan, ModulePlan* module_plan) {
  MessageLinks links(plan, module_plan);
  for (size_t i = 0; i < plan->steps.size(); ++i) {
    Step& step = plan->steps[i];
    if (step.kind != StepKind::kCollective && step.kind != StepKind::kStart) continue;
    const Instruction& instruction = computation.instructions[i];
    step.collective = static_cast<int32_t>(module_plan->collectives.size());
    module_plan->collectives.push_back(
        MakeCollective(module, computation, instruction, groupings));
    if (instruction.opcode == Opcode::kSend || instruction.opcode == Opcode::kRecv) {
      links.Add(&step, instruction.opcode == Opcode::kSend);
    } else {
      step.site = plan->sites++;
    }
  }
  links.Link();
}

}  // namespace hv
