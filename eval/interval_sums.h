// Sums of intervals in any order: what reduce, folds over devices and dot may give, however the
// terms are bracketed. Maxima and minima too, which do not depend on the order.
// Source: Higham, Accuracy and Stability of Numerical Algorithms, section 4.2.
#pragma once

#include <vector>

#include "eval/domain.h"
#include "eval/reduce.h"

namespace hv {

// `fn`: kAdd, kMaximum or kMinimum. Operands may be native.
Result<Value> ReduceIntervals(const ReduceGeometry& geometry, const Shape* shape, ScalarFn fn,
                              const Value& operand, const Value& init);
Result<Value> FoldIntervals(ScalarFn fn, std::vector<Value> values);

// A dot of floats: each product is one more rounding.
Result<Value> ContractIntervals(const KernelCall& call, const std::vector<Value>& operands);

}  // namespace hv
