// Which values an integer or pred term can take: an interval by interval arithmetic, exact where no
// step wraps and the whole type where one may. Views do not count.
#pragma once

#include <cstdint>

#include "hlo/element_type.h"

namespace hv {

struct Node;

struct IntegerRange {
  int64_t low = 1, high = 0;  // empty: nothing is known (floats, u64 beyond s64)

  bool known() const { return low <= high; }
  bool IsPoint() const { return low == high; }
  // How many values; at most `limit`.
  int64_t Count(int64_t limit) const {
    const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    return count < static_cast<uint64_t>(limit) ? static_cast<int64_t>(count) + 1 : limit;
  }
};

IntegerRange RangeOfType(ElementType type);

// Of a node whose children have their ranges.
IntegerRange RangeOf(const Node& node);

}  // namespace hv
