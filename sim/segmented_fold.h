// A reduction some of whose summands come by messages: in segments, two of them under way, each
// folded in group order as soon as all summands of it are there. However long the summands are, they
// take the room of two segments, and what is folded is still in the caches.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "eval/stream_fold.h"
#include "sim/transport.h"

namespace hv {

inline constexpr size_t kSegmentBytes = size_t{1} << 17;

// In group order; as long as the result.
struct FoldedStream {
  Rank from;
  const std::byte* bytes = nullptr;  // null: `from` sends it
};

// What another rank folds. Summands of one rank go in the order in which it takes them.
struct SentStream {
  Rank to;
  std::span<const std::byte> bytes;
};

// On all ranks concerned, which begin their reductions in the same order, and finish them in the
// same order. `sent` and `out` may differ in length: they are shares of several ranks.
class SegmentedFold {
 public:
  // What is referred to stays until Finish.
  SegmentedFold(Transport* transport, const StreamFold* fold, size_t element_bytes,
                std::vector<FoldedStream> summands, std::span<std::byte> out,
                std::vector<SentStream> sent);

  void Begin();  // the first segment is on its way
  void Finish();

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
  void Start(size_t number);
  void Fold(size_t number);

  Transport* transport_;
  const StreamFold* fold_;
  size_t element_bytes_;
  std::vector<FoldedStream> summands_;
  std::span<std::byte> out_;
  std::vector<SentStream> sent_;
  std::vector<int64_t> tags_, sent_tags_;  // the n-th of a rank matches the n-th for it
  size_t segments_ = 0;
  Turn turns_[2];
};

// One of them alone.
void FoldSegments(Transport* transport, const StreamFold& fold, size_t element_bytes,
                  std::vector<FoldedStream> summands, std::span<std::byte> out,
                  std::vector<SentStream> sent);

}  // namespace hv
