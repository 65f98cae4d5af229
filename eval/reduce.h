// reduce over any combiner: which elements make which result, in which order. Source: hlo_ops 3.7.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "eval/combiner.h"
#include "eval/value.h"
#include "hlo/view.h"

namespace hv {

struct ReduceGeometry {
  std::vector<Digit> kept;     // row-major over the result; in_stride in the operand
  std::vector<Digit> reduced;  // in order of accumulation, last fastest; in_stride in the operand
  int64_t results = 1;
  int64_t terms = 1;  // per result
};

// Reduced dimensions are walked in the operand's layout order, minor-most fastest.
ReduceGeometry GeometryOfReduce(const Shape& operand, std::span<const int64_t> dimensions);

// Folds every result from its initial value over its terms in order. Inputs are equally shaped,
// inits scalars; all are dense, and each input, its init and result have one encoding and width.
Result<std::vector<Value>> ReduceWith(const ReduceGeometry& geometry, std::span<const Value> inputs,
                                      std::span<const Value> inits,
                                      std::span<const Shape* const> shapes, Combiner& combiner);

}  // namespace hv
