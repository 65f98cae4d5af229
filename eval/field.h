// Arithmetic in the field F_p, p = 2^61 - 1, and pairs of its elements: two independent
// fingerprints carried as one code.
#pragma once

#include <cstdint>

namespace hv {

// An element of F_p as a number below p.
class Fp {
 public:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

  constexpr Fp() = default;
  static constexpr Fp Of(uint64_t number) {
    const uint64_t folded = (number & kPrime) + (number >> 61);
    return Fp(folded >= kPrime ? folded - kPrime : folded);
  }
  static constexpr Fp OfSigned(int64_t number) {
    const auto magnitude =
        number < 0 ? ~static_cast<uint64_t>(number) + 1 : static_cast<uint64_t>(number);
    return number < 0 ? -Of(magnitude) : Of(magnitude);
  }
  // 2^exponent, negative exponents included: 2 has order 61.
  static constexpr Fp PowerOfTwo(int exponent) {
    return Fp(uint64_t{1} << ((exponent % 61 + 61) % 61));
  }

  constexpr uint64_t number() const { return number_; }
  constexpr bool IsZero() const { return number_ == 0; }

  friend constexpr Fp operator+(Fp x, Fp y) {
    const uint64_t sum = x.number_ + y.number_;
    return Fp(sum >= kPrime ? sum - kPrime : sum);
  }
  constexpr Fp operator-() const { return Fp(number_ == 0 ? 0 : kPrime - number_); }
  friend constexpr Fp operator-(Fp x, Fp y) { return x + -y; }
  friend constexpr Fp operator*(Fp x, Fp y) {
    const unsigned __int128 product = static_cast<unsigned __int128>(x.number_) * y.number_;
    const uint64_t low = static_cast<uint64_t>(product) & kPrime;
    const uint64_t high = static_cast<uint64_t>(product >> 61);
    const uint64_t sum = low + high;
    return Fp(sum >= kPrime ? sum - kPrime : sum);
  }
  friend constexpr bool operator==(Fp x, Fp y) = default;

  constexpr Fp Power(uint64_t exponent) const {
    Fp result(1), square = *this;
    for (; exponent != 0; exponent >>= 1, square = square * square) {
      if ((exponent & 1) != 0) result = result * square;
    }
    return result;
  }
  // Of an element that is not zero.
  constexpr Fp Inverse() const { return Power(kPrime - 2); }

 private:
  constexpr explicit Fp(uint64_t reduced) : number_(reduced) {}
  uint64_t number_ = 0;
};

struct FpPair {
  Fp a, b;
  friend constexpr FpPair operator+(FpPair x, FpPair y) { return {x.a + y.a, x.b + y.b}; }
  friend constexpr FpPair operator-(FpPair x, FpPair y) { return {x.a - y.a, x.b - y.b}; }
  friend constexpr FpPair operator*(FpPair x, FpPair y) { return {x.a * y.a, x.b * y.b}; }
  constexpr FpPair operator-() const { return {-a, -b}; }
  friend constexpr bool operator==(FpPair x, FpPair y) = default;
};

}  // namespace hv
