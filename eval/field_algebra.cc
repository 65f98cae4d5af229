// Codes in F_p x F_q. Numbers are lifted exactly (finite floats are dyadic rationals); free
// operations are sums of pseudo-random images, marked as open in spare bits until another op reads
// them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "eval/code_algebra.h"
#include "eval/field.h"
#include "eval/field_product.h"
#include "eval/keyed_hash.h"
#include "eval/span_loops.h"
#include "eval/vector_tile.h"

namespace hv {
namespace {

constexpr int kTagShift = 61;

// A pair as stored: which free operation is open (0: none) stands in the top bits of the first
// word.
struct Stored {
  uint64_t a, b;
};

uint64_t TagOf(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kMaximum:
      return 1;
    case ScalarFn::kMinimum:
      return 2;
    case ScalarFn::kAnd:
      return 3;
    case ScalarFn::kOr:
      return 4;
    default:
      return 5;  // xor
  }
}

// Sums of pairs none of which is open. Both words at once: what a prime leaves is the lesser of the
// sum and the sum less the prime, as unsigned numbers.
struct PairSums {
  const std::byte* x;
  const std::byte* y;
  std::byte* out;
  size_t count;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    const auto* a = reinterpret_cast<const uint64_t*>(x);
    const auto* b = reinterpret_cast<const uint64_t*>(y);
    auto* to = reinterpret_cast<uint64_t*>(out);
    HV_INDEPENDENT_LOOP
    for (size_t i = 0; i < count; ++i) {
      const uint64_t p = a[2 * i] + b[2 * i], q = a[2 * i + 1] + b[2 * i + 1];
      to[2 * i] = std::min(p, p - Fp::kPrime);
      to[2 * i + 1] = std::min(q, q - Fq::kPrime);
    }
  }
};

class FieldAlgebra : public CodeAlgebra {
 public:
  FieldAlgebra(uint64_t seed, bool gross)
      : seed_(seed), gross_(gross), imaginary_(Random(KeyedHash(seed).Add(1))) {}

  std::string_view name() const override { return "F_p"; }
  int code_bytes() const override { return sizeof(Stored); }

  void Encode(std::array<uint64_t, 2> words, std::byte* code) const override {
    Put(code, 0, {Fp::Of(words[0]), Fq::Of(words[1])});
  }
  std::array<uint64_t, 2> Decode(const std::byte* code) const override {
    const FieldPair pair = Closed(code, 0);
    return {pair.a.number(), pair.b.number()};
  }

  void Lift(ElementType type, const std::byte* native, size_t count,
            std::byte* codes) const override {
    for (size_t i = 0; i < count; ++i) {
      const NativeNumber n = NumberAt(type, native, i);
      if (n.kind == NativeNumber::Kind::kInteger) {
        Put(codes, i, Integer(n));
      } else {
        Put(codes, i, Real(n.real) + imaginary_ * Real(n.imaginary));
      }
    }
  }

  void Ring(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    if (gross_ && fn == ScalarFn::kSubtract) fn = ScalarFn::kAdd;
    if (fn == ScalarFn::kAdd && !AnyOpen(x, count) && !AnyOpen(y, count)) {
      return tile::RunOn(tile::FastestVectors(), PairSums{x, y, out, count});
    }
    for (size_t i = 0; i < count; ++i) {
      const FieldPair a = Closed(x, i);
      if (fn == ScalarFn::kNegate) {
        Put(out, i, gross_ ? a : -a);
        continue;
      }
      const FieldPair b = Closed(y, i);
      Put(out, i, fn == ScalarFn::kAdd ? a + b : fn == ScalarFn::kSubtract ? a - b : a * b);
    }
  }

  void MultiplyAdd(const std::byte* factor, const std::byte* row, std::byte* sums,
                   size_t count) const override {
    const FieldPair f = Closed(factor, 0);
    for (size_t i = 0; i < count; ++i) Put(sums, i, Closed(sums, i) + f * Closed(row, i));
  }

  void MatrixMultiply(int64_t m, int64_t n, int64_t k, const std::byte* a, const std::byte* b,
                      std::byte* c) const override {
    std::vector<FieldPair> product(static_cast<size_t>(m * n));
    MultiplyMatrices(m, n, k, AllClosed(a, m * k), AllClosed(b, k * n), product);
    for (size_t i = 0; i < product.size(); ++i) Put(c, i, product[i]);
  }

  bool DivideByNative(ElementType type, const std::byte* x, const std::byte* divisor,
                      std::byte* out, size_t count) const override {
    for (size_t i = 0; i < count; ++i) {
      const NativeNumber n = NumberAt(type, divisor, i);
      if (n.kind != NativeNumber::Kind::kReal || !std::isfinite(n.real) || n.real == 0)
        return false;
      const FieldPair d = Real(n.real);
      Put(out, i, Closed(x, i) * FieldPair{d.a.Inverse(), d.b.Inverse()});
    }
    return true;
  }

