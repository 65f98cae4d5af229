#include "verify/loop_messages.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace hv {
namespace {

bool IsMessage(Opcode opcode) {
  return opcode == Opcode::kSend || opcode == Opcode::kRecv || opcode == Opcode::kSendDone ||
         opcode == Opcode::kRecvDone;
}

// What `loop` waits for (forwards false) or what waits for it, itself included.
std::vector<bool> Connected(const Computation& computation, InstructionIndex loop, bool forwards) {
  const auto count = static_cast<InstructionIndex>(computation.instructions.size());
  std::vector<bool> reached(computation.instructions.size(), false);
  const auto at = [&](InstructionIndex i) { return reached[static_cast<size_t>(i)]; };
  reached[static_cast<size_t>(loop)] = true;
  // A control predecessor may stand behind its successor in the text.
  for (bool changed = true; changed;) {
    changed = false;
    for (InstructionIndex i = 0; i < count; ++i) {
      const Instruction& user = computation.At(i);
      for (const auto& edges : {user.operands, user.ControlPredecessors()}) {
        for (const InstructionIndex o : edges) {
          const InstructionIndex from = forwards ? o : i, to = forwards ? i : o;
          if (!at(from) || at(to)) continue;
          reached[static_cast<size_t>(to)] = changed = true;
        }
      }
    }
  }
  return reached;
}

// Are all messages of a channel made before the loop, or all behind it?
bool MessagesAvoid(const Computation& computation, InstructionIndex loop) {
  const std::vector<bool> before = Connected(computation, loop, false);
  const std::vector<bool> behind = Connected(computation, loop, true);
  std::map<int64_t, std::set<bool>> sides;  // by channel
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (!IsMessage(instruction.opcode)) continue;
    if (before[i] == behind[i]) return false;
    sides[instruction.Int(Attr::kChannelId, 0)].insert(before[i]);
  }
  return std::all_of(sides.begin(), sides.end(),
                     [](const auto& entry) { return entry.second.size() == 1; });
}

}  // namespace

bool MessagesStayApart(const Module& module, const ModulePlan& plan) {
  std::set<const Computation*> parts = {&module.Entry()};
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode != Opcode::kWhile) continue;
      parts.insert(&module.At(instruction.Computation(Attr::kBody)));
    }
  }
  const auto sends = [](const Instruction& i) { return IsMessage(i.opcode); };
  for (const Computation& computation : module.computations) {
    const std::vector<Instruction>& all = computation.instructions;
    if (std::none_of(all.begin(), all.end(), sends)) continue;
    if (parts.count(&computation) == 0) return false;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].opcode != Opcode::kWhile) continue;
      if (!MessagesAvoid(computation, static_cast<InstructionIndex>(i))) return false;
    }
  }
  return std::none_of(plan.collectives.begin(), plan.collectives.end(),
                      [](const Collective& collective) { return collective.by_channel; });
}

}  // namespace hv
