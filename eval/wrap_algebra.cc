// Codes in Z/2^64, of which every Z/2^w is an image: exact for + - * of integers. Functions and
// free operations read integers modulo 2^w; what is not an integer is an opaque leaf.
#include <bit>
#include <cmath>
#include <cstring>

#include "eval/code_algebra.h"
#include "eval/gemm.h"
#include "eval/keyed_hash.h"

namespace hv {
namespace {

class WrapAlgebra : public CodeAlgebra {
 public:
  explicit WrapAlgebra(uint64_t seed) : seed_(seed) {}

  std::string_view name() const override { return "Z/2^64"; }
  int code_bytes() const override { return sizeof(uint64_t); }

  void Encode(std::array<uint64_t, 2> words, std::byte* code) const override {
    PutWord(code, 0, words[0]);
  }
  std::array<uint64_t, 2> Decode(const std::byte* code) const override {
    return {WordAt(code, 0), 0};
  }

  void Lift(ElementType type, const std::byte* native, size_t count,
            std::byte* codes) const override {
    for (size_t i = 0; i < count; ++i) {
      const NativeNumber n = NumberAt(type, native, i);
      const bool integer =
          n.kind == NativeNumber::Kind::kInteger ||
          (n.imaginary == 0 && std::trunc(n.real) == n.real && std::fabs(n.real) < 0x1p63);
      if (n.kind == NativeNumber::Kind::kInteger) {
        PutWord(codes, i, static_cast<uint64_t>(n.integer));
      } else if (integer) {
        PutWord(codes, i, static_cast<uint64_t>(static_cast<int64_t>(n.real)));
      } else {
        PutWord(codes, i,
                KeyedHash(seed_)
                    .Add(1)
                    .Add(std::bit_cast<uint64_t>(n.real))
                    .Add(std::bit_cast<uint64_t>(n.imaginary))
                    .First());
      }
    }
  }

  void Ring(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    switch (fn) {
      case ScalarFn::kAdd:
        for (size_t i = 0; i < count; ++i) PutWord(out, i, WordAt(x, i) + WordAt(y, i));
        return;
      case ScalarFn::kSubtract:
        for (size_t i = 0; i < count; ++i) PutWord(out, i, WordAt(x, i) - WordAt(y, i));
        return;
      case ScalarFn::kNegate:
        for (size_t i = 0; i < count; ++i) PutWord(out, i, uint64_t{0} - WordAt(x, i));
        return;
      default:
        for (size_t i = 0; i < count; ++i) PutWord(out, i, WordAt(x, i) * WordAt(y, i));
    }
  }
  void MultiplyAdd(const std::byte* factor, const std::byte* row, std::byte* sums,
                   size_t count) const override {
    const uint64_t f = WordAt(factor, 0);
    for (size_t i = 0; i < count; ++i) PutWord(sums, i, WordAt(sums, i) + f * WordAt(row, i));
  }
  void MatrixMultiply(int64_t m, int64_t n, int64_t k, const std::byte* a, const std::byte* b,
                      std::byte* c) const override {
    const auto* left = reinterpret_cast<const uint64_t*>(a);
    const auto* right = reinterpret_cast<const uint64_t*>(b);
    auto* out = reinterpret_cast<uint64_t*>(c);
    hv::MatrixMultiply(Product<uint64_t>{m, n, k, {left, k, 1}, {right, n, 1}, {out, n, 1}});
  }
  bool DivideByNative(ElementType, const std::byte*, const std::byte*, std::byte*,
                      size_t) const override {
    return false;  // 2 has no inverse
  }

  void Free(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    const auto image = [&](uint64_t code) {
      return KeyedHash(seed_).Add(2).Add(static_cast<uint64_t>(fn)).Add(code).First();
    };
    for (size_t i = 0; i < count; ++i) PutWord(out, i, image(WordAt(x, i)) + image(WordAt(y, i)));
  }
  void Empty(ScalarFn fn, std::byte* out, size_t count) const override {
    const uint64_t code = KeyedHash(seed_).Add(3).Add(static_cast<uint64_t>(fn)).First();
    for (size_t i = 0; i < count; ++i) PutWord(out, i, code);
  }

  void Function(FunctionKey key, std::span<const std::byte* const> in, std::byte* out,
                size_t count) const override {
    for (size_t i = 0; i < count; ++i) {
      KeyedHash hash(seed_);
      hash.Add(4).Add(key[0]).Add(key[1]);
      for (const std::byte* operand : in) hash.Add(WordAt(operand, i));
      PutWord(out, i, hash.First());
    }
  }
  bool IntegersWrap() const override { return true; }
  void Finish(ElementType type, const std::byte* in, std::byte* out, size_t count) const override {
    const int width = IsInteger(type) ? BitWidth(type) : 64;
    const uint64_t mask = ~uint64_t{0} >> (64 - width);
    for (size_t i = 0; i < count; ++i) PutWord(out, i, WordAt(in, i) & mask);
  }

 private:
  uint64_t seed_;
};

}  // namespace

std::unique_ptr<CodeAlgebra> MakeWrapAlgebra(uint64_t seed) {
  return std::make_unique<WrapAlgebra>(seed);
}

}  // namespace hv
