#include "eval/code_repeats.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "eval/move.h"
#include "eval/odometer.h"

namespace hv {
namespace {

// Replaces repeated codes among `codes` (pointers to them) by the identity of one operation.
class Repeats {
 public:
  Repeats(const CodeAlgebra& algebra, ScalarFn fn)
      : width_(static_cast<size_t>(algebra.code_bytes())),
        cancel_(fn == ScalarFn::kXor),
        identity_(width_) {
    algebra.Empty(fn, identity_.data(), 1);
  }

  // Reorders `codes`, not what they point at.
  void Drop(std::vector<std::byte*>* codes) const {
    const auto compare = [this](const std::byte* a, const std::byte* b) {
      return std::memcmp(a, b, width_);
    };
    std::sort(codes->begin(), codes->end(),
              [&](const std::byte* a, const std::byte* b) { return compare(a, b) < 0; });
    for (size_t i = 0; i < codes->size();) {
      size_t end = i + 1;
      while (end < codes->size() && compare((*codes)[i], (*codes)[end]) == 0) ++end;
      // One of them stays; under xor none if their number is even.
      const size_t kept = cancel_ && (end - i) % 2 == 0 ? 0 : 1;
      for (size_t k = i + kept; k < end; ++k) {
        std::memcpy((*codes)[k], identity_.data(), width_);
      }
      i = end;
    }
  }

 private:
  size_t width_;
  bool cancel_;
  std::vector<std::byte> identity_;
};

std::vector<int64_t> Offsets(std::span<const Digit> digits) {
  std::vector<int64_t> offsets;
  if (Odometer::Count(digits) == 0) return offsets;
  Odometer odometer(digits);
  do {
    offsets.push_back(odometer.in());
  } while (odometer.Next());
  return offsets;
}

}  // namespace

void DropRepeatsAcross(const CodeAlgebra& algebra, ScalarFn fn, std::vector<Value>* values) {
  const Repeats repeats(algebra, fn);
  std::vector<std::byte*> first, codes;
  for (Value& value : *values) {
    value = Owned(std::move(value));
    first.push_back(value.MutableBytes().data());
  }
  const int64_t width = algebra.code_bytes();
  for (int64_t i = 0; i < (*values)[0].element_count(); ++i) {
    codes.clear();
    for (std::byte* start : first) codes.push_back(start + i * width);
    repeats.Drop(&codes);
  }
}

void DropRepeatsAlong(const CodeAlgebra& algebra, ScalarFn fn, const ReduceGeometry& geometry,
                      Value* value) {
  const Repeats repeats(algebra, fn);
  *value = Owned(std::move(*value));
  std::byte* start = value->MutableBytes().data();
  const int64_t width = algebra.code_bytes();
  const std::vector<int64_t> terms = Offsets(geometry.reduced);
  std::vector<std::byte*> codes;
  for (int64_t result : Offsets(geometry.kept)) {
    codes.clear();
    for (int64_t term : terms) codes.push_back(start + (result + term) * width);
    repeats.Drop(&codes);
  }
}

}  // namespace hv
