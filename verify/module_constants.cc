#include "verify/module_constants.h"

#include <cmath>
#include <set>

#include "hlo/literal.h"

namespace hv {
namespace {

constexpr int64_t kShort = 16;  // longer lists are data

void AddNumbers(const Literal& literal, size_t most, std::set<double>* numbers) {
  const Shape& shape = *literal.shape;
  const bool number = shape.IsArray() && !IsComplex(shape.type) && shape.type != ElementType::kPred;
  if (!number || literal.elided || shape.element_count > kShort) return;
  for (int64_t i = 0; i < shape.element_count; ++i) {
    const double value = RealAt(literal, i);
    if (!std::isfinite(value)) continue;
    for (const double near : {value - 1, value, value + 1}) {
      if (numbers->size() < most) numbers->insert(near);
    }
  }
}

}  // namespace

std::vector<double> NumbersMentioned(const Pair& pair, size_t most) {
  std::set<double> numbers;
  for (const Side side : kSides) {
    for (const Computation& computation : pair.of(side).computations) {
      for (const Instruction& instruction : computation.instructions) {
        if (instruction.literal != nullptr) AddNumbers(*instruction.literal, most, &numbers);
      }
    }
  }
  return {numbers.begin(), numbers.end()};
}

}  // namespace hv
