// The ViewFn of each View op, referenced by the rows of ops_movement.cc.
#pragma once

#include "hlo/view.h"

namespace hv {

Pieces BroadcastPieces(const Instruction&, std::span<const Shape* const>, std::span<const int64_t>);
Pieces ReshapePieces(const Instruction&, std::span<const Shape* const>, std::span<const int64_t>);
Pieces BitcastPieces(const Instruction&, std::span<const Shape* const>, std::span<const int64_t>);
Pieces TransposePieces(const Instruction&, std::span<const Shape* const>, std::span<const int64_t>);
Pieces SlicePieces(const Instruction&, std::span<const Shape* const>, std::span<const int64_t>);
Pieces PadPieces(const Instruction&, std::span<const Shape* const>, std::span<const int64_t>);
Pieces ConcatenateOpPieces(const Instruction&, std::span<const Shape* const>,
                           std::span<const int64_t>);
Pieces ReversePieces(const Instruction&, std::span<const Shape* const>, std::span<const int64_t>);
Pieces DynamicSlicePieces(const Instruction&, std::span<const Shape* const>,
                          std::span<const int64_t>);
Pieces DynamicUpdateSlicePieces(const Instruction&, std::span<const Shape* const>,
                                std::span<const int64_t>);

// Can a bitcast from `from` to `to` be expressed as pieces (equal element width and count, layouts
// that factor)? BitcastPieces CHECKs it.
bool BitcastFactors(const Shape& from, const Shape& to);

}  // namespace hv
