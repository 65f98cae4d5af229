// Which of 64 chosen leaves an element depends on, as a set of bits. For maxima, minima,
// conjunctions and disjunctions of leaves that is all there is to know: each is determined by its
// set of operands. Source: the page on exact inputs, "and/or: bit-sliced lanes", with one leaf in
// each lane.
#include <cstring>

#include "eval/code_algebra.h"

namespace hv {
namespace {

class SetAlgebra : public CodeAlgebra {
 public:
  std::string_view name() const override { return "sets"; }
  int code_bytes() const override { return sizeof(uint64_t); }

  void Encode(std::array<uint64_t, 2> words, std::byte* code) const override {
    Put(code, 0, words[0]);
  }
  std::array<uint64_t, 2> Decode(const std::byte* code) const override { return {At(code, 0), 0}; }

  void Lift(ElementType, const std::byte*, size_t count, std::byte* codes) const override {
    std::memset(codes, 0, count * sizeof(uint64_t));
  }
  void Ring(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    Unite(x, fn == ScalarFn::kNegate ? x : y, out, count);
  }
  void MultiplyAdd(const std::byte* factor, const std::byte* row, std::byte* sums,
                   size_t count) const override {
    for (size_t i = 0; i < count; ++i) Put(sums, i, At(sums, i) | At(factor, 0) | At(row, i));
  }
  bool DivideByNative(ElementType, const std::byte* x, const std::byte*, std::byte* out,
                      size_t count) const override {
    Unite(x, x, out, count);
    return true;
  }
  void Free(ScalarFn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    Unite(x, y, out, count);
  }
  void Empty(ScalarFn, std::byte* out, size_t count) const override {
    std::memset(out, 0, count * sizeof(uint64_t));
  }
  void Function(FunctionKey, std::span<const std::byte* const> in, std::byte* out,
                size_t count) const override {
    for (size_t i = 0; i < count; ++i) {
      uint64_t all = 0;
      for (const std::byte* operand : in) all |= At(operand, i);
      Put(out, i, all);
    }
  }
  bool IntegersWrap() const override { return false; }
  void Finish(ElementType, const std::byte* in, std::byte* out, size_t count) const override {
    if (in != out) std::memcpy(out, in, count * sizeof(uint64_t));
  }

 private:
  static void Unite(const std::byte* x, const std::byte* y, std::byte* out, size_t count) {
    for (size_t i = 0; i < count; ++i) Put(out, i, At(x, i) | At(y, i));
  }
  static uint64_t At(const std::byte* codes, size_t i) {
    uint64_t code;
    std::memcpy(&code, codes + i * sizeof(code), sizeof(code));
    return code;
  }
  static void Put(std::byte* codes, size_t i, uint64_t code) {
    std::memcpy(codes + i * sizeof(code), &code, sizeof(code));
  }
};

}  // namespace

std::unique_ptr<CodeAlgebra> MakeSetAlgebra() { return std::make_unique<SetAlgebra>(); }

}  // namespace hv
