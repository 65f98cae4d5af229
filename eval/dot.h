// dot of native values: any rank, any types. Source: hlo_ops 3.13.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "eval/domain.h"
#include "hlo/module.h"
#include "hlo/view.h"

namespace hv {

// How a dot's operands lie as batches of matrices: [batch, m, k] and [batch, k, n].
struct DotGeometry {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  Piece lhs, rhs;  // from the operand to those matrices
  // Elements between neighbouring matrices, rows and columns in the operand as it is; nothing where
  // the dimensions of one kind lie apart.
  struct Strides {
    int64_t batch, row, column;
  };
  std::optional<Strides> lhs_strides, rhs_strides;
};
DotGeometry GeometryOfDot(const Instruction& dot, const Shape& lhs, const Shape& rhs);

// The operands as batches of matrices; `value` has `piece`'s operand shape. Elements of any width.
Value ArrangeMatrices(const Value& value, const Piece& piece);

// Operands are of the result's type or converted to it first, sums run in its compute type from
// zero over ascending k, rounded to the result type once at the end; integers wrap; pred is OR of
// ANDs.
Result<Value> NativeDot(const KernelCall& call, const Value& lhs, const Value& rhs);
// The same made ready, for operands of these shapes; null where one of them is converted first.
std::unique_ptr<PreparedKernel> PrepareDot(const KernelCall& call, const Shape& lhs,
                                           const Shape& rhs);

}  // namespace hv
