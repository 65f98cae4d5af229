// Arranges the operands, and the plain way to convolve: each result row over the output features is
// a sequence of scaled kernel rows.
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

// Everything but the first and the last dimension.
int64_t PositionsIn(const std::vector<int64_t>& dims) {
  int64_t volume = 1;
  for (size_t d = 1; d + 1 < dims.size(); ++d) volume *= dims[d];
  return volume;
}

class RowByRow {
 public:
  RowByRow(const ArrangedConvolution& x, const MultiplyAddFn& multiply_add, std::byte* out)
      : x_(x), multiply_add_(multiply_add), out_(out) {}

  // Kernel positions row-major outside: that is the order of each sum.
  void Run() {
    const WindowWalk walk(x_.window, x_.InputSpace(), x_.OutputSpace());
    for (int64_t k = 0; k < walk.positions(); ++k) {
      const int64_t kernel = KernelPosition(x_.window, k);
      const Status done = walk.RowsAt(k, [&](const WindowWalk::Row& row) -> Status {
        for (const WindowHit& hit : row.hits) {
          AllBatches(kernel, row.input + hit.input, row.output + hit.output);
        }
        return {};
      });
      static_cast<void>(done);  // the visitor cannot fail
    }
  }

 private:
  // Groups split the output features, and with them the input features or the batch.
  void AllBatches(int64_t kernel, int64_t in_space, int64_t out_space) {
    const int64_t in_features = x_.lhs_dims.back(), out_features = x_.rhs_dims.back();
    const int64_t group_in = x_.group_in(), group_out = x_.group_out();
    const int64_t in_positions = PositionsIn(x_.lhs_dims);
    const int64_t out_positions = PositionsIn(x_.out_dims);
    const int64_t width = x_.lhs.element_bytes();
    for (int64_t n = 0; n < x_.out_dims[0]; ++n) {
      for (int64_t g = 0; g < x_.groups(); ++g) {
        const int64_t batch = n + x_.FirstBatch(g);
        std::byte* sums =
            out_ + ((n * out_positions + out_space) * out_features + g * group_out) * width;
        const std::byte* factor =
            x_.lhs.bytes().data() +
            ((batch * in_positions + in_space) * in_features + x_.FirstFeature(g)) * width;
        for (int64_t z = 0; z < group_in; ++z) {
          const std::byte* row = x_.rhs.bytes().data() +
                                 ((kernel * group_in + z) * out_features + g * group_out) * width;
          multiply_add_(factor + z * width, row, sums, static_cast<size_t>(group_out));
        }
      }
    }
  }

  const ArrangedConvolution& x_;
  const MultiplyAddFn& multiply_add_;
  std::byte* out_;
};

}  // namespace

bool IsForward(const Instruction& convolution) {
  const std::string_view kind = convolution.Text(Attr::kConvolutionKind);
  return kind.empty() || kind == "fprop" || kind == "unset";
}

int64_t KernelPosition(std::span<const WindowDim> window, int64_t k) {
  int64_t position = 0, scale = 1;
  for (size_t d = window.size(); d-- > 0;) {
    const int64_t size = window[d].size;
    const int64_t at = k % size;
    position += (window[d].reversed ? size - 1 - at : at) * scale;
    scale *= size;
    k /= size;
  }
  return position;
}

ArrangedConvolution::ArrangedConvolution(const Instruction& convolution, const Shape* shape,
                                         const Value& given_lhs, const Value& given_rhs)
    : feature_groups(convolution.Int(Attr::kFeatureGroupCount, 1)),
      batch_groups(convolution.Int(Attr::kBatchGroupCount, 1)),
      shape_(shape) {
  const ConvDims& dims = *convolution.Object<ConvDims>(Attr::kDimLabels);
  window = WindowOf(convolution.List<WindowDim>(Attr::kWindow), dims.input_spatial.size());
  const std::vector<int64_t> lhs_order =
      Order(dims.input_batch, dims.input_spatial, dims.input_feature);
  std::vector<int64_t> rhs_order(dims.kernel_spatial.begin(), dims.kernel_spatial.end());
  rhs_order.push_back(dims.kernel_input);
  rhs_order.push_back(dims.kernel_output);
  lhs = Permuted(given_lhs, *given_lhs.shape(), lhs_order, false);
  rhs = Permuted(given_rhs, *given_rhs.shape(), rhs_order, false);
  lhs_dims = DimsOf(*given_lhs.shape(), lhs_order);
  rhs_dims = DimsOf(*given_rhs.shape(), rhs_order);
  out_order_ = Order(dims.output_batch, dims.output_spatial, dims.output_feature);
  out_dims = DimsOf(*shape, out_order_);
}

Value ArrangedConvolution::NewResult() const { return NewLike(lhs, shape_); }

Value ArrangedConvolution::InOwnOrder(const Value& result) const {
  return Permuted(result, *shape_, out_order_, true);
}

Value ConvolveWith(const ArrangedConvolution& x, const MultiplyAddFn& multiply_add) {
  Value result = x.NewResult();
  if (result.element_count() == 0) return result;
  std::byte* out = result.MutableBytes().data();
  std::memset(out, 0, result.bytes().size());
  if (x.HasProducts()) RowByRow(x, multiply_add, out).Run();
  return x.InOwnOrder(result);
}

}  // namespace hv
