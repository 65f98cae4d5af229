#include "sim/arriving_fold.h"

#include <algorithm>

namespace hv {
namespace {

size_t BytesOf(const Part& part) {
  return static_cast<size_t>(CountElements(part.sizes) * HostBytes(part.type));
}

// Large ones of one type, on every rank?
bool AreWorthSegments(const ArrivingFold::Shares& by_rank) {
  size_t largest = 0;
  for (const auto& [rank, shares] : by_rank) {
    if (shares.empty()) return false;
    for (const Part& share : shares) {
      if (share.type != shares[0].type) return false;
      largest = std::max(largest, BytesOf(share));
    }
  }
  return IsWorthSegments(largest);
}

}  // namespace

// An operation without a meaning is refused where it is folded as a whole.
std::optional<ArrivingFold> ArrivingFold::Of(RunContext* context, const Placement& placement,
                                             Fetcher* fetcher, size_t number,
                                             const Meeting& meeting, Shares shares) {
  const ReductionOrder order = context->options().order;
  if (!context->domain().IsNative() || !AreWorthSegments(shares) ||
      (order != ReductionOrder::kGroup && order != ReductionOrder::kMpi)) {
    return {};
  }
  const Collective& collective = *meeting.collective;
  Result<StreamFold> fold = StreamFold::Make(
      context->module(), collective.instruction->Computation(Attr::kToApply),
      collective.operands[0]->type, context->options().accumulate_wide);
  if (!fold) return {};
  return ArrivingFold(context, placement, fetcher, number, meeting, std::move(shares),
                      std::move(*fold));
}

std::vector<Value> ArrivingFold::Run() {
  std::vector<Value> results;
  for (size_t o = 0; o < shares_.at(fetcher_->rank()).size(); ++o) results.push_back(Fold(o));
  return results;
}

// A box of a local or published operand; native ones can always be cut.
std::span<const std::byte> ArrivingFold::ViewOf(Part part, size_t member) {
  part.member = static_cast<int64_t>(member);
  return views_.emplace_back(*fetcher_->View(*meeting_, number_, part)).bytes();
}

Value ArrivingFold::Fold(size_t operand) {
  const Part& share = shares_.at(fetcher_->rank())[operand];
  const std::vector<Summand> summands = SummandsOf(share);
  const std::vector<SentSummand> sent = SentOf(operand);
  Value result =
      Value::NewNative(context_->module().context->shapes.Array(share.type, share.sizes));
  FoldSegments(context_->options().transport, fold_, static_cast<size_t>(result.element_bytes()),
               summands, result.MutableBytes(), sent);
  views_.clear();
  return result;
}

std::vector<Summand> ArrivingFold::SummandsOf(const Part& share) {
  std::vector<Summand> summands;
  for (size_t k = 0; k < meeting_->members.size(); ++k) {
    const bool arrives = Travels(k, static_cast<size_t>(share.operand), fetcher_->rank());
    summands.push_back({placement_->RankOf(meeting_->members[k].device),
                        arrives ? nullptr : ViewOf(share, k).data()});
  }
  return summands;
}

std::vector<SentSummand> ArrivingFold::SentOf(size_t operand) {
  std::vector<SentSummand> sent;
  for (const auto& [to, theirs] : shares_) {
    for (size_t k = 0; k < meeting_->members.size(); ++k) {
      if (!fetcher_->IsLocal(meeting_->members[k].device) || !Travels(k, operand, to)) continue;
      sent.push_back({to, ViewOf(theirs[operand], k)});
    }
  }
  return sent;
}

}  // namespace hv