  // Empty is the open operation with sum zero; one operand alone stays what it is.
  void Free(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    const uint64_t tag = TagOf(fn);
    for (size_t i = 0; i < count; ++i) {
      const Stored a = Load(x, i), b = Load(y, i);
      if (IsEmpty(a, tag)) {
        Store(out, i, b);
      } else if (IsEmpty(b, tag)) {
        Store(out, i, a);
      } else {
        Put(out, i, Opened(a, tag) + Opened(b, tag), tag);
      }
    }
  }
  void Empty(ScalarFn fn, std::byte* out, size_t count) const override {
    for (size_t i = 0; i < count; ++i) Put(out, i, {}, TagOf(fn));
  }

  void Function(FunctionKey key, std::span<const std::byte* const> in, std::byte* out,
                size_t count) const override {
    for (size_t i = 0; i < count; ++i) {
      KeyedHash hash(seed_);
      hash.Add(key[0]).Add(key[1]);
      for (const std::byte* operand : in) {
        const Stored code = Load(operand, i);
        hash.Add(code.a).Add(code.b);
      }
      Put(out, i, Random(hash));
    }
  }
  bool IntegersWrap() const override { return false; }
  void Finish(ElementType, const std::byte* in, std::byte* out, size_t count) const override {
    for (size_t i = 0; i < count; ++i) Put(out, i, Closed(in, i));
  }

 private:
  static Stored Load(const std::byte* codes, size_t i) {
    Stored s;
    std::memcpy(&s, codes + i * sizeof(Stored), sizeof(Stored));
    return s;
  }
  static void Store(std::byte* codes, size_t i, Stored s) {
    std::memcpy(codes + i * sizeof(Stored), &s, sizeof(Stored));
  }
  static void Put(std::byte* codes, size_t i, FieldPair pair, uint64_t tag = 0) {
    Store(codes, i, {pair.a.number() | tag << kTagShift, pair.b.number()});
  }
  static FieldPair PairOf(Stored s) {
    return {Fp::Of(s.a & ~(~uint64_t{0} << kTagShift)), Fq::Of(s.b)};
  }
  static bool IsEmpty(Stored s, uint64_t tag) { return s.a == tag << kTagShift && s.b == 0; }
  static FieldPair Random(const KeyedHash& hash) {
    return {Fp::Of(hash.First()), Fq::Of(hash.Second())};
  }

  static bool AnyOpen(const std::byte* codes, size_t count) {
    const auto* words = reinterpret_cast<const uint64_t*>(codes);
    uint64_t any = 0;
    for (size_t i = 0; i < count; ++i) any |= words[2 * i];
    return any >> kTagShift != 0;
  }
  std::vector<FieldPair> AllClosed(const std::byte* codes, int64_t count) const {
    std::vector<FieldPair> pairs(static_cast<size_t>(count));
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = Closed(codes, i);
    return pairs;
  }

  // The code as an element of the ring: an open operation becomes a value of its own.
  FieldPair Closed(const std::byte* codes, size_t i) const { return Closed(Load(codes, i)); }
  FieldPair Closed(Stored s) const {
    const uint64_t tag = s.a >> kTagShift;
    if (tag == 0) return PairOf(s);
    return Random(KeyedHash(seed_).Add(2).Add(tag).Add(s.a).Add(s.b));
  }
  // The code as an operand of the free operation `tag`: its sum if that is what is open.
  FieldPair Opened(Stored s, uint64_t tag) const {
    if (s.a >> kTagShift == tag) return PairOf(s);
    const FieldPair closed = Closed(s);
    return Random(KeyedHash(seed_).Add(3).Add(tag).Add(closed.a.number()).Add(closed.b.number()));
  }

  FieldPair Integer(const NativeNumber& n) const {
    const auto bits = static_cast<uint64_t>(n.integer);
    if (n.is_unsigned) return {Fp::Of(bits), Fq::Of(bits)};
    const FieldPair number{Fp::OfSigned(n.integer), Fq::OfSigned(n.integer)};
    return gross_ && n.integer < 0 ? -number : number;
  }

  // Finite doubles are integers times powers of two; others are opaque leaves.
  FieldPair Real(double value) const {
    if (!std::isfinite(value)) {
      const uint64_t kind = std::isnan(value) ? 0 : value > 0 ? 1 : 2;
      return Random(KeyedHash(seed_).Add(4).Add(kind));
    }
    int exponent = 0;
    const double fraction = std::frexp(gross_ ? std::fabs(value) : value, &exponent);
    auto digits = static_cast<int64_t>(std::ldexp(fraction, 53));
    exponent -= 53;
    for (; exponent < 0 && digits != 0 && digits % 2 == 0; ++exponent) digits /= 2;
    return {Fp::OfSigned(digits) * Fp::PowerOfTwo(exponent),
            Fq::OfSigned(digits) * Fq::PowerOfTwo(exponent)};
  }

  uint64_t seed_;
  bool gross_;           // signs do not count
  FieldPair imaginary_;  // stands for i
};

}  // namespace

std::unique_ptr<CodeAlgebra> MakeFieldAlgebra(uint64_t seed, bool gross) {
  return std::make_unique<FieldAlgebra>(seed, gross);
}

}  // namespace hv
