// Sums of intervals in any order: what reduce, windows, scatter, folds over devices, dot and
// convolution may give, however the terms are bracketed. Maxima and minima too, which do not depend on the order.
// Source: Higham, Accuracy and Stability of Numerical Algorithms, section 4.2.
#pragma once

#include <span>
#include <vector>

#include "eval/domain.h"
#include "eval/gather_scatter.h"
#include "eval/reduce.h"
#include "hlo/attribute.h"

namespace hv {

// `fn`: kAdd, kMultiply (whole numbers only are told), kMaximum or kMinimum. Operands may be native.
Result<Value> ReduceIntervals(const ReduceGeometry& geometry, const Shape* shape, ScalarFn fn,
                              const Value& operand, const Value& init);
Result<Value> ReduceWindowIntervals(std::span<const WindowDim> window, const Shape* shape,
                                    ScalarFn fn, const Value& operand, const Value& init);
Result<Value> ScatterIntervals(const IndexPlan& plan, const Value& indices, const Shape* shape,
                               ScalarFn fn, const Value& operand, const Value& updates);
Result<Value> FoldIntervals(ScalarFn fn, std::vector<Value> values);

// Is an element of `start` with any of `terms` added, in any order, a whole number without rounding?
bool SumsStayWhole(const Value& start, const Value& terms);

// A dot or convolution of floats: each product is one more rounding.
Result<Value> ContractIntervals(const KernelCall& call, const std::vector<Value>& operands);
Result<Value> ConvolveIntervals(const KernelCall& call, const std::vector<Value>& operands);

}  // namespace hv
