// Which parts of a stretch of memory are free, as offsets; neighbours are one range. First fit: what is
// in use stays together, and what was touched before is used again.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

namespace hv {

class FreeRanges {
 public:
  struct Range {
    size_t begin, end;
  };

  // The first free `bytes`; nothing if there are none in one piece.
  std::optional<size_t> Take(size_t bytes) {
    for (auto it = ranges_.begin(); it != ranges_.end(); ++it) {
      const auto [begin, end] = *it;
      if (end - begin < bytes) continue;
      ranges_.erase(it);
      if (begin + bytes < end) ranges_.emplace(begin + bytes, end);
      return begin;
    }
    return {};
  }

  // Makes the range free; returns the free range that it is now part of.
  Range Give(size_t begin, size_t end) {
    const auto next = ranges_.lower_bound(begin);
    auto at = next;
    if (next != ranges_.end() && next->first == end) {
      end = next->second;
      at = ranges_.erase(next);
    }
    if (at != ranges_.begin() && std::prev(at)->second == begin) {
      std::prev(at)->second = end;
      return {std::prev(at)->first, end};
    }
    ranges_.emplace_hint(at, begin, end);
    return {begin, end};
  }

 private:
  std::map<size_t, size_t> ranges_;  // begin -> end
};

}  // namespace hv
