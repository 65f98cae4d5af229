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
    PutWord(code, 0, words[0]);
  }
  std::array<uint64_t, 2> Decode(const std::byte* code) const override {
    return {WordAt(code, 0), 0};
  }

  void Lift(ElementType, const std::byte*, size_t count, std::byte* codes) const override {
    std::memset(codes, 0, count * sizeof(uint64_t));
  }
  void Ring(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    Unite(x, fn == ScalarFn::kNegate ? x : y, out, count);
  }
  void MultiplyAdd(const std::byte* factor, const std::byte* row, std::byte* sums,
                   size_t count) const override {
    for (size_t i = 0; i < count; ++i)
      PutWord(sums, i, WordAt(sums, i) | WordAt(factor, 0) | WordAt(row, i));
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
      for (const std::byte* operand : in) all |= WordAt(operand, i);
      PutWord(out, i, all);
    }
  }
  bool IntegersWrap() const override { return false; }
  void Finish(ElementType, const std::byte* in, std::byte* out, size_t count) const override {
    if (in != out) std::memcpy(out, in, count * sizeof(uint64_t));
  }

 private:
  static void Unite(const std::byte* x, const std::byte* y, std::byte* out, size_t count) {
    for (size_t i = 0; i < count; ++i) PutWord(out, i, WordAt(x, i) | WordAt(y, i));
  }
};

}  // namespace

std::unique_ptr<CodeAlgebra> MakeSetAlgebra() { return std::make_unique<SetAlgebra>(); }

}  // namespace hv
