// convolution over any ring: which products meet in which sum, in the order of the language.
// Source: hlo_ops 3.15.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "eval/value.h"
#include "hlo/module.h"

namespace hv {

// Not one of the back ends' backward kinds, which relate the shapes in another way.
bool IsForward(const Instruction& convolution);

// A convolution with its operands permuted into one order of dimensions.
struct ArrangedConvolution {
  // Operands of one width; `shape` is the result's (its element type may have another width).
  ArrangedConvolution(const Instruction& convolution, const Shape* shape, const Value& lhs,
                      const Value& rhs);
  bool HasProducts() const { return lhs.element_count() > 0 && rhs.element_count() > 0; }
  int64_t groups() const { return feature_groups * batch_groups; }
  // Features that one group takes and gives.
  int64_t group_in() const { return rhs_dims[rhs_dims.size() - 2]; }
  int64_t group_out() const { return rhs_dims.back() / groups(); }
  // Where group g begins in a row of input features, and its batch 0 among the batches.
  int64_t FirstFeature(int64_t g) const { return feature_groups > 1 ? g * group_in() : 0; }
  int64_t FirstBatch(int64_t g) const { return batch_groups > 1 ? g * out_dims[0] : 0; }
  // Sizes of the dimensions in space.
  std::span<const int64_t> InputSpace() const { return Space(lhs_dims); }
  std::span<const int64_t> OutputSpace() const { return Space(out_dims); }
  // An unfilled result in the order of out_dims, and the result in its own order.
  Value NewResult() const;
  Value InOwnOrder(const Value& result) const;

  Value lhs, rhs;  // [batch, space.., feature] and [space.., in, out]
  std::vector<int64_t> lhs_dims, rhs_dims, out_dims;
  std::vector<WindowDim> window;
  int64_t feature_groups, batch_groups;

 private:
  std::span<const int64_t> Space(const std::vector<int64_t>& dims) const {
    return std::span(dims).subspan(1, window.size());
  }
  const Shape* shape_;
  std::vector<int64_t> out_order_;
};

// Where window position number k (row-major) stands in the kernel: reversed dimensions read it
// backwards.
int64_t KernelPosition(std::span<const WindowDim> window, int64_t k);

// sums[i] += factor * row[i].
using MultiplyAddFn = std::function<void(const std::byte* factor, const std::byte* row,
                                         std::byte* sums, size_t count)>;

// Sums start from all-zero bytes and take window positions in row-major order, input features
// inside.
Value ConvolveWith(const ArrangedConvolution& x, const MultiplyAddFn& multiply_add);

// The same sums of f32, f64 or u64 (any 64-bit integers), by tiles of many outputs at once.
Value ConvolveByTiles(const ArrangedConvolution& x);

}  // namespace hv
