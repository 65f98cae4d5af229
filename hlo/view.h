// Movement of data as data: the result of a View op is a list of pieces, each a nest of digits that
// copies elements from one operand. Broadcast, reshape, transpose, slice, pad, concatenate, reverse,
// dynamic-slice and dynamic-update-slice are all of this form. Element-free: sizes depend on the
// rank, never on the element count, so the same pieces drive a block copy, a symbolic map and a byte
// count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"

namespace hv {

// One digit of a mixed-radix index: `extent` values; a step moves `in_stride` elements in the
// operand (0: broadcast, negative: reversed) and `out_stride` > 0 elements in the result.
struct Digit {
  int64_t extent = 1;
  int64_t in_stride = 0;
  int64_t out_stride = 0;
};

// result[out_base + sum(i_k*out_stride_k)] = operand[in_base + sum(i_k*in_stride_k)] for every
// combination of digit values; offsets are row-major element numbers. Digits are ordered by
// descending out_stride, extents are > 1 and neighbours that form one run are fused.
struct Piece {
  int operand = 0;  // operand number, or kZeros
  int64_t in_base = 0;
  int64_t out_base = 0;
  std::vector<Digit> digits;

  static constexpr int kZeros = -1;
};

// Later pieces overwrite earlier ones where they overlap; together they cover the result.
using Pieces = std::vector<Piece>;

// Row-major strides of `dims`.
std::vector<int64_t> RowMajorStrides(std::span<const int64_t> dims);

// Normalises: drops extents of 1, sorts, fuses. A piece with a zero extent is dropped by callers.
void Normalize(Piece* piece);

// The box [starts, starts+sizes) of an array of `dims`, as a piece of operand `operand` that fills a
// result of shape `sizes` from `out_base` on with strides `out_strides`.
Piece BoxPiece(int operand, std::span<const int64_t> dims, std::span<const int64_t> starts,
               std::span<const int64_t> sizes, int64_t out_base,
               std::span<const int64_t> out_strides);

// Concatenation of operands 0..n-1 with equal shape `dims` along `dimension`.
Pieces ConcatenatePieces(std::span<const std::vector<int64_t>> dims, int64_t dimension);

// Pieces of a View op. `operand_shapes` are the operands' shapes (converted callers may differ from
// the instruction's own, e.g. in collectives). `starts` are the clamped starts of dynamic-slice and
// dynamic-update-slice (ClampStarts), empty for the others.
using ViewFn = Pieces (*)(const Instruction& instruction,
                          std::span<const Shape* const> operand_shapes,
                          std::span<const int64_t> starts);

// Clamps each start to [0, dim - size], as dynamic-slice and dynamic-update-slice do. Values of
// unsigned index types above INT64_MAX must come as INT64_MAX.
std::vector<int64_t> ClampStarts(std::span<const int64_t> dims, std::span<const int64_t> sizes,
                                 std::span<const int64_t> starts);

}  // namespace hv
