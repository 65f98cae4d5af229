// Gross weights: how much of every leaf an element can hold, cancellation ignored. Codes are
// doubles, rounded upwards where they get inexact; infinity is "too much". A function starts a new
// leaf of weight one.
#include <cmath>
#include <cstring>
#include <limits>

#include "eval/code_algebra.h"

namespace hv {
namespace {

// Sums and products of small whole numbers are exact.
double Upwards(double value) {
  const bool exact = value < 0x1p53 && std::trunc(value) == value;
  return exact ? value : std::nextafter(value, std::numeric_limits<double>::infinity());
}

class MagnitudeAlgebra : public CodeAlgebra {
 public:
  std::string_view name() const override { return "magnitude"; }
  int code_bytes() const override { return sizeof(double); }

  void Encode(std::array<uint64_t, 2> words, std::byte* code) const override {
    Put(code, 0, static_cast<double>(words[0]));
  }
  // The weight rounded up, saturated.
  std::array<uint64_t, 2> Decode(const std::byte* code) const override {
    const double weight = std::ceil(At(code, 0));
    return {weight < 0x1p63 ? static_cast<uint64_t>(weight) : ~uint64_t{0}, 0};
  }

  void Lift(ElementType type, const std::byte* native, size_t count,
            std::byte* codes) const override {
    for (size_t i = 0; i < count; ++i) {
      const NativeNumber n = NumberAt(type, native, i);
      double size = std::hypot(n.real, n.imaginary);
      if (n.kind == NativeNumber::Kind::kInteger) {
        size = n.is_unsigned ? static_cast<double>(static_cast<uint64_t>(n.integer))
                             : std::fabs(static_cast<double>(n.integer));
      }
      Put(codes, i, std::isfinite(size) ? size : 1.0);
    }
  }

  void Ring(ScalarFn fn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    for (size_t i = 0; i < count; ++i) {
      const double a = At(x, i);
      const double b = fn == ScalarFn::kNegate ? 0 : At(y, i);
      Put(out, i, fn == ScalarFn::kMultiply ? Product(a, b) : Upwards(a + b));
    }
  }
  void MultiplyAdd(const std::byte* factor, const std::byte* row, std::byte* sums,
                   size_t count) const override {
    const double f = At(factor, 0);
    for (size_t i = 0; i < count; ++i) {
      Put(sums, i, Upwards(At(sums, i) + Product(f, At(row, i))));
    }
  }
  bool DivideByNative(ElementType type, const std::byte* x, const std::byte* divisor,
                      std::byte* out, size_t count) const override {
    for (size_t i = 0; i < count; ++i) {
      const NativeNumber n = NumberAt(type, divisor, i);
      if (n.kind != NativeNumber::Kind::kReal || !std::isfinite(n.real) || n.real == 0)
        return false;
      Put(out, i, Upwards(At(x, i) / std::fabs(n.real)));
    }
    return true;
  }

  void Free(ScalarFn, const std::byte* x, const std::byte* y, std::byte* out,
            size_t count) const override {
    for (size_t i = 0; i < count; ++i) Put(out, i, Upwards(At(x, i) + At(y, i)));
  }
  void Empty(ScalarFn, std::byte* out, size_t count) const override {
    for (size_t i = 0; i < count; ++i) Put(out, i, 0);
  }

  void Function(FunctionKey, std::span<const std::byte* const>, std::byte* out,
                size_t count) const override {
    for (size_t i = 0; i < count; ++i) Put(out, i, 1);
  }
  bool IntegersWrap() const override { return false; }
  void Finish(ElementType, const std::byte* in, std::byte* out, size_t count) const override {
    if (in != out) std::memcpy(out, in, count * sizeof(double));
  }

 private:
  // Nothing of something without bounds is nothing.
  static double Product(double a, double b) { return a == 0 || b == 0 ? 0 : Upwards(a * b); }
  static double At(const std::byte* codes, size_t i) {
    double code;
    std::memcpy(&code, codes + i * sizeof(code), sizeof(code));
    return code;
  }
  static void Put(std::byte* codes, size_t i, double code) {
    std::memcpy(codes + i * sizeof(code), &code, sizeof(code));
  }
};

}  // namespace

std::unique_ptr<CodeAlgebra> MakeMagnitudeAlgebra() { return std::make_unique<MagnitudeAlgebra>(); }

}  // namespace hv
