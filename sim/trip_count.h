// Counters by which while loops stop.
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/module.h"

namespace hv {

// A part of a loop's state that each turn makes `step` greater; the loop goes on while it is below
// `end`, and that alone decides.
struct LoopCounter {
  int64_t part = 0, step = 0, end = 0;

  // Turns from a start of that value; nothing if they are too many to count.
  std::optional<int64_t> TurnsFrom(int64_t start) const;
};

std::optional<LoopCounter> CounterOf(const Module& module, const Instruction& loop);

}  // namespace hv
