// Coefficients of sums and products, 64 bits each: integers mod 2^w for integer types; over the
// reals doubles, and where an operation would round the number of an exact result in a table, in
// the bits of a double that is not a number. What is too long for the table yields nothing, so that
// no normal form rests on a rounded coefficient.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "hlo/element_type.h"
#include "verify/exact_number.h"

namespace hv {

// Exact numbers that no double is, each once.
class ExactNumbers {
 public:
  static bool Holds(int64_t coefficient) { return (coefficient & kNumbered) == kNumbered; }
  int64_t Add(const ExactNumber& number) {
    const auto [at, is_new] = index_.try_emplace(number, kNumbered | std::ssize(numbers_));
    if (is_new) numbers_.push_back(number);
    return at->second;
  }
  const ExactNumber& At(int64_t coefficient) const {
    return numbers_[static_cast<size_t>(coefficient & ~kNumbered)];
  }
  double Nearest(int64_t coefficient) const {
    return Holds(coefficient) ? At(coefficient).Nearest() : std::bit_cast<double>(coefficient);
  }

 private:
  static constexpr int64_t kNumbered = 0x7FF8'0000'0000'0000;

  std::map<ExactNumber, int64_t> index_;
  std::deque<ExactNumber> numbers_;
};

class Ring {
 public:
  Ring(ElementType type, ExactNumbers* numbers)
      : real_(!IsInteger(type)), width_(BitWidth(type)), numbers_(numbers) {}

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
    const bool exact = (x - (sum - part)) + (y - part) == 0;  // two-sum: its error is; not of NaN
    if (exact && std::isfinite(sum)) return Plain(sum);
    return Kept(ExactNumber::Sum(NumberOf(a), NumberOf(b)));
  }

  std::optional<int64_t> Multiply(int64_t a, int64_t b) const {
    if (!real_) return Wrap(static_cast<int64_t>(Unsigned(a) * Unsigned(b)));
    const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b), product = x * y;
    const bool sure =
        std::fabs(product) >= 1e-280 || x == 0 || y == 0;  // else the error underflows
    if (sure && std::isfinite(product) && std::fma(x, y, -product) == 0) return Plain(product);
    return Kept(ExactNumber::Product(NumberOf(a), NumberOf(b)));
  }

 private:
  static uint64_t Unsigned(int64_t v) { return static_cast<uint64_t>(v); }
  static int64_t Plain(double value) { return std::bit_cast<int64_t>(value == 0 ? 0.0 : value); }
  ExactNumber NumberOf(int64_t c) const {
    return ExactNumbers::Holds(c) ? numbers_->At(c) : ExactNumber::Of(std::bit_cast<double>(c));
  }
  std::optional<int64_t> Kept(const std::optional<ExactNumber>& number) const {
    if (!number) return std::nullopt;
    const std::optional<double> plain = number->ToDouble();
    return plain ? Plain(*plain) : numbers_->Add(*number);
  }
  int64_t Wrap(int64_t value) const {
    if (width_ >= 64) return value;
    return static_cast<int64_t>(Unsigned(value) & ((uint64_t{1} << width_) - 1));
  }

  bool real_;
  int width_;
  ExactNumbers* numbers_;
};

}  // namespace hv
