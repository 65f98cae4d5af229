#include "sim/segmented_fold.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hv {
namespace {

template <class Bytes>
Bytes SegmentOf(Bytes bytes, size_t number) {
  const size_t begin = std::min(number * kSegmentBytes, bytes.size());
  return bytes.subspan(begin, std::min(kSegmentBytes, bytes.size() - begin));
}

}  // namespace

SegmentedFold::SegmentedFold(Transport* transport, const StreamFold* fold, size_t element_bytes,
                             std::vector<FoldedStream> summands, std::span<std::byte> out,
                             std::vector<SentStream> sent)
    : transport_(transport),
      fold_(fold),
      element_bytes_(element_bytes),
      summands_(std::move(summands)),
      out_(out),
      sent_(std::move(sent)) {
  std::map<Rank, int64_t> taken, given;
  size_t arriving = 0, longest = out_.size();
  for (const FoldedStream& summand : summands_) {
    const bool arrives = summand.bytes == nullptr;
    tags_.push_back(arrives ? taken[summand.from]++ : 0);
    arriving += arrives ? 1 : 0;
  }
  for (const SentStream& s : sent_) {
    sent_tags_.push_back(given[s.to]++);
    longest = std::max(longest, s.bytes.size());
  }
  segments_ = (longest + kSegmentBytes - 1) / kSegmentBytes;
  for (size_t n = 0; n < std::min<size_t>(segments_, 2); ++n) {
    turns_[n].room.reset(new std::byte[arriving * SegmentOf(out_, n).size()]);
  }
}

void SegmentedFold::Begin() {
  if (segments_ > 0) Start(0);
}

void SegmentedFold::Finish() {
  for (size_t n = 0; n < segments_; ++n) {
    if (n + 1 < segments_) Start(n + 1);
    TurnOf(n).flight->Wait();
    Fold(n);
  }
}

void SegmentedFold::Start(size_t number) {
  Turn& turn = TurnOf(number);
  turn.streams.clear();
  turn.sends.clear();
  turn.receives.clear();
  const size_t bytes = SegmentOf(out_, number).size();
  std::byte* room = turn.room.get();
  for (size_t k = 0; k < summands_.size(); ++k) {
    const FoldedStream& summand = summands_[k];
    if (summand.bytes != nullptr) {
      turn.streams.push_back(summand.bytes + std::min(number * kSegmentBytes, out_.size()));
      continue;
    }
    turn.streams.push_back(room);
    if (bytes > 0) turn.receives.push_back({summand.from, tags_[k], {room, bytes}});
    room += bytes;
  }
  for (size_t k = 0; k < sent_.size(); ++k) {
    const std::span<const std::byte> segment = SegmentOf(sent_[k].bytes, number);
    if (!segment.empty()) turn.sends.push_back({sent_[k].to, sent_tags_[k], segment});
  }
  turn.flight = transport_->Start(turn.sends, turn.receives);
}

void SegmentedFold::Fold(size_t number) {
  const std::span<std::byte> out = SegmentOf(out_, number);
  if (!out.empty()) fold_->Run(TurnOf(number).streams, out.data(), out.size() / element_bytes_);
}

void FoldSegments(Transport* transport, const StreamFold& fold, size_t element_bytes,
                  std::vector<FoldedStream> summands, std::span<std::byte> out,
                  std::vector<SentStream> sent) {
  SegmentedFold segmented(transport, &fold, element_bytes, std::move(summands), out,
                          std::move(sent));
  segmented.Begin();
  segmented.Finish();
}

}  // namespace hv
