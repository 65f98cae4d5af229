// Pieces of symbolic tensors as sets of offsets: what lies outside of a region, and which pieces
// are parts of one larger piece.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/symbolic_tensor.h"

namespace hv {

// Regions of the offsets in [0, count) that `region` leaves out; at most two more than its digits.
std::vector<Region> ComplementOf(const Region& region, int64_t count);

// Fuses neighbouring digits that run together in the region and in every view.
void FuseDigits(SymbolicPiece* piece);

// Fuses digits and joins pieces that continue one another (same node, one affine view over both),
// in order of their bases.
std::vector<SymbolicPiece> JoinPieces(std::vector<SymbolicPiece> pieces);

}  // namespace hv
