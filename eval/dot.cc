// dot as a batch of matrix products, of operands read where they lie if each index has one stride,
// else permuted into place.
#include "eval/dot.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <utility>
#include <vector>

#include "base/parallel.h"
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

// Elements between neighbours along `dims` taken as one index, if there is one such number.
std::optional<int64_t> CommonStride(const Shape& shape, std::span<const int64_t> dims) {
  const std::vector<int64_t> strides = RowMajorStrides(shape.dims);
  int64_t first = 0, next = 0;  // the stride of the last dimension; what the one before must have
  for (size_t i = dims.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(dims[i]);
    if (shape.dims[d] == 1) continue;
    if (next != 0 && strides[d] != next) return std::nullopt;
    if (next == 0) first = strides[d];
    next = strides[d] * shape.dims[d];
  }
  return first;
}

std::optional<DotGeometry::Strides> StridesOf(const Shape& shape, std::span<const int64_t> batch,
                                              std::span<const int64_t> rows,
                                              std::span<const int64_t> columns) {
  const auto b = CommonStride(shape, batch), r = CommonStride(shape, rows),
             c = CommonStride(shape, columns);
  if (!b || !r || !c) return std::nullopt;
  return DotGeometry::Strides{*b, *r, *c};
}

// An operand where its matrices can be read: in place, or arranged.
struct Side {
  Value value;
  DotGeometry::Strides strides;

  template <class T>
  Matrix<const T> At(int64_t batch) const {
    return {value.As<T>().data() + batch * strides.batch, strides.row, strides.column};
  }
};

Side SideOf(const Value& value, const Piece& piece,
            const std::optional<DotGeometry::Strides>& strides, int64_t rows, int64_t columns) {
  if (strides) return {value, *strides};
  return {ArrangeMatrices(value, piece), {rows * columns, columns, 1}};
}

