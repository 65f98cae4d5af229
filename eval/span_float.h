// Float functions that several tables use. A NaN operand is the result, quiet; of two the left one.
// Source: hlo_ops 2.5.
#pragma once

#include "eval/span_loops.h"

namespace hv::span {

struct Add {
  template <class T>
  static T Apply(T x, T y) {
    return x + Beside(x, y);
  }
};
struct Subtract {
  template <class T>
  static T Apply(T x, T y) {
    return x - y;
  }
};
struct Multiply {
  template <class T>
  static T Apply(T x, T y) {
    return x * Beside(x, y);
  }
};
struct Divide {
  template <class T>
  static T Apply(T x, T y) {
    return x / y;
  }
};

// The first NaN wins; on a tie (-0 and +0 among them) the left operand. A comparison with NaN is
// false.
struct Maximum {
  template <class T>
  static T Apply(T x, T y) {
    return !(x >= y) && x == x ? y : x;
  }
};
struct Minimum {
  template <class T>
  static T Apply(T x, T y) {
    return !(x <= y) && x == x ? y : x;
  }
};

}  // namespace hv::span
