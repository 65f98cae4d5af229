// A ragged dot is one dot per group over masked or sliced operands, of which each result row takes
// the one its group says. A scaled dot multiplies the scales in first.
#include "eval/ragged_dot.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "eval/convert.h"
#include "eval/dot.h"
#include "eval/move.h"
#include "eval/odometer.h"
#include "eval/scalar_op.h"

namespace hv {
namespace {

int64_t IndexIn(std::span<const int64_t> list, int64_t value) {
  const auto found = std::find(list.begin(), list.end(), value);
  return found == list.end() ? -1 : found - list.begin();
}

// Cumulative group sizes; one row per position of the prefix dimensions, or one for all of them.
class Boundaries {
 public:
  explicit Boundaries(const Value& sizes)
      : groups_(sizes.shape()->dims.back()),
        ends_(IntegersOf(sizes)),
        shared_(sizes.shape()->rank() == 1) {
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (static_cast<int64_t>(i) % groups_ != 0) ends_[i] += ends_[i - 1];
    }
  }
  int64_t groups() const { return groups_; }
  // The group of position r, or -1 beyond the last one.
  int64_t GroupOf(int64_t prefix, int64_t r) const {
    for (int64_t g = 0; g < groups_; ++g) {
      if (r < End(prefix, g)) return g;
    }
    return -1;
  }

 private:
  int64_t End(int64_t prefix, int64_t group) const {
    return ends_[static_cast<size_t>((shared_ ? 0 : prefix) * groups_ + group)];
  }
  int64_t groups_;
  std::vector<int64_t> ends_;
  bool shared_;
};

// The dot without the ragged attributes' meaning: batch and contracting dimensions as given.
Instruction PlainDot(const KernelCall& call) {
  Instruction plain = call.instruction;
  plain.opcode = Opcode::kDot;
  return plain;
}

// Element number `index` of dimension d removed: the slice of one group.
Result<Value> SliceOf(const KernelCall& call, const Value& value, int64_t d, int64_t index) {
  const Shape& shape = *value.shape();
  std::vector<int64_t> starts(shape.dims.size(), 0), sizes(shape.dims.begin(), shape.dims.end());
  starts[static_cast<size_t>(d)] = index;
  sizes[static_cast<size_t>(d)] = 1;
  const std::vector<int64_t> packed = RowMajorStrides(sizes);
  Pieces pieces;
  if (shape.element_count > 0) pieces.push_back(BoxPiece(0, shape.dims, starts, sizes, 0, packed));
  sizes.erase(sizes.begin() + d);
  const Shape* result = call.module.context->shapes.Array(shape.type, sizes);
  return MovePieces(result, pieces, {value});
}

// Zeroes what `keep(index)` refuses, index being the multi-dimensional position.
template <class Keep>
Value Masked(const Value& value, Keep keep) {
  Value masked = Owned(value);
  std::byte* data = masked.MutableBytes().data();
  const auto width = static_cast<size_t>(masked.element_bytes());
  const std::span<const int64_t> dims = value.shape()->dims;
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t i = 0; i < value.element_count(); ++i) {
    int64_t rest = i;
    for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) index[d] = rest % dims[d];
    if (!keep(index)) std::memset(data + static_cast<size_t>(i) * width, 0, width);
  }
  return masked;
}

class RaggedDot {
 public:
  RaggedDot(const KernelCall& call, const std::vector<Value>& operands)
      : call_(call),
        lhs_(operands[0]),
        rhs_(operands[1]),
        bounds_(operands[2]),
        plain_(PlainDot(call)),
        ragged_(call.instruction.Ints(Attr::kLhsRaggedDims)[0]) {}

  Result<Value> Run() {
    const auto batch = plain_.Ints(Attr::kLhsBatchDims);
    if (IndexIn(batch, ragged_) >= 0) return RaggedBatch(IndexIn(batch, ragged_));
    if (IndexIn(plain_.Ints(Attr::kLhsContractingDims), ragged_) >= 0) return RaggedSum();
    return RaggedRows();
  }

