// Enclosures of real results: [low, high] holds what any conforming implementation may compute,
// whatever the order of its sums and the last bits of its mathematical functions. Results that are
// exact stay single points, so small integers never widen.
#pragma once

#include <span>

#include "hlo/element_type.h"
#include "hlo/op.h"

namespace hv {

struct Interval {
  double low = 0, high = 0;

  static constexpr Interval Point(double value) { return {value, value}; }
  static Interval Everything();
  bool IsPoint() const { return low == high; }
  // Largest absolute value.
  double Size() const;
  // No value in common? False if either end is NaN.
  bool IsApartFrom(const Interval& other) const { return high < other.low || other.high < low; }
};

// Widens a result of real arithmetic to what may stand for it in `type`: neighbouring values unless
// both ends are values of the type, results that may be flushed to zero or overflow included.
// `slack`: units in the last place that an implementation may be off.
Interval Rounded(ElementType type, Interval exact, int slack = 0);

// Real arithmetic, ends rounded outwards in f64.
Interval Add(Interval x, Interval y);
Interval Negate(Interval x);
Interval Multiply(Interval x, Interval y);
Interval Divide(Interval x, Interval y);

// A scalar function of one or two floats in `type`, rounded; everything if it is none that this
// knows.
Interval Apply(ScalarFn fn, ElementType type, std::span<const Interval> x);

// What any order of summation makes of terms whose exact sum lies in `sum`: `terms` of them,
// absolute values adding up to `size`; `integers` if all are integers known exactly.
Interval AnyOrderSum(ElementType type, Interval sum, double size, int64_t terms, bool integers);

}  // namespace hv
