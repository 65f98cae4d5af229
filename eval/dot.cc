// dot as a batch of matrix products after the operands were permuted into place.
#include "eval/dot.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "eval/convert.h"
#include "eval/gemm.h"
#include "eval/move.h"
#include "eval/narrow_floats.h"
#include "eval/scalar_op.h"

namespace hv {
namespace {

std::vector<int64_t> OtherDims(const Shape& shape, std::span<const int64_t> a,
                               std::span<const int64_t> b) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool used =
        std::find(a.begin(), a.end(), d) != a.end() || std::find(b.begin(), b.end(), d) != b.end();
    if (!used) free.push_back(d);
  }
  return free;
}

int64_t Volume(const Shape& shape, std::span<const int64_t> dims) {
  int64_t volume = 1;
  for (const int64_t d : dims) volume *= shape.dims[static_cast<size_t>(d)];
  return volume;
}

// The permutation of `shape` that lists the dimensions of `order`.
Piece Permutation(const Shape& shape, std::span<const int64_t> order) {
  const std::vector<int64_t> strides = RowMajorStrides(shape.dims);
  Piece piece;
  int64_t out_stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    piece.digits.insert(piece.digits.begin(), {shape.dims[d], strides[d], out_stride});
    out_stride *= shape.dims[d];
  }
  Normalize(&piece);
  return piece;
}

std::vector<int64_t> Joined(std::span<const int64_t> a, std::span<const int64_t> b,
                            std::span<const int64_t> c) {
  std::vector<int64_t> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// Any type with + and *, in the order of the language: for each row, k ascending, columns together.
template <class T, class MultiplyAdd>
void RowByRow(const DotGeometry& g, const T* a, const T* b, T* c, MultiplyAdd multiply_add) {
  for (int64_t i = 0; i < g.m; ++i) {
    T* __restrict row = c + i * g.n;
    std::fill_n(row, g.n, T{});
    for (int64_t p = 0; p < g.k; ++p) {
      const T factor = a[i * g.k + p];
      const T* __restrict from = b + p * g.n;
      for (int64_t j = 0; j < g.n; ++j) multiply_add(row[j], factor, from[j]);
    }
  }
}

template <class T>
void MultiplyOne(const DotGeometry& g, const T* a, const T* b, T* c) {
  if constexpr (std::is_floating_point_v<T>) {
    MatrixMultiply(g.m, g.n, g.k, a, b, c);
  } else {
    RowByRow(g, a, b, c, [](T& sum, T x, T y) {
      if constexpr (std::is_integral_v<T>) {
        sum = static_cast<T>(sum + static_cast<std::common_type_t<T, uint32_t>>(x) * y);
      } else {
        sum += x * y;
      }
    });
  }
}

template <class T>
void MultiplyBatches(const DotGeometry& g, const Value& lhs, const Value& rhs, Value* out) {
  for (int64_t i = 0; i < g.batch; ++i) {
    MultiplyOne(g, lhs.As<T>().data() + i * g.m * g.k, rhs.As<T>().data() + i * g.k * g.n,
                out->MutableAs<T>().data() + i * g.m * g.n);
  }
}

void MultiplyPreds(const DotGeometry& g, const Value& lhs, const Value& rhs, Value* out) {
  for (int64_t i = 0; i < g.batch; ++i) {
    RowByRow(g, lhs.As<uint8_t>().data() + i * g.m * g.k, rhs.As<uint8_t>().data() + i * g.k * g.n,
             out->MutableAs<uint8_t>().data() + i * g.m * g.n,
             [](uint8_t& sum, uint8_t x, uint8_t y) { sum = static_cast<uint8_t>(sum | (x & y)); });
  }
}

// Narrow floats sum in f32 and are rounded once.
template <class In>
void MultiplyInF32(const DotGeometry& g, const In* a, const In* b, Value* out) {
  std::vector<float> sums(static_cast<size_t>(g.m * g.n));
  std::byte* to = out->MutableBytes().data();
  for (int64_t i = 0; i < g.batch; ++i) {
    MatrixMultiply(g.m, g.n, g.k, a + i * g.m * g.k, b + i * g.k * g.n, sums.data());
    NarrowFloats(out->shape()->type, sums.data(), to + i * g.m * g.n * out->element_bytes(),
                 sums.size());
  }
}

std::vector<float> Widened(const Value& value) {
  std::vector<float> wide(value.bytes().size());
  WidenFloats(value.shape()->type, value.bytes().data(), wide.data(), wide.size());
  return wide;
}

void MultiplyNarrow(const DotGeometry& g, const Value& lhs, const Value& rhs, Value* out) {
  switch (out->shape()->type) {
    case ElementType::kBF16:
      return MultiplyInF32(g, lhs.As<Bf16>().data(), rhs.As<Bf16>().data(), out);
    case ElementType::kF16:
      return MultiplyInF32(g, lhs.As<F16>().data(), rhs.As<F16>().data(), out);
    default:  // one byte each
      return MultiplyInF32<float>(g, Widened(lhs).data(), Widened(rhs).data(), out);
  }
}

void Multiply(const DotGeometry& g, const Value& lhs, const Value& rhs, Value* out) {
  const ElementType type = out->shape()->type;
  if (IsNarrowFloat(type)) return MultiplyNarrow(g, lhs, rhs, out);
  switch (ComputeTypeOf(type)) {
    case ComputeType::kPred:
      return MultiplyPreds(g, lhs, rhs, out);
    case ComputeType::kS8:
    case ComputeType::kU8:
      return MultiplyBatches<uint8_t>(g, lhs, rhs, out);
    case ComputeType::kS16:
    case ComputeType::kU16:
      return MultiplyBatches<uint16_t>(g, lhs, rhs, out);
    case ComputeType::kS32:
    case ComputeType::kU32:
      return MultiplyBatches<uint32_t>(g, lhs, rhs, out);
    case ComputeType::kS64:
    case ComputeType::kU64:
      return MultiplyBatches<uint64_t>(g, lhs, rhs, out);
    case ComputeType::kF32:
      return MultiplyBatches<float>(g, lhs, rhs, out);
    case ComputeType::kF64:
      return MultiplyBatches<double>(g, lhs, rhs, out);
    case ComputeType::kC64:
      return MultiplyBatches<std::complex<float>>(g, lhs, rhs, out);
    case ComputeType::kC128:
      return MultiplyBatches<std::complex<double>>(g, lhs, rhs, out);
  }
}

}  // namespace

