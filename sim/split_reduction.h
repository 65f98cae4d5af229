// An all-reduce whose operands are worth splitting: every rank reduces one slice of them, in group
// order, and the slices go round. A rank then receives twice the operand, not one from every
// member; an element is reduced once, so the bits are the same on all members and on every
// placement.
#pragma once

#include <optional>
#include <vector>

#include "base/strong_id.h"
#include "sim/recipe.h"

namespace hv {

class SplitReduction {
 public:
  // `ranks`: that hold members, ascending, more than one. Nothing if the operands are small, or
  // have no dimension that gives each rank something.
  static std::optional<SplitReduction> Of(const Collective& collective, std::vector<Rank> ranks);

  const std::vector<Rank>& ranks() const { return ranks_; }
  // The box of operand `operand` that the rank with number `number` reduces; member 0's, any
  // member's.
  Part SliceOf(size_t number, size_t operand) const;

 private:
  SplitReduction(const Collective& collective, std::vector<Rank> ranks)
      : collective_(&collective), ranks_(std::move(ranks)) {}

  const Collective* collective_;
  std::vector<Rank> ranks_;
  std::vector<size_t> dimensions_;  // by operand: which one is split
};

}  // namespace hv
