// Digits, boxes and concatenations. Source: XLA operation semantics.
#include "hlo/view.h"

#include <algorithm>

#include "base/check.h"

namespace hv {

std::vector<int64_t> RowMajorStrides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(dims[d], 1);
  }
  return strides;
}

void Normalize(Piece* piece) {
  std::vector<Digit>& digits = piece->digits;
  std::erase_if(digits, [](const Digit& d) { return d.extent == 1; });
  std::stable_sort(digits.begin(), digits.end(),
                   [](const Digit& a, const Digit& b) { return a.out_stride > b.out_stride; });
  std::vector<Digit> fused;
  for (const Digit& d : digits) {
    if (!fused.empty() && fused.back().out_stride == d.extent * d.out_stride &&
        fused.back().in_stride == d.extent * d.in_stride) {
      fused.back() = {fused.back().extent * d.extent, d.in_stride, d.out_stride};
    } else {
      fused.push_back(d);
    }
  }
  digits = std::move(fused);
}

Piece BoxPiece(int operand, std::span<const int64_t> dims, std::span<const int64_t> starts,
               std::span<const int64_t> sizes, int64_t out_base,
               std::span<const int64_t> out_strides) {
  const std::vector<int64_t> in_strides = RowMajorStrides(dims);
  Piece piece{operand, 0, out_base, {}};
  for (size_t d = 0; d < dims.size(); ++d) {
    piece.in_base += starts[d] * in_strides[d];
    piece.digits.push_back({sizes[d], in_strides[d], out_strides[d]});
  }
  Normalize(&piece);
  return piece;
}

Pieces ConcatenatePieces(std::span<const std::vector<int64_t>> dims, int64_t dimension) {
  const size_t along = static_cast<size_t>(dimension);
  std::vector<int64_t> result = dims[0];
  result[along] = 0;
  for (const std::vector<int64_t>& d : dims) result[along] += d[along];
  const std::vector<int64_t> out_strides = RowMajorStrides(result);
  const std::vector<int64_t> zeros(result.size(), 0);
  Pieces pieces;
  int64_t position = 0;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (CountElements(dims[k]) > 0) {
      pieces.push_back(BoxPiece(static_cast<int>(k), dims[k], zeros, dims[k],
                                position * out_strides[along], out_strides));
    }
    position += dims[k][along];
  }
  return pieces;
}

std::vector<int64_t> ClampStarts(std::span<const int64_t> dims, std::span<const int64_t> sizes,
                                 std::span<const int64_t> starts) {
  std::vector<int64_t> clamped(starts.begin(), starts.end());
  for (size_t d = 0; d < clamped.size(); ++d) {
    clamped[d] = std::clamp<int64_t>(clamped[d], 0, std::max<int64_t>(dims[d] - sizes[d], 0));
  }
  return clamped;
}

}  // namespace hv
