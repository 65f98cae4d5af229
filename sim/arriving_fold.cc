#include "sim/arriving_fold.h"

#include <algorithm>

namespace hv {
namespace {

// On every rank?
bool AreOfOneType(const ArrivingFold::Shares& by_rank) {
  return std::all_of(by_rank.begin(), by_rank.end(), [](const auto& entry) {
    const std::vector<Part>& shares = entry.second;
    return !shares.empty() && std::all_of(shares.begin(), shares.end(), [&](const Part& share) {
      return share.type == shares[0].type;
    });
  });
}

}  // namespace

// An operation without a meaning is refused where it is folded as a whole.
std::optional<ArrivingFold> ArrivingFold::Of(RunContext* context, const Placement& placement,
                                             Fetcher* fetcher, size_t number,
                                             const Meeting& meeting, Shares shares) {
  const ReductionOrder order = context->options().order;
  if (!context->domain().IsNative() || !AreOfOneType(shares) ||
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

void ArrivingFold::Begin() {
  const size_t operands = shares_.at(fetcher_->rank()).size();
  for (size_t o = 0; o < operands; ++o) folds_.push_back(FoldOf(o));
  for (SegmentedFold& fold : folds_) fold.Begin();
}

std::vector<Value> ArrivingFold::Finish() {
  for (SegmentedFold& fold : folds_) fold.Finish();
  folds_.clear();
  views_.clear();
  return std::move(results_);
}

// A box of a local or published operand; native ones can always be cut.
std::span<const std::byte> ArrivingFold::ViewOf(Part part, size_t member) {
  part.member = static_cast<int64_t>(member);
  return views_.emplace_back(*fetcher_->View(*meeting_, number_, part)).bytes();
}

SegmentedFold ArrivingFold::FoldOf(size_t operand) {
  const Part& share = shares_.at(fetcher_->rank())[operand];
  Value& result = results_.emplace_back(
      Value::NewNative(context_->module().context->shapes.Array(share.type, share.sizes)));
  return SegmentedFold(context_->options().transport, &fold_,
                       static_cast<size_t>(result.element_bytes()), SummandsOf(share),
                       result.MutableBytes(), SentOf(operand));
}

std::vector<FoldedStream> ArrivingFold::SummandsOf(const Part& share) {
  std::vector<FoldedStream> summands;
  for (size_t k = 0; k < meeting_->members.size(); ++k) {
    const bool arrives = Travels(k, static_cast<size_t>(share.operand), fetcher_->rank());
    summands.push_back({placement_->RankOf(meeting_->members[k].device),
                        arrives ? nullptr : ViewOf(share, k).data()});
  }
  return summands;
}

std::vector<SentStream> ArrivingFold::SentOf(size_t operand) {
  std::vector<SentStream> sent;
  for (const auto& [to, theirs] : shares_) {
    for (size_t k = 0; k < meeting_->members.size(); ++k) {
      if (!fetcher_->IsLocal(meeting_->members[k].device) || !Travels(k, operand, to)) continue;
      sent.push_back({to, ViewOf(theirs[operand], k)});
    }
  }
  return sent;
}

}  // namespace hv
