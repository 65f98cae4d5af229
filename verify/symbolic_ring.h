// Coefficients of sums and products, 64 bits each: integers mod 2^w for integer types, exact
// doubles for sums over the reals. An operation on reals that would round yields nothing, so that
// no normal form rests on a rounded coefficient.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "hlo/element_type.h"

namespace hv {

class Ring {
 public:
  explicit Ring(ElementType type) : real_(!IsInteger(type)), width_(BitWidth(type)) {}

  int64_t One() const { return FromInteger(1); }
  int64_t FromInteger(int64_t value) const {
    return real_ ? std::bit_cast<int64_t>(static_cast<double>(value)) : Wrap(value);
  }
  bool IsZero(int64_t c) const { return real_ ? std::bit_cast<double>(c) == 0 : c == 0; }
  bool IsOne(int64_t c) const { return c == One(); }

  std::optional<int64_t> Add(int64_t a, int64_t b) const {
    if (!real_) return Wrap(static_cast<int64_t>(Unsigned(a) + Unsigned(b)));
    const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b), sum = x + y;
    const double part = sum - x;
    if ((x - (sum - part)) + (y - part) != 0) return std::nullopt;  // two-sum: exact error; NaN too
    return Finite(sum);
  }

  std::optional<int64_t> Multiply(int64_t a, int64_t b) const {
    if (!real_) return Wrap(static_cast<int64_t>(Unsigned(a) * Unsigned(b)));
    const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b), product = x * y;
    if (std::fma(x, y, -product) != 0) return std::nullopt;
    if (std::fabs(product) < 1e-280 && product != 0)
      return std::nullopt;  // the error may underflow
    if (product == 0 && x != 0 && y != 0) return std::nullopt;
    return Finite(product);
  }

 private:
  static uint64_t Unsigned(int64_t v) { return static_cast<uint64_t>(v); }
  static std::optional<int64_t> Finite(double value) {
    if (!std::isfinite(value)) return std::nullopt;
    return std::bit_cast<int64_t>(value == 0 ? 0.0 : value);
  }
  int64_t Wrap(int64_t value) const {
    if (width_ >= 64) return value;
    return static_cast<int64_t>(Unsigned(value) & ((uint64_t{1} << width_) - 1));
  }

  bool real_;
  int width_;
};

}  // namespace hv