DotGeometry GeometryOfDot(const Instruction& dot, const Shape& lhs, const Shape& rhs) {
  const auto lhs_batch = dot.Ints(Attr::kLhsBatchDims), rhs_batch = dot.Ints(Attr::kRhsBatchDims);
  const auto lhs_k = dot.Ints(Attr::kLhsContractingDims);
  const auto rhs_k = dot.Ints(Attr::kRhsContractingDims);
  const std::vector<int64_t> lhs_free = OtherDims(lhs, lhs_batch, lhs_k);
  const std::vector<int64_t> rhs_free = OtherDims(rhs, rhs_batch, rhs_k);
  DotGeometry g;
  g.batch = Volume(lhs, lhs_batch);
  g.m = Volume(lhs, lhs_free);
  g.n = Volume(rhs, rhs_free);
  g.k = Volume(lhs, lhs_k);
  g.lhs = Permutation(lhs, Joined(lhs_batch, lhs_free, lhs_k));
  g.rhs = Permutation(rhs, Joined(rhs_batch, rhs_k, rhs_free));
  return g;
}

Value ArrangeMatrices(const Value& value, const Piece& piece) {
  // The element count stays, so the operand's own shape serves for the storage.
  Pieces pieces;
  if (value.element_count() > 0) pieces.push_back(piece);
  return MovePieces(value.shape(), pieces, {value});
}

Result<Value> NativeDot(const KernelCall& call, const Value& lhs, const Value& rhs) {
  const Shape* shape = call.shape;
  const DotGeometry g = GeometryOfDot(call.instruction, *lhs.shape(), *rhs.shape());
  HV_ASSIGN(Value a, ConvertValue(call.module, lhs, shape->type));
  HV_ASSIGN(Value b, ConvertValue(call.module, rhs, shape->type));
  a = ArrangeMatrices(a, g.lhs);
  b = ArrangeMatrices(b, g.rhs);
  Value out = Value::NewNative(shape);
  Multiply(g, a, b, &out);
  // Sub-byte integers were summed in 8 bits.
  if (IsInteger(shape->type) && BitWidth(shape->type) < 8) {
    const std::byte* in[1] = {out.bytes().data()};
    ScalarOp::Convert(shape->type, shape->type)
        ->Run(in, out.MutableBytes().data(), static_cast<size_t>(out.element_count()));
  }
  return out;
}

}  // namespace hv
