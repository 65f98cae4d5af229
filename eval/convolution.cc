// Operands are permuted to [batch, space.., feature] and [space.., in, out]; then each result row
// over the output features is a sequence of scaled kernel rows.
#include "eval/convolution.h"

#include <cstring>
#include <vector>

#include "eval/move.h"
#include "eval/odometer.h"
#include "eval/window.h"

namespace hv {
namespace {

std::vector<int64_t> DimsOf(const Shape& shape, std::span<const int64_t> order) {
  std::vector<int64_t> dims;
  for (const int64_t d : order) dims.push_back(shape.dims[static_cast<size_t>(d)]);
  return dims;
}

// `value` with dimensions in the order listed, or (inverse) back from that order.
Value Permuted(const Value& value, const Shape& shape, std::span<const int64_t> order,
               bool inverse) {
  const std::vector<int64_t> strides = RowMajorStrides(shape.dims);
  const std::vector<int64_t> dims = DimsOf(shape, order);
  const std::vector<int64_t> packed = RowMajorStrides(dims);
  Piece piece;
  for (size_t k = 0; k < order.size(); ++k) {
    const int64_t own = strides[static_cast<size_t>(order[k])];
    piece.digits.push_back({dims[k], inverse ? packed[k] : own, inverse ? own : packed[k]});
  }
  Normalize(&piece);
  Pieces pieces;
  if (value.element_count() > 0) pieces.push_back(piece);
  return MovePieces(value.shape(), pieces, {value});
}

std::vector<int64_t> Order(int64_t first, std::span<const int64_t> space, int64_t last) {
  std::vector<int64_t> order = {first};
  order.insert(order.end(), space.begin(), space.end());
  order.push_back(last);
  return order;
}

class Convolver {
 public:
  Convolver(const Instruction& convolution, const Shape* shape, const Value& lhs, const Value& rhs,
            const MultiplyAddFn& multiply_add)
      : dims_(*convolution.Object<ConvDims>(Attr::kDimLabels)),
        shape_(shape),
        multiply_add_(multiply_add),
        feature_groups_(convolution.Int(Attr::kFeatureGroupCount, 1)),
        batch_groups_(convolution.Int(Attr::kBatchGroupCount, 1)),
        window_(WindowOf(convolution.List<WindowDim>(Attr::kWindow), dims_.input_spatial.size())) {
    const std::vector<int64_t> lhs_order =
        Order(dims_.input_batch, dims_.input_spatial, dims_.input_feature);
    std::vector<int64_t> rhs_order(dims_.kernel_spatial.begin(), dims_.kernel_spatial.end());
    rhs_order.push_back(dims_.kernel_input);
    rhs_order.push_back(dims_.kernel_output);
    lhs_ = Permuted(lhs, *lhs.shape(), lhs_order, false);
    rhs_ = Permuted(rhs, *rhs.shape(), rhs_order, false);
    lhs_dims_ = DimsOf(*lhs.shape(), lhs_order);
    rhs_dims_ = DimsOf(*rhs.shape(), rhs_order);
    out_order_ = Order(dims_.output_batch, dims_.output_spatial, dims_.output_feature);
    out_dims_ = DimsOf(*shape, out_order_);
  }

  Value Run() {
    Value packed = NewLike(lhs_, shape_);
    if (packed.element_count() == 0) return packed;
    out_ = packed.MutableBytes().data();
    std::memset(out_, 0, packed.bytes().size());
    if (lhs_.element_count() > 0 && rhs_.element_count() > 0) AllPositions();
    return Permuted(packed, *shape_, out_order_, true);
  }

 private:
  static std::span<const int64_t> Space(const std::vector<int64_t>& dims, size_t first,
                                        size_t count) {
    return std::span(dims).subspan(first, count);
  }

  // Kernel positions row-major outside: that is the order of each sum.
  void AllPositions() {
    const size_t rank = window_.size();
    const WindowWalk walk(window_, Space(lhs_dims_, 1, rank), Space(out_dims_, 1, rank));
    for (int64_t k = 0; k < walk.positions(); ++k) {
      const int64_t kernel = KernelPosition(k);
      const Status done = walk.RowsAt(k, [&](const WindowWalk::Row& row) -> Status {
        for (const WindowHit& hit : row.hits) {
          AllBatches(kernel, row.input + hit.input, row.output + hit.output);
        }
        return {};
      });
      static_cast<void>(done);  // the visitor cannot fail
    }
  }

  // A reversed dimension reads the kernel backwards.
  int64_t KernelPosition(int64_t k) const {
    int64_t position = 0, scale = 1;
    for (size_t d = window_.size(); d-- > 0;) {
      const int64_t size = window_[d].size;
      const int64_t at = k % size;
      position += (window_[d].reversed ? size - 1 - at : at) * scale;
      scale *= size;
      k /= size;
    }
    return position;
  }

  // Groups split the output features, and with them the input features or the batch.
  void AllBatches(int64_t kernel, int64_t in_space, int64_t out_space) {
    const int64_t groups = feature_groups_ * batch_groups_;
    const int64_t in_features = lhs_dims_.back(), out_features = rhs_dims_.back();
    const int64_t per_group = rhs_dims_[rhs_dims_.size() - 2];
    const int64_t group_out = out_features / groups;
    const int64_t in_positions = Volume(lhs_dims_), out_positions = Volume(out_dims_);
    const int64_t width = lhs_.element_bytes();
    for (int64_t n = 0; n < out_dims_[0]; ++n) {
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t batch = batch_groups_ > 1 ? n + g * out_dims_[0] : n;
        const int64_t feature = feature_groups_ > 1 ? g * per_group : 0;
        std::byte* sums =
            out_ + ((n * out_positions + out_space) * out_features + g * group_out) * width;
        const std::byte* factor =
            lhs_.bytes().data() +
            ((batch * in_positions + in_space) * in_features + feature) * width;
        for (int64_t z = 0; z < per_group; ++z) {
          const std::byte* row = rhs_.bytes().data() +
                                 ((kernel * per_group + z) * out_features + g * group_out) * width;
          multiply_add_(factor + z * width, row, sums, static_cast<size_t>(group_out));
        }
      }
    }
  }

  // Positions in space: everything but the first and the last dimension.
  static int64_t Volume(const std::vector<int64_t>& dims) {
    int64_t volume = 1;
    for (size_t d = 1; d + 1 < dims.size(); ++d) volume *= dims[d];
    return volume;
  }

  const ConvDims& dims_;
  const Shape* shape_;
  const MultiplyAddFn& multiply_add_;
  int64_t feature_groups_, batch_groups_;
  std::vector<WindowDim> window_;
  Value lhs_, rhs_;
  std::vector<int64_t> lhs_dims_, rhs_dims_, out_dims_, out_order_;
  std::byte* out_ = nullptr;
};

}  // namespace

bool IsForward(const Instruction& convolution) {
  const std::string_view kind = convolution.Text(Attr::kConvolutionKind);
  return kind.empty() || kind == "fprop" || kind == "unset";
}

Value ConvolveWith(const Instruction& convolution, const Shape* shape, const Value& lhs,
                   const Value& rhs, const MultiplyAddFn& multiply_add) {
  return Convolver(convolution, shape, lhs, rhs, multiply_add).Run();
}

}  // namespace hv
