// Arithmetic in the fields F_p and F_q, p = 2^61 - 1 and q = 2^61 - 31, and pairs of their
// elements: two independent fingerprints carried as one code. Two primes, because modulo p alone
// 2^61 is 1: constants that differ by such a factor would look alike in every run.
#pragma once

#include <cstdint>

namespace hv {

// An element of the field of 2^61 - kGap elements, as a number below that.
template <uint64_t kGap>
class PrimeField {
 public:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - kGap;

  constexpr PrimeField() = default;
  static constexpr PrimeField Of(uint64_t number) {
    const uint64_t folded = (number & kLow) + kGap * (number >> 61);
    return PrimeField(folded >= kPrime ? folded - kPrime : folded);
  }
  static constexpr PrimeField OfSigned(int64_t number) {
    const auto magnitude =
        number < 0 ? ~static_cast<uint64_t>(number) + 1 : static_cast<uint64_t>(number);
    return number < 0 ? -Of(magnitude) : Of(magnitude);
  }
  // 2^exponent, negative exponents included.
  static constexpr PrimeField PowerOfTwo(int exponent) {
    if (exponent >= 0 && exponent < 61) return Of(uint64_t{1} << exponent);
    constexpr PrimeField kHalf((kPrime + 1) / 2);
    return exponent < 0 ? kHalf.Power(static_cast<uint64_t>(-exponent))
                        : Of(2).Power(static_cast<uint64_t>(exponent));
  }

  constexpr uint64_t number() const { return number_; }
  constexpr bool IsZero() const { return number_ == 0; }

  friend constexpr PrimeField operator+(PrimeField x, PrimeField y) {
    const uint64_t sum = x.number_ + y.number_;
    return PrimeField(sum >= kPrime ? sum - kPrime : sum);
  }
  constexpr PrimeField operator-() const { return PrimeField(number_ == 0 ? 0 : kPrime - number_); }
  friend constexpr PrimeField operator-(PrimeField x, PrimeField y) { return x + -y; }
  // 2^61 is kGap: the high half of the product counts kGap times, which takes 61 + 5 bits.
  friend constexpr PrimeField operator*(PrimeField x, PrimeField y) {
    const unsigned __int128 product = static_cast<unsigned __int128>(x.number_) * y.number_;
    const auto low = static_cast<uint64_t>(product) & kLow;
    if constexpr (kGap == 1) {
      const uint64_t sum = low + static_cast<uint64_t>(product >> 61);
      return PrimeField(sum >= kPrime ? sum - kPrime : sum);
    } else {
      const unsigned __int128 high = (product >> 61) * kGap;
      return Of(low + (static_cast<uint64_t>(high) & kLow)) +
             Of(kGap * static_cast<uint64_t>(high >> 61));
    }
  }
  friend constexpr bool operator==(PrimeField x, PrimeField y) = default;

  constexpr PrimeField Power(uint64_t exponent) const {
    PrimeField result(1), square = *this;
    for (; exponent != 0; exponent >>= 1, square = square * square) {
      if ((exponent & 1) != 0) result = result * square;
    }
    return result;
  }
  // Of an element that is not zero.
  constexpr PrimeField Inverse() const { return Power(kPrime - 2); }

 private:
  static constexpr uint64_t kLow = (uint64_t{1} << 61) - 1;
  constexpr explicit PrimeField(uint64_t reduced) : number_(reduced) {}
  uint64_t number_ = 0;
};

// A sum of products that is reduced as seldom as 128 bits allow.
template <class Field>
class LazySum {
 public:
  // x * y < 2^122, of which 60 fit beside what a reduction leaves.
  static constexpr int64_t kProducts = 60;
  void AddProduct(Field x, Field y) {
    sum_ += static_cast<unsigned __int128>(x.number()) * y.number();
  }
  // A number that leaves room in 128 bits.
  void Add(unsigned __int128 number) { sum_ += number; }
  // Comes after at most kProducts products. 2^61 is the field's gap.
  void Reduce() { sum_ = (sum_ & kLow) + (sum_ >> 61) * kGap; }
  Field Sum() const {
    LazySum reduced = *this;
    reduced.Reduce();
    reduced.Reduce();
    return Field::Of(static_cast<uint64_t>(reduced.sum_));
  }

 private:
  static constexpr uint64_t kLow = (uint64_t{1} << 61) - 1;
  static constexpr uint64_t kGap = kLow + 1 - Field::kPrime;
  unsigned __int128 sum_ = 0;
};

using Fp = PrimeField<1>;
using Fq = PrimeField<31>;

struct FieldPair {
  Fp a;
  Fq b;
  friend constexpr FieldPair operator+(FieldPair x, FieldPair y) { return {x.a + y.a, x.b + y.b}; }
  friend constexpr FieldPair operator-(FieldPair x, FieldPair y) { return {x.a - y.a, x.b - y.b}; }
  friend constexpr FieldPair operator*(FieldPair x, FieldPair y) { return {x.a * y.a, x.b * y.b}; }
  constexpr FieldPair operator-() const { return {-a, -b}; }
  friend constexpr bool operator==(FieldPair x, FieldPair y) = default;
};

}  // namespace hv
