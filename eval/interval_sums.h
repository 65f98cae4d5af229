// Sums of intervals in any order: what reduce, folds over devices and dot may give, however the
// terms are bracketed. Maxima and minima too, which do not depend on the order.
// Source: Higham, Accuracy and Stability of Numerical Algorithms, section 4.2.
#pragma once

#include <vector>

#include "eval/domain.h"
#include "eval/reduce.h"

namespace hv {

// `fn`: kAdd, kMultiply (whole numbers only are told), kMaximum or kMinimum. Operands may be native.
Result<Value> ReduceIntervals(const ReduceGeometry& geometry, const Shape* shape, ScalarFn fn,
                              const Value& operand, const Value& init);
Result<Value> FoldIntervals(ScalarFn fn, std::vector<Value> values);

// Is an element of `start` with any of `terms` added, in any order, a whole number without rounding?
bool SumsStayWhole(const Value& start, const Value& terms);

// A dot of floats: each product is one more rounding.
Result<Value> ContractIntervals(const KernelCall& call, const std::vector<Value>& operands);

}  // namespace hv
