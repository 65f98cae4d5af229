// Copies the pieces of a movement by blocks on the element width, whatever the elements are.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "eval/value.h"
#include "hlo/view.h"

namespace hv {

// Copies one piece; `in` and `out` point at element 0 of operand and result, `width` is 1, 2, 4, 8
// or 16 bytes. The spans do not overlap.
void CopyPiece(const Piece& piece, const std::byte* in, std::byte* out, int width);
// Writes `element` (width bytes) wherever `piece` writes.
void FillPiece(const Piece& piece, const std::byte* element, std::byte* out, int width);

// Does the piece copy all of an array of `count` elements onto itself?
bool IsIdentity(const Piece& piece, int64_t count);

// The value of `shape` that `pieces` make of dense operands of one encoding and width. A lone
// identity shares its operand's storage; an identity below other pieces (dynamic-update-slice) is
// overwritten in place when its handle is the only one. Zeros are all-zero bytes.
Value MovePieces(const Shape* shape, const Pieces& pieces, std::span<Value> operands);
inline Value MovePieces(const Shape* shape, const Pieces& pieces, std::vector<Value> operands) {
  return MovePieces(shape, pieces, std::span(operands));
}

// A value that may be written to: the handle itself if it is the only one, else a copy of the
// storage.
Value Owned(Value value);

// An uninitialised dense value with the encoding and element width of `like`.
Value NewLike(const Value& like, const Shape* shape);

}  // namespace hv
