// Sliding windows over elements of any width: which elements meet which window position. Padding
// and dilation holes contribute nothing. Source: hlo_ops 3.8, 3.9, 3.15.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "eval/combiner.h"
#include "eval/value.h"
#include "hlo/attribute.h"

namespace hv {

// For one dimension and one position k inside the window: the outputs o for which the position
// falls on an input element i, ascending.
struct WindowHit {
  int64_t output, input;
};
// The input that position k of the window of `output` falls on; -1: padding or a dilation hole.
int64_t InputAt(const WindowDim& window, int64_t output, int64_t k, int64_t inputs);
std::vector<WindowHit> HitsOf(const WindowDim& window, int64_t k, int64_t inputs, int64_t outputs);

// All positions of a window over several dimensions, in row-major order.
class WindowWalk {
 public:
  // `input` and `output` sizes per dimension.
  WindowWalk(std::span<const WindowDim> window, std::span<const int64_t> input,
             std::span<const int64_t> output);

  // A row of hits along the last dimension: hits[j] lie at offsets base + hit in both arrays.
  struct Row {
    int64_t output, input;  // offsets of the row
    std::span<const WindowHit> hits;
    // Are both sides contiguous?
    bool IsRun() const;
  };
  // Calls visit(row) -> Status for every row of every window position, positions in row-major
  // order.
  template <class Visit>
  Status ForEachRow(Visit visit) const;
  // Positions inside the window.
  int64_t positions() const { return positions_; }
  // Calls visit(row) for the rows of position number `k` (row-major).
  template <class Visit>
  Status RowsAt(int64_t k, Visit visit) const;

 private:
  std::vector<std::vector<std::vector<WindowHit>>> hits_;  // [dimension][k]
  std::vector<int64_t> sizes_, input_strides_, output_strides_;
  int64_t positions_ = 1;
};

// reduce-window over any combiner; like ReduceWith.
Result<std::vector<Value>> ReduceWindowWith(std::span<const WindowDim> window,
                                            std::span<const Value> inputs,
                                            std::span<const Value> inits,
                                            std::span<const Shape* const> shapes,
                                            Combiner& combiner);

// The window attribute of an instruction over `rank` dimensions (absent: windows of one element).
std::vector<WindowDim> WindowOf(std::span<const WindowDim> attribute, size_t rank);

template <class Visit>
Status WindowWalk::RowsAt(int64_t k, Visit visit) const {
  const size_t rank = sizes_.size();
  std::vector<const std::vector<WindowHit>*> at(rank);
  for (size_t d = rank; d-- > 0; k /= sizes_[d]) {
    at[d] = &hits_[d][static_cast<size_t>(k % sizes_[d])];
    if (at[d]->empty()) return {};
  }
  if (rank == 0) {
    static constexpr WindowHit kOnly{0, 0};
    return visit(Row{0, 0, {&kOnly, 1}});
  }
  std::vector<size_t> index(rank, 0);
  while (true) {
    Row row{0, 0, *at[rank - 1]};
    for (size_t d = 0; d + 1 < rank; ++d) {
      row.output += (*at[d])[index[d]].output * output_strides_[d];
      row.input += (*at[d])[index[d]].input * input_strides_[d];
    }
    HV_RETURN_IF_ERROR(visit(row));
    size_t d = rank - 1;
    while (d-- > 0) {
      if (++index[d] < at[d]->size()) break;
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return {};
  }
}

template <class Visit>
Status WindowWalk::ForEachRow(Visit visit) const {
  for (int64_t k = 0; k < positions_; ++k) HV_RETURN_IF_ERROR(RowsAt(k, visit));
  return {};
}

}  // namespace hv
