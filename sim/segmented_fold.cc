#include "sim/segmented_fold.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

namespace hv {
namespace {

class SegmentedFold {
 public:
  SegmentedFold(Transport* transport, const StreamFold& fold, size_t element_bytes,
                std::span<const Summand> summands, std::span<std::byte> out,
                std::span<const SentSummand> sent)
      : transport_(*transport),
        fold_(fold),
        element_bytes_(element_bytes),
        summands_(summands),
        out_(out),
        sent_(sent) {
    std::map<Rank, int64_t> taken, given;
    size_t arriving = 0, longest = out_.size();
    for (const Summand& summand : summands) {
      const bool arrives = summand.bytes == nullptr;
      tags_.push_back(arrives ? taken[summand.from]++ : 0);
      arriving += arrives ? 1 : 0;
    }
    for (const SentSummand& s : sent) {
      sent_tags_.push_back(given[s.to]++);
      longest = std::max(longest, s.bytes.size());
    }
    segments_ = (longest + kSegmentBytes - 1) / kSegmentBytes;
    for (size_t n = 0; n < std::min<size_t>(segments_, 2); ++n) {
      turns_[n].room.reset(new std::byte[arriving * SegmentOf(out_, n).size()]);
    }
  }

  void Run() {
    if (segments_ > 0) Start(0);
    for (size_t n = 0; n < segments_; ++n) {
      if (n + 1 < segments_) Start(n + 1);
      TurnOf(n).flight->Wait();
      Fold(n);
    }
  }

 private:
  // Of the two segments under way.
  struct Turn {
    std::unique_ptr<std::byte[]> room;  // not initialised
    std::vector<const std::byte*> streams;
    std::vector<OutgoingMessage> sends;
    std::vector<IncomingMessage> receives;
    std::unique_ptr<Transport::Flight> flight;
  };
  Turn& TurnOf(size_t segment) { return turns_[segment % 2]; }

  template <class Bytes>
  static Bytes SegmentOf(Bytes bytes, size_t number) {
    const size_t begin = std::min(number * kSegmentBytes, bytes.size());
    return bytes.subspan(begin, std::min(kSegmentBytes, bytes.size() - begin));
  }

  void Start(size_t number) {
    Turn& turn = TurnOf(number);
    turn.streams.clear();
    turn.sends.clear();
    turn.receives.clear();
    const size_t bytes = SegmentOf(out_, number).size();
    std::byte* room = turn.room.get();
    for (size_t k = 0; k < summands_.size(); ++k) {
      const Summand& summand = summands_[k];
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
    turn.flight = transport_.Start(turn.sends, turn.receives);
  }

  void Fold(size_t number) {
    const std::span<std::byte> out = SegmentOf(out_, number);
    if (!out.empty()) fold_.Run(TurnOf(number).streams, out.data(), out.size() / element_bytes_);
  }

  Transport& transport_;
  const StreamFold& fold_;
  const size_t element_bytes_;
  std::span<const Summand> summands_;
  std::span<std::byte> out_;
  std::span<const SentSummand> sent_;
  std::vector<int64_t> tags_, sent_tags_;  // the n-th of a rank matches the n-th for it
  size_t segments_ = 0;
  Turn turns_[2];
};

}  // namespace

void FoldSegments(Transport* transport, const StreamFold& fold, size_t element_bytes,
                  std::span<const Summand> summands, std::span<std::byte> out,
                  std::span<const SentSummand> sent) {
  SegmentedFold(transport, fold, element_bytes, summands, out, sent).Run();
}

}  // namespace hv
