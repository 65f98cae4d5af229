// A reduction some of whose summands come by messages: in segments, two of them under way, each
// folded in group order as soon as all summands of it are there. However long the summands are, they
// take the room of two segments, and what is folded is still in the caches.
#pragma once

#include <cstddef>
#include <span>

#include "eval/stream_fold.h"
#include "sim/transport.h"

namespace hv {

inline constexpr size_t kSegmentBytes = size_t{1} << 17;

// Smaller shares travel whole, with all else that travels.
constexpr bool IsWorthSegments(size_t share_bytes) { return share_bytes > kSegmentBytes; }

// In group order; as long as the result.
struct Summand {
  Rank from;
  const std::byte* bytes = nullptr;  // null: `from` sends it
};

// What another rank folds. Summands of one rank go in the order in which it takes them.
struct SentSummand {
  Rank to;
  std::span<const std::byte> bytes;
};

// All ranks concerned call it, for one reduction after the other in the same order. `sent` and `out`
// may differ in length: they are shares of several ranks.
void FoldSegments(Transport* transport, const StreamFold& fold, size_t element_bytes,
                  std::span<const Summand> summands, std::span<std::byte> out,
                  std::span<const SentSummand> sent);

}  // namespace hv
