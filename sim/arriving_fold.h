// A reduction between nodes: each rank folds its shares in segments, as they arrive from other nodes
// (segmented_fold.h), beside what it reads in place.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "eval/stream_fold.h"
#include "sim/fetch.h"
#include "sim/segmented_fold.h"

namespace hv {

class ArrivingFold {
 public:
  // The boxes that each rank with members reduces, one per operand; none where that is no box.
  using Shares = std::map<Rank, std::vector<Part>>;

  // Nothing if the shares are of several types, or the order or the domain is another than that of
  // streams: then all boxes travel whole. The same on all ranks.
  static std::optional<ArrivingFold> Of(RunContext* context, const Placement& placement,
                                        Fetcher* fetcher, size_t number, const Meeting& meeting,
                                        Shares shares);

  ArrivingFold(ArrivingFold&&) = default;
  ArrivingFold& operator=(ArrivingFold&&) = default;

  // All ranks with members begin, and then finish. Not to be moved in between.
  void Begin();
  std::vector<Value> Finish();  // this rank's results, by operand

 private:
  ArrivingFold(RunContext* context, const Placement& placement, Fetcher* fetcher, size_t number,
               const Meeting& meeting, Shares shares, StreamFold fold)
      : context_(context),
        placement_(&placement),
        fetcher_(fetcher),
        number_(number),
        meeting_(&meeting),
        shares_(std::move(shares)),
        fold_(std::move(fold)) {}

  SegmentedFold FoldOf(size_t operand);
  std::vector<FoldedStream> SummandsOf(const Part& share);
  std::vector<SentStream> SentOf(size_t operand);
  std::span<const std::byte> ViewOf(Part part, size_t member);
  bool Travels(size_t member, size_t operand, Rank to) const {
    return fetcher_->Travels(*meeting_, meeting_->members[member], static_cast<int64_t>(operand), to);
  }

  RunContext* context_;
  const Placement* placement_;
  Fetcher* fetcher_;
  size_t number_;
  const Meeting* meeting_;
  Shares shares_;
  StreamFold fold_;
  std::vector<Value> results_, views_;  // while they move
  std::vector<SegmentedFold> folds_;
};

}  // namespace hv