 private:
  Result<Value> Dot(const Instruction& dot, const Shape* shape, const Value& lhs,
                    const Value& rhs) const {
    const KernelCall call{call_.module, call_.computation, dot, shape};
    return NativeDot(call, lhs, rhs);
  }

  // Rows take the product with their own group's slice of the rhs; rows of no group are zero.
  Result<Value> RaggedRows() {
    const int64_t group_dim = call_.instruction.Ints(Attr::kRhsGroupDims)[0];
    const auto result_dim = static_cast<size_t>(ResultDimOfRagged());
    Value result = Value::NewNative(call_.shape);
    std::memset(result.MutableBytes().data(), 0, result.bytes().size());
    const std::vector<int64_t> strides = RowMajorStrides(call_.shape->dims);
    const int64_t row = strides[result_dim], rows = call_.shape->dims[result_dim];
    const std::vector<int64_t> rhs_batch = Shifted(Attr::kRhsBatchDims, group_dim);
    const std::vector<int64_t> rhs_contracting = Shifted(Attr::kRhsContractingDims, group_dim);
    const auto width = static_cast<size_t>(result.element_bytes());
    for (int64_t g = 0; g < bounds_.groups(); ++g) {
      HV_ASSIGN(const Value rhs, SliceOf(call_, rhs_, group_dim, g));
      std::vector<Attribute> attributes(plain_.attributes.begin(), plain_.attributes.end());
      Replace(&attributes, Attr::kRhsBatchDims, rhs_batch);
      Replace(&attributes, Attr::kRhsContractingDims, rhs_contracting);
      Instruction dot = plain_;
      dot.attributes = attributes;
      HV_ASSIGN(const Value product, Dot(dot, call_.shape, lhs_, rhs));
      std::byte* out = result.MutableBytes().data();
      for (int64_t i = 0; row > 0 && i < call_.shape->element_count / row; ++i) {
        if (bounds_.GroupOf(i / rows, i % rows) != g) continue;
        const auto at = static_cast<size_t>(i * row) * width;
        std::memcpy(out + at, product.bytes().data() + at, static_cast<size_t>(row) * width);
      }
    }
    return result;
  }

  // One product per group, each over the part of the sum that is the group's.
  Result<Value> RaggedSum() {
    const auto lhs_k = plain_.Ints(Attr::kLhsContractingDims);
    const auto rhs_k = plain_.Ints(Attr::kRhsContractingDims);
    const auto k = static_cast<size_t>(IndexIn(lhs_k, ragged_));
    const std::span<const int64_t> tail = call_.shape->dims.subspan(1);
    const Shape* one = call_.module.context->shapes.Array(call_.shape->type, tail);
    Value result = Value::NewNative(call_.shape);
    std::byte* out = result.MutableBytes().data();
    for (int64_t g = 0; g < bounds_.groups(); ++g) {
      const auto in_group = [&](Attr batch, std::span<const int64_t> contracting,
                                const std::vector<int64_t>& index, const Shape& shape) {
        int64_t prefix = 0;
        const auto enter = [&](int64_t d) {
          prefix = prefix * shape.dims[static_cast<size_t>(d)] + index[static_cast<size_t>(d)];
        };
        for (const int64_t d : plain_.Ints(batch)) enter(d);
        for (const int64_t d : contracting.first(k)) enter(d);
        return bounds_.GroupOf(prefix, index[static_cast<size_t>(contracting[k])]) == g;
      };
      const Value lhs = Masked(lhs_, [&](const std::vector<int64_t>& index) {
        return in_group(Attr::kLhsBatchDims, lhs_k, index, *lhs_.shape());
      });
      const Value rhs = Masked(rhs_, [&](const std::vector<int64_t>& index) {
        return in_group(Attr::kRhsBatchDims, rhs_k, index, *rhs_.shape());
      });
      HV_ASSIGN(const Value product, Dot(plain_, one, lhs, rhs));
      std::memcpy(out + static_cast<size_t>(g) * product.bytes().size(), product.bytes().data(),
                  product.bytes().size());
    }
    return result;
  }

