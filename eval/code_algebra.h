// What a code domain must know about its codes: a commutative ring with constants, free commutative
// operations (max, min, and, or, xor), and pseudo-random functions for everything else. All work on
// spans of codes. Source: the page on exact inputs, section "Exact inputs as an error-correcting
// code".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "hlo/element_type.h"
#include "hlo/op.h"

namespace hv {

using FunctionKey = std::array<uint64_t, 2>;

class CodeAlgebra {
 public:
  virtual ~CodeAlgebra() = default;
  virtual std::string_view name() const = 0;
  virtual int code_bytes() const = 0;

  // One code from two words below 2^61 (how many of them count is the algebra's affair), and back.
  virtual void Encode(std::array<uint64_t, 2> words, std::byte* code) const = 0;
  virtual std::array<uint64_t, 2> Decode(const std::byte* code) const = 0;

  // Codes of native elements: exact where the ring has the number, else opaque leaves.
  virtual void Lift(ElementType type, const std::byte* native, size_t count,
                    std::byte* codes) const = 0;

  // out = x fn y for kAdd, kSubtract and kMultiply, out = -x for kNegate (y unused).
  virtual void Ring(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
                    size_t count) const = 0;
  // sums[i] += factor * row[i].
  virtual void MultiplyAdd(const std::byte* factor, const std::byte* row, std::byte* sums,
                           size_t count) const = 0;
  // c[m,n] = a[m,k] * b[k,n] for matrices whose rows lie one after the other; c is all zero bytes.
  virtual void MatrixMultiply(int64_t m, int64_t n, int64_t k, const std::byte* a,
                              const std::byte* b, std::byte* c) const;
  // out = x / divisor for a native divisor; false if the ring cannot (zero, not finite).
  virtual bool DivideByNative(ElementType type, const std::byte* x, const std::byte* divisor,
                              std::byte* out, size_t count) const = 0;

  // A free associative and commutative operation: the result depends on the multiset of operands
  // only, through any nesting of the same `fn`. Empty is its identity.
  virtual void Free(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
                    size_t count) const = 0;
  virtual void Empty(ScalarFn fn, std::byte* out, size_t count) const = 0;

  // A pseudo-random function of codes in final form (Finish), keyed by `key`.
  virtual void Function(FunctionKey key, std::span<const std::byte* const> in, std::byte* out,
                        size_t count) const = 0;
  // Is a code the number modulo 2^w for integers of every width w?
  virtual bool IntegersWrap() const = 0;
  // The final form of codes of a type: free operations closed, integers modulo 2^w where that
  // matters. What functions read and what outputs are compared in. In place allowed.
  virtual void Finish(ElementType type, const std::byte* in, std::byte* out,
                      size_t count) const = 0;
};

// Codes of one word.
inline uint64_t WordAt(const std::byte* codes, size_t i) {
  uint64_t code;
  std::memcpy(&code, codes + i * sizeof(code), sizeof(code));
  return code;
}
inline void PutWord(std::byte* codes, size_t i, uint64_t code) {
  std::memcpy(codes + i * sizeof(code), &code, sizeof(code));
}

// `gross`: negation is the identity, constants count by size.
std::unique_ptr<CodeAlgebra> MakeFieldAlgebra(uint64_t seed, bool gross = false);
std::unique_ptr<CodeAlgebra> MakeWrapAlgebra(uint64_t seed);
std::unique_ptr<CodeAlgebra> MakeMagnitudeAlgebra();
std::unique_ptr<CodeAlgebra> MakeSetAlgebra();

// Native elements one by one: integers, and floats as doubles; complex components too.
struct NativeNumber {
  enum class Kind : uint8_t { kInteger, kReal, kComplex };
  Kind kind = Kind::kInteger;
  bool is_unsigned = false;
  int64_t integer = 0;  // bits of a 64-bit unsigned
  double real = 0, imaginary = 0;
};
NativeNumber NumberAt(ElementType type, const std::byte* elements, size_t index);

}  // namespace hv
