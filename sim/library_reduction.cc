#include "sim/library_reduction.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/recipe.h"

namespace hv {
namespace {

std::vector<Rank> RanksOf(const Placement& placement, const Meeting& meeting) {
  std::vector<Rank> ranks;
  for (const Meeting::Member& member : meeting.members) {
    ranks.push_back(placement.RankOf(member.device));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

ComputationIndex ReducerOf(const Meeting& meeting) {
  return meeting.collective->instruction->Computation(Attr::kToApply);
}

}  // namespace

bool ReducedByLibrary(const RunContext& context, const Placement& placement,
                      const Meeting& meeting) {
  const Collective& collective = *meeting.collective;
  if (context.options().order != ReductionOrder::kMpi) return false;
  if (!Reduces(collective)) return false;
  if (RanksOf(placement, meeting).size() < 2) return false;
  const Reducer reducer = RecognizeReducer(context.module(), ReducerOf(meeting));
  for (const Meeting::Member& member : meeting.members) {
    if (member.encodings.find_first_not_of(kNativeOperand) != std::string::npos) return false;
  }
  const Transport& transport = *context.options().transport;
  return std::all_of(collective.operands.begin(), collective.operands.end(),
                     [&](const Shape* operand) {
                       return reducer.element == operand->type &&
                              transport.CanReduce(operand->type, reducer.fn);
                     });
}

std::vector<std::string> KeptInGroupOrder(const Module& module, const Transport& transport) {
  if (transport.size() < 2) return {"one rank: every reduction keeps the group order"};
  std::vector<std::string> kept;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const Opcode opcode = instruction.opcode;
      if (opcode != Opcode::kAllReduce && opcode != Opcode::kAllReduceStart &&
          opcode != Opcode::kReduceScatter) {
        continue;
      }
      const Reducer reducer = RecognizeReducer(module, instruction.Computation(Attr::kToApply));
      for (const InstructionIndex operand : instruction.operands) {
        const ElementType type = computation.At(operand).shape->type;
        if (reducer.element == type && transport.CanReduce(type, reducer.fn)) continue;
        kept.push_back(std::string(instruction.name) + " of " + std::string(ToString(type)) +
                       " keeps the group order: the MPI library has no such reduction");
        break;
      }
    }
  }
  return kept;
}

Value ReduceByLibrary(const RunContext& context, const Placement& placement, const Meeting& meeting,
                      const Value& folded) {
  Value sum = Value::NewNative(folded.shape());
  const std::span<std::byte> bytes = sum.MutableBytes();
  if (!bytes.empty()) std::memcpy(bytes.data(), folded.bytes().data(), bytes.size());
  context.options().transport->Reduce(
      bytes, folded.shape()->type, RecognizeReducer(context.module(), ReducerOf(meeting)).fn,
      RanksOf(placement, meeting));
  return sum;
}

}  // namespace hv
