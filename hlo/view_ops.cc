// Pieces of each View op. Attributes have been validated. Source: XLA operation semantics, Broadcast,
// Reshape, Transpose, Slice, Pad, Concatenate, Rev, DynamicSlice, DynamicUpdateSlice.
#include "hlo/view_ops.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/check.h"

namespace hv {
namespace {

Pieces One(Piece piece, int64_t element_count) {
  if (element_count == 0) return {};
  Normalize(&piece);
  return {std::move(piece)};
}

Piece Whole(int operand, int64_t element_count) {
  Piece piece{operand, 0, 0, {{element_count, 1, 1}}};
  Normalize(&piece);
  return piece;
}

// One digit of memory: `extent` values, `stride` elements apart in the row-major order of a shape.
struct MemoryDigit {
  int64_t extent;
  int64_t stride;
};

// The digits of a shape from the fastest in memory to the slowest, each with its logical stride;
// neighbours that follow each other in both orders are one digit.
std::vector<MemoryDigit> MemoryDigits(const Shape& shape) {
  const std::vector<int64_t> strides = RowMajorStrides(shape.dims);
  std::vector<MemoryDigit> digits;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    const int64_t d = shape.minor_to_major.empty()
                          ? shape.rank() - 1 - k
                          : shape.minor_to_major[static_cast<size_t>(k)];
    const MemoryDigit digit{shape.dims[static_cast<size_t>(d)], strides[static_cast<size_t>(d)]};
    if (digit.extent == 1) continue;
    if (!digits.empty() && digit.stride == digits.back().extent * digits.back().stride) {
      digits.back().extent *= digit.extent;
    } else {
      digits.push_back(digit);
    }
  }
  return digits;
}

// Walks the memory of both shapes from the fastest digit on, splitting digits where extents divide.
std::optional<Piece> BitcastPiece(const Shape& from, const Shape& to) {
  std::vector<MemoryDigit> in = MemoryDigits(from), out = MemoryDigits(to);
  Piece piece;
  size_t i = 0, o = 0;
  while (i < in.size() && o < out.size()) {
    const int64_t extent = std::min(in[i].extent, out[o].extent);
    if (in[i].extent % extent != 0 || out[o].extent % extent != 0) return std::nullopt;
    piece.digits.push_back({extent, in[i].stride, out[o].stride});
    for (auto [digits, at] : {std::pair{&in, &i}, std::pair{&out, &o}}) {
      MemoryDigit& digit = (*digits)[*at];
      digit = {digit.extent / extent, digit.stride * extent};
      if (digit.extent == 1) ++*at;
    }
  }
  Normalize(&piece);
  return piece;
}

std::vector<int64_t> Zeros(size_t rank) { return std::vector<int64_t>(rank, 0); }

// The part of one padded dimension that holds operand elements: first operand index, how many, and
// where the first lands in the result.
struct PadRange {
  int64_t first = 0, count = 0, position = 0;
};

PadRange RangeOf(const PaddingDim& padding, int64_t size, int64_t result_size) {
  const int64_t step = padding.interior + 1;
  PadRange range;
  if (padding.low < 0) range.first = (-padding.low + step - 1) / step;
  range.position = padding.low + range.first * step;
  if (range.first >= size || range.position >= result_size) return range;
  range.count = std::min(size - range.first, (result_size - 1 - range.position) / step + 1);
  return range;
}

}  // namespace

Pieces BroadcastPieces(const Instruction& instruction, std::span<const Shape* const> operands,
                       std::span<const int64_t>) {
  const std::span<const int64_t> dims = instruction.shape->dims;
  const std::vector<int64_t> out = RowMajorStrides(dims), in = RowMajorStrides(operands[0]->dims);
  Piece piece;
  for (size_t d = 0; d < dims.size(); ++d) piece.digits.push_back({dims[d], 0, out[d]});
  const std::span<const int64_t> mapping = instruction.Ints(Attr::kDimensions);
  for (size_t k = 0; k < mapping.size(); ++k) {
    piece.digits[static_cast<size_t>(mapping[k])].in_stride = in[k];
  }
  return One(std::move(piece), instruction.shape->element_count);
}

Pieces ReshapePieces(const Instruction& instruction, std::span<const Shape* const>,
                     std::span<const int64_t>) {
  const int64_t count = instruction.shape->element_count;
  return count == 0 ? Pieces{} : Pieces{Whole(0, count)};
}

bool BitcastFactors(const Shape& from, const Shape& to) {
  if (!from.IsArray() || !to.IsArray() || from.element_count != to.element_count) return false;
  if (HostBytes(from.type) != HostBytes(to.type)) return false;
  return from.element_count == 0 || BitcastPiece(from, to).has_value();
}

