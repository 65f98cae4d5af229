#include "sim/library_reduction.h"

#include <algorithm>
#include <cstring>

#include "sim/reduction.h"

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
  if (collective.opcode != Opcode::kAllReduce && collective.opcode != Opcode::kReduceScatter) {
    return false;
  }
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

Result<std::vector<Value>> ReduceByLibrary(RunContext* context, const Placement& placement,
                                           const Fetcher& fetcher, size_t number,
                                           const Meeting& meeting) {
  const Collective& collective = *meeting.collective;
  const Reducer reducer = RecognizeReducer(context->module(), ReducerOf(meeting));
  std::vector<Value> reduced;
  for (size_t o = 0; o < collective.operands.size(); ++o) {
    std::vector<Value> values;
    for (size_t k = 0; k < meeting.members.size(); ++k) {
      if (!fetcher.IsLocal(meeting.members[k].device)) continue;
      values.push_back(fetcher.Find(
          meeting, number,
          WholeOperand(collective, static_cast<int64_t>(k), static_cast<int64_t>(o))));
    }
    HV_ASSIGN(const Value folded, FoldMembers(context->module(), ReducerOf(meeting),
                                              std::move(values), context->options(), 0));
    Value sum = Value::NewNative(collective.operands[o]);
    const std::span<std::byte> bytes = sum.MutableBytes();
    if (!bytes.empty()) std::memcpy(bytes.data(), folded.bytes().data(), bytes.size());
    context->options().transport->Reduce(bytes, collective.operands[o]->type, reducer.fn,
                                         RanksOf(placement, meeting));
    reduced.push_back(std::move(sum));
  }
  return reduced;
}

}  // namespace hv
