#include "verify/exact_number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace hv {
namespace {

using Wide = unsigned __int128;

}  // namespace

ExactNumber ExactNumber::Of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  ExactNumber number;
  number.negative_ = std::signbit(value) && value != 0;
  number.magnitude_[0] = static_cast<uint64_t>(std::ldexp(fraction, 53));
  number.exponent_ = exponent - 53;
  number.Normalize();
  return number;
}

int ExactNumber::Width() const {
  for (size_t i = magnitude_.size(); i-- > 0;) {
    if (magnitude_[i] != 0)
      return static_cast<int>(64 * i + static_cast<size_t>(std::bit_width(magnitude_[i])));
  }
  return 0;
}

bool ExactNumber::ShiftLeft(int64_t bits) {
  if (bits + Width() > 256) return false;
  const auto whole = static_cast<size_t>(bits / 64), part = static_cast<size_t>(bits % 64);
  for (size_t i = magnitude_.size(); i-- > 0;) {  // from above: what is read is not yet written
    const uint64_t high = i >= whole ? magnitude_[i - whole] : 0;
    const uint64_t low = i > whole ? magnitude_[i - whole - 1] : 0;
    magnitude_[i] = part == 0 ? high : (high << part) | (low >> (64 - part));
  }
  return true;
}

void ExactNumber::Normalize() {
  if (Width() == 0) {
    *this = {};
    return;
  }
  while (magnitude_[0] == 0) {
    std::rotate(magnitude_.begin(), magnitude_.begin() + 1, magnitude_.end());
    exponent_ += 64;
  }
  const int zeros = std::countr_zero(magnitude_[0]);
  if (zeros == 0) return;
  for (size_t i = 0; i < magnitude_.size(); ++i) {
    const uint64_t above = i + 1 < magnitude_.size() ? magnitude_[i + 1] : 0;
    magnitude_[i] = (magnitude_[i] >> zeros) | (above << (64 - zeros));
  }
  exponent_ += zeros;
}

std::optional<double> ExactNumber::ToDouble() const {
  if (Width() > 53) return std::nullopt;
  if (std::abs(exponent_) > 2000) return std::nullopt;
  const double value = Nearest();
  return std::isfinite(value) && Of(value) == *this ? std::optional<double>(value) : std::nullopt;
}

double ExactNumber::Nearest() const {
  double value = 0;
  for (size_t i = magnitude_.size(); i-- > 0;) {
    value = std::ldexp(value, 64) + static_cast<double>(magnitude_[i]);
  }
  const auto power = static_cast<int>(std::clamp<int64_t>(exponent_, -4000, 4000));
  return std::ldexp(negative_ ? -value : value, power);
}

std::optional<ExactNumber> ExactNumber::Product(const ExactNumber& a, const ExactNumber& b) {
  if (a.Width() + b.Width() > 256) return std::nullopt;
  ExactNumber product;
  for (size_t i = 0; i < a.magnitude_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; i + j < product.magnitude_.size(); ++j) {
      const Wide sum =
          static_cast<Wide>(a.magnitude_[i]) * b.magnitude_[j] + product.magnitude_[i + j] + carry;
      product.magnitude_[i + j] = static_cast<uint64_t>(sum);
      carry = static_cast<uint64_t>(sum >> 64);
    }
  }
  product.negative_ = a.negative_ != b.negative_;
  product.exponent_ = a.exponent_ + b.exponent_;
  product.Normalize();
  return product;
}

std::optional<ExactNumber> ExactNumber::Sum(const ExactNumber& a, const ExactNumber& b) {
  if (a.Width() == 0) return b;
  if (b.Width() == 0) return a;
  ExactNumber x = a, y = b;
  if (x.exponent_ < y.exponent_) std::swap(x, y);
  if (!x.ShiftLeft(x.exponent_ - y.exponent_)) return std::nullopt;
  x.exponent_ = y.exponent_;
  if (x.negative_ == y.negative_) {
    if (std::max(x.Width(), y.Width()) > 255) return std::nullopt;
    uint64_t carry = 0;
    for (size_t i = 0; i < x.magnitude_.size(); ++i) {
      const Wide sum = static_cast<Wide>(x.magnitude_[i]) + y.magnitude_[i] + carry;
      x.magnitude_[i] = static_cast<uint64_t>(sum);
      carry = static_cast<uint64_t>(sum >> 64);
    }
  } else {
    const bool less = std::lexicographical_compare(x.magnitude_.rbegin(), x.magnitude_.rend(),
                                                   y.magnitude_.rbegin(), y.magnitude_.rend());
    if (less) std::swap(x, y);
    uint64_t borrow = 0;
    for (size_t i = 0; i < x.magnitude_.size(); ++i) {
      const Wide taken = static_cast<Wide>(y.magnitude_[i]) + borrow;
      borrow = x.magnitude_[i] < taken ? 1 : 0;
      x.magnitude_[i] = static_cast<uint64_t>(x.magnitude_[i] - taken);
    }
  }
  x.Normalize();
  return x;
}

}  // namespace hv