Pieces BitcastPieces(const Instruction& instruction, std::span<const Shape* const> operands,
                     std::span<const int64_t>) {
  if (instruction.shape->element_count == 0) return {};
  std::optional<Piece> piece = BitcastPiece(*operands[0], *instruction.shape);
  HV_CHECK(piece.has_value(), "bitcast between layouts that do not factor");
  return {*std::move(piece)};
}

Pieces TransposePieces(const Instruction& instruction, std::span<const Shape* const> operands,
                       std::span<const int64_t>) {
  const std::span<const int64_t> permutation = instruction.Ints(Attr::kDimensions);
  const std::vector<int64_t> in = RowMajorStrides(operands[0]->dims);
  const std::vector<int64_t> out = RowMajorStrides(instruction.shape->dims);
  Piece piece;
  for (size_t d = 0; d < permutation.size(); ++d) {
    piece.digits.push_back(
        {instruction.shape->dims[d], in[static_cast<size_t>(permutation[d])], out[d]});
  }
  return One(std::move(piece), instruction.shape->element_count);
}

Pieces SlicePieces(const Instruction& instruction, std::span<const Shape* const> operands,
                   std::span<const int64_t>) {
  const std::span<const SliceDim> slice = instruction.List<SliceDim>(Attr::kSlice);
  const std::vector<int64_t> in = RowMajorStrides(operands[0]->dims);
  const std::vector<int64_t> out = RowMajorStrides(instruction.shape->dims);
  Piece piece;
  for (size_t d = 0; d < slice.size(); ++d) {
    piece.in_base += slice[d].start * in[d];
    piece.digits.push_back({instruction.shape->dims[d], in[d] * slice[d].stride, out[d]});
  }
  return One(std::move(piece), instruction.shape->element_count);
}

Pieces PadPieces(const Instruction& instruction, std::span<const Shape* const> operands,
                 std::span<const int64_t>) {
  const int64_t count = instruction.shape->element_count;
  if (count == 0) return {};
  Piece fill{1, 0, 0, {{count, 0, 1}}};
  Normalize(&fill);
  const std::span<const PaddingDim> padding = instruction.List<PaddingDim>(Attr::kPadding);
  const std::vector<int64_t> in = RowMajorStrides(operands[0]->dims);
  const std::vector<int64_t> out = RowMajorStrides(instruction.shape->dims);
  Piece piece;
  for (size_t d = 0; d < padding.size(); ++d) {
    const PadRange range =
        RangeOf(padding[d], operands[0]->dims[d], instruction.shape->dims[d]);
    if (range.count == 0) return {fill};
    piece.in_base += range.first * in[d];
    piece.out_base += range.position * out[d];
    piece.digits.push_back({range.count, in[d], out[d] * (padding[d].interior + 1)});
  }
  Normalize(&piece);
  return {fill, piece};
}

Pieces ConcatenateOpPieces(const Instruction& instruction, std::span<const Shape* const> operands,
                           std::span<const int64_t>) {
  std::vector<std::vector<int64_t>> dims;
  for (const Shape* operand : operands) dims.emplace_back(operand->dims.begin(), operand->dims.end());
  return ConcatenatePieces(dims, instruction.Ints(Attr::kDimensions)[0]);
}

Pieces ReversePieces(const Instruction& instruction, std::span<const Shape* const> operands,
                     std::span<const int64_t>) {
  const std::span<const int64_t> dims = operands[0]->dims;
  const std::vector<int64_t> strides = RowMajorStrides(dims);
  Piece piece;
  for (size_t d = 0; d < dims.size(); ++d) piece.digits.push_back({dims[d], strides[d], strides[d]});
  for (const int64_t d : instruction.Ints(Attr::kDimensions)) {
    Digit& digit = piece.digits[static_cast<size_t>(d)];
    piece.in_base += (digit.extent - 1) * digit.in_stride;
    digit.in_stride = -digit.in_stride;
  }
  return One(std::move(piece), instruction.shape->element_count);
}

Pieces DynamicSlicePieces(const Instruction& instruction, std::span<const Shape* const> operands,
                          std::span<const int64_t> starts) {
  if (instruction.shape->element_count == 0) return {};
  return {BoxPiece(0, operands[0]->dims, starts, instruction.shape->dims, 0,
                   RowMajorStrides(instruction.shape->dims))};
}

Pieces DynamicUpdateSlicePieces(const Instruction& instruction,
                                std::span<const Shape* const> operands,
                                std::span<const int64_t> starts) {
  if (instruction.shape->element_count == 0) return {};
  Pieces pieces{Whole(0, instruction.shape->element_count)};
  if (operands[1]->element_count == 0) return pieces;
  const std::vector<int64_t> out = RowMajorStrides(operands[0]->dims);
  const int64_t base = std::inner_product(starts.begin(), starts.end(), out.begin(), int64_t{0});
  pieces.push_back(BoxPiece(1, operands[1]->dims, Zeros(starts.size()), operands[1]->dims, base, out));
  return pieces;
}

}  // namespace hv
