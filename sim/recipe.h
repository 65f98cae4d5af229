// What a member of a collective receives, as data: for each result leaf a list of boxes of the
// members' operands. One description serves every op, every value domain and every placement: local
// parts are read in place, remote ones are sent as exactly these boxes.
// Source: XLA operation semantics, the collectives; hlo_ops.md section 4.2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "sim/plan.h"

namespace hv {

// The box [starts, starts + sizes) of operand `operand` of member `member`, placed at `at` in the
// result (moves) or taken as a summand (folds).
struct Part {
  int64_t member = 0;
  int64_t operand = 0;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> starts, sizes;
  std::vector<int64_t> at;
};

// Fold: the one part's box of every member, of the result's dims, reduced over the members. Move: later
// parts overwrite earlier ones; without parts the result is zero.
struct LeafRecipe {
  const Shape* shape = nullptr;
  bool fold = false;
  std::vector<Part> parts;
};

// Integers that members hold and everybody concerned must know before data can move (the root of a
// broadcast, ragged offsets and sizes): by member, then by control operand.
using Controls = std::vector<std::vector<std::vector<int64_t>>>;

// All of an operand of a member.
Part WholeOperand(const Collective& collective, int64_t member, int64_t operand);

// First control operand of a collective, or its operand count if it has none.
size_t FirstControl(const Collective& collective);

// Is it a reduction (all-reduce, reduce-scatter)?
bool Reduces(const Collective& collective);

// The box of a reduction's operand that holds exactly what the members at `positions` (ascending) of
// `size` receive of it: the whole operand of an all-reduce, neighbouring blocks of a reduce-scatter.
// Nothing if it is no single box.
std::optional<Part> ShareOf(const Collective& collective, int64_t operand,
                            std::span<const int64_t> positions, int64_t size);

// Do all members of a group receive the same?
bool ResultIsShared(const Collective& collective);

// The leaves that member `position` of `members` devices receives. Errors: a root or an offset that
// lies outside ("undefined-input").
Result<std::vector<LeafRecipe>> RecipeFor(const Collective& collective, int64_t position,
                                          const std::vector<DeviceId>& members,
                                          const Controls& controls);

}  // namespace hv
