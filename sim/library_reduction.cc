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
