// Numbers m * 2^e with |m| < 2^256: what sums and products of a few floats are exactly. What needs
// more is no number here.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

namespace hv {

class ExactNumber {
 public:
  static ExactNumber Of(double value);  // finite

  // The double it is; nothing if there is none.
  std::optional<double> ToDouble() const;
  double Nearest() const;  // for people to read

  static std::optional<ExactNumber> Sum(const ExactNumber& a, const ExactNumber& b);
  static std::optional<ExactNumber> Product(const ExactNumber& a, const ExactNumber& b);

  friend auto operator<=>(const ExactNumber&, const ExactNumber&) = default;

 private:
  bool ShiftLeft(int64_t bits);  // the magnitude; false: it does not fit
  void Normalize();              // to an odd magnitude; zero has exponent 0
  int Width() const;             // bits of the magnitude

  bool negative_ = false;
  int64_t exponent_ = 0;
  std::array<uint64_t, 4> magnitude_ = {};  // the low part first
};

}  // namespace hv