  // Batch entries beyond the total are zero.
  Result<Value> RaggedBatch(int64_t position) {
    HV_ASSIGN(const Value product, Dot(plain_, call_.shape, lhs_, rhs_));
    const std::span<const int64_t> dims = call_.shape->dims;
    const auto batches = plain_.Ints(Attr::kLhsBatchDims).size();
    return Masked(product, [&](const std::vector<int64_t>& index) {
      int64_t prefix = 0;
      for (size_t d = 0; d < batches; ++d) {
        if (static_cast<int64_t>(d) != position) prefix = prefix * dims[d] + index[d];
      }
      return bounds_.GroupOf(prefix, index[static_cast<size_t>(position)]) >= 0;
    });
  }

  // Batch dimensions come first in the result, then the free ones in ascending order.
  int64_t ResultDimOfRagged() const {
    const auto batch = plain_.Ints(Attr::kLhsBatchDims);
    const auto contracting = plain_.Ints(Attr::kLhsContractingDims);
    int64_t dim = std::ssize(batch);
    for (int64_t d = 0; d < ragged_; ++d) {
      if (IndexIn(batch, d) < 0 && IndexIn(contracting, d) < 0) ++dim;
    }
    return dim;
  }

  // Dimension numbers of the rhs once its group dimension is gone.
  std::vector<int64_t> Shifted(Attr key, int64_t removed) const {
    std::vector<int64_t> dims;
    for (const int64_t d : plain_.Ints(key)) dims.push_back(d > removed ? d - 1 : d);
    return dims;
  }

  static void Replace(std::vector<Attribute>* attributes, Attr key,
                      const std::vector<int64_t>& values) {
    for (Attribute& a : *attributes) {
      if (a.key == key) a.data = values.data();
    }
  }

  const KernelCall& call_;
  const Value &lhs_, &rhs_;
  Boundaries bounds_;
  Instruction plain_;
  int64_t ragged_;
};

// `value` times its block scales, in the type of the sums; a scalar scale counts as one.
Result<Value> Scaled(const KernelCall& call, const Value& value, const Value& scale,
                     ElementType type) {
  HV_ASSIGN(Value wide, ConvertValue(call.module, value, type));
  if (scale.shape()->IsScalar()) return wide;
  HV_ASSIGN(const Value factors, ConvertValue(call.module, scale, type));
  const Shape& shape = *wide.shape();
  const std::vector<int64_t> strides = RowMajorStrides(factors.shape()->dims);
  const std::vector<int64_t> own = RowMajorStrides(shape.dims);
  Piece piece;
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    const int64_t blocks = factors.shape()->dims[d];
    piece.digits.push_back({blocks, strides[d], shape.dims[d] / blocks * own[d]});
    piece.digits.push_back({shape.dims[d] / blocks, 0, own[d]});
  }
  Normalize(&piece);
  const Value spread = MovePieces(wide.shape(), {piece}, {factors});
  Value result = Value::NewNative(wide.shape());
  const std::byte* in[2] = {wide.bytes().data(), spread.bytes().data()};
  ScalarOp::Make(ScalarFn::kMultiply, type)
      ->Run(in, result.MutableBytes().data(), static_cast<size_t>(shape.element_count));
  return result;
}

}  // namespace

Result<Value> NativeRaggedDot(const KernelCall& call, const std::vector<Value>& operands) {
  return RaggedDot(call, operands).Run();
}

Result<Value> NativeScaledDot(const KernelCall& call, const std::vector<Value>& operands) {
  const ElementType type = call.shape->type;
  const ElementType sums = IsNarrowFloat(type) ? ElementType::kF32 : type;
  HV_ASSIGN(const Value lhs, Scaled(call, operands[0], operands[2], sums));
  HV_ASSIGN(const Value rhs, Scaled(call, operands[1], operands[3], sums));
  const KernelCall wide{call.module, call.computation, call.instruction,
                        call.module.context->shapes.WithType(*call.shape, sums)};
  HV_ASSIGN(Value result, NativeDot(wide, lhs, rhs));
  HV_ASSIGN(result, ConvertValue(call.module, result, type));
  return result.WithShape(call.shape);
}

}  // namespace hv