// Batches are shared out among threads where there are enough to go round.
template <class F>
void ForEachBatch(const DotGeometry& g, F f) {
  const int64_t grain = (int64_t{1} << 20) / std::max<int64_t>(g.m * g.n * g.k, 1) + 1;
  const bool share = g.batch >= 2 * ThreadCount();
  ParallelFor(g.batch, share ? grain : g.batch, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

// Sums of the type of the result.
template <class T>
void MultiplyBatches(const DotGeometry& g, const Side& lhs, const Side& rhs, Value* out) {
  T* c = out->MutableAs<T>().data();
  ForEachBatch(g, [&](int64_t i) {
    MatrixMultiply(
        Product<T>{g.m, g.n, g.k, lhs.At<T>(i), rhs.At<T>(i), {c + i * g.m * g.n, g.n, 1}});
  });
}

// Sums of a wider type T, stored by store(sums, count, out).
template <class T, class In, class Store>
void MultiplyWide(const DotGeometry& g, const Side& lhs, const Side& rhs, Value* out, Store store) {
  std::byte* to = out->MutableBytes().data();
  const int64_t size = g.m * g.n, width = out->element_bytes();
  ForEachBatch(g, [&](int64_t i) {
    const auto sums = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(size));
    MatrixMultiply(
        Product<T, In>{g.m, g.n, g.k, lhs.At<In>(i), rhs.At<In>(i), {sums.get(), g.n, 1}});
    store(sums.get(), size, to + i * size * width);
  });
}

// Integers below 32 bits are the low bits of sums modulo 2^32; a pred is whether there is a term.
template <class In>
void MultiplyNarrowIntegers(const DotGeometry& g, const Side& lhs, const Side& rhs, Value* out) {
  const bool pred = IsPred(out->shape()->type);
  MultiplyWide<uint32_t, In>(g, lhs, rhs, out,
                             [pred](const uint32_t* sums, int64_t count, std::byte* to) {
                               In* narrow = reinterpret_cast<In*>(to);
                               for (int64_t i = 0; i < count; ++i) {
                                 narrow[i] = static_cast<In>(pred ? sums[i] != 0 : sums[i]);
                               }
                             });
}

// Narrow floats sum in f32 and are rounded once.
template <class In>
void MultiplyInF32(const DotGeometry& g, const Side& lhs, const Side& rhs, Value* out) {
  const ElementType type = out->shape()->type;
  MultiplyWide<float, In>(g, lhs, rhs, out,
                          [type](const float* sums, int64_t count, std::byte* to) {
                            NarrowFloats(type, sums, to, static_cast<size_t>(count));
                          });
}

// The order of the language: for each row, k ascending, columns together.
template <class T>
void MultiplyComplex(const DotGeometry& g, const Side& lhs, const Side& rhs, Value* out) {
  T* row = out->MutableAs<T>().data();
  for (int64_t i = 0; i < g.batch * g.m; ++i, row += g.n) {
    const Matrix<const T> a = lhs.At<T>(i / g.m), b = rhs.At<T>(i / g.m);
    std::fill_n(row, g.n, T{});
    for (int64_t p = 0; p < g.k; ++p) {
      const T factor = *a.At(i % g.m, p);
      for (int64_t j = 0; j < g.n; ++j) row[j] += factor * *b.At(p, j);
    }
  }
}

// `value` in f32, where MatrixMultiply has no reader for its type: one byte each.
Result<Value> Readable(const Module& module, Value value) {
  const ElementType type = value.shape()->type;
  if (!IsNarrowFloat(type) || HostBytes(type) > 1) return value;
  return ConvertValue(module, value, ElementType::kF32);
}

void MultiplyAny(const DotGeometry& g, const Side& lhs, const Side& rhs, Value* out) {
  const ElementType type = out->shape()->type;
  if (type == ElementType::kBF16) return MultiplyInF32<Bf16>(g, lhs, rhs, out);
  if (type == ElementType::kF16) return MultiplyInF32<F16>(g, lhs, rhs, out);
  if (IsNarrowFloat(type)) return MultiplyInF32<float>(g, lhs, rhs, out);
  switch (ComputeTypeOf(type)) {
    case ComputeType::kPred:
    case ComputeType::kS8:
    case ComputeType::kU8:
      return MultiplyNarrowIntegers<uint8_t>(g, lhs, rhs, out);
    case ComputeType::kS16:
    case ComputeType::kU16:
      return MultiplyNarrowIntegers<uint16_t>(g, lhs, rhs, out);
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
      return MultiplyComplex<std::complex<float>>(g, lhs, rhs, out);
    case ComputeType::kC128:
      return MultiplyComplex<std::complex<double>>(g, lhs, rhs, out);
  }
}

Value Multiply(const DotGeometry& g, const Shape* shape, const Value& lhs, const Value& rhs) {
  Value out = Value::NewNative(shape);
  MultiplyAny(g, SideOf(lhs, g.lhs, g.lhs_strides, g.m, g.k),
              SideOf(rhs, g.rhs, g.rhs_strides, g.k, g.n), &out);
  return out;
}

class PreparedDot : public PreparedKernel {
 public:
  PreparedDot(DotGeometry geometry, const Shape* shape)
      : geometry_(std::move(geometry)), shape_(shape) {}
  Value Run(std::span<Value> operands) override {
    return Multiply(geometry_, shape_, operands[0], operands[1]);
  }

 private:
  DotGeometry geometry_;
  const Shape* shape_;
};

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
  g.lhs_strides = StridesOf(lhs, lhs_batch, lhs_free, lhs_k);
  g.rhs_strides = StridesOf(rhs, rhs_batch, rhs_k, rhs_free);
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
  HV_ASSIGN(a, Readable(call.module, std::move(a)));
  HV_ASSIGN(b, Readable(call.module, std::move(b)));
  Value out = Multiply(g, shape, a, b);
  // Sub-byte integers were summed in 8 bits.
  if (IsInteger(shape->type) && BitWidth(shape->type) < 8) {
    const std::byte* in[1] = {out.bytes().data()};
    ScalarOp::Convert(shape->type, shape->type)
        ->Run(in, out.MutableBytes().data(), static_cast<size_t>(out.element_count()));
  }
  return out;
}

std::unique_ptr<PreparedKernel> PrepareDot(const KernelCall& call, const Shape& lhs,
                                           const Shape& rhs) {
  const ElementType type = call.shape->type;
  const bool is_read_as_stored =
      lhs.type == type && rhs.type == type && BitWidth(type) >= (IsFloat(type) ? 16 : 8);
  if (!is_read_as_stored || call.instruction.Has(Attr::kSparsity)) return nullptr;
  return std::make_unique<PreparedDot>(GeometryOfDot(call.instruction, lhs, rhs), call.shape);
}

}  // namespace hv
