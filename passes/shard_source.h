// Finds the all-reduce behind a dynamic-slice. Between the two may stand instructions with which
// the slice, or the reduction, commutes: views of the whole array (reshape, transpose, copy,
// bitcast), which can as well be taken of the all-reduce's operand, and elementwise ops whose other
// operands hold one value everywhere (a mean's division), which can as well be applied to the
// shard.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"

namespace hv {

struct ChainLink {
  InstructionIndex instruction = -1;
  size_t data_operand = 0;  // the operand that comes from the all-reduce
  bool is_view = false;
};

struct ShardSource {
  InstructionIndex all_reduce = -1;
  size_t output = 0;             // which operand of a combined all-reduce
  std::vector<ChainLink> links;  // from the all-reduce to the slice
};

// The same value at every position: a scalar, or the broadcast of one.
bool IsSplat(const Computation& computation, const Instruction& instruction);

// How `instruction` takes part in a chain; nothing if it cannot.
std::optional<ChainLink> AsLink(const Computation& computation, InstructionIndex instruction);

// What the array `from` is made of, or (as text) why that is no all-reduce.
tl::expected<ShardSource, std::string> FindShardSource(const Computation& computation,
                                                       InstructionIndex from);

}  // namespace hv
