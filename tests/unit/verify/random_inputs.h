// Inputs for random modules, and how many of them a test runs.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "eval/scalar_op.h"
#include "eval/value.h"
#include "random_module.h"

namespace hv {

// `usual`, or the number in the environment variable HV_FUZZ_CASES.
inline uint64_t CasesToRun(uint64_t usual) {
  const char* wanted = std::getenv("HV_FUZZ_CASES");
  return wanted == nullptr ? usual : std::strtoull(wanted, nullptr, 10);
}

inline void ConvertInPlace(ElementType from, ElementType to, std::byte* element) {
  const std::byte* in = element;
  std::byte out[16] = {};
  ScalarOp::Convert(from, to)->Run({&in, 1}, out, 1);
  std::memcpy(element, out, sizeof out);
}

// Values that rules trip over: extremes, signed zeros, infinities, NaN; or small integers.
inline Value RandomInput(const Shape* shape, uint64_t seed, uint64_t stream, bool small) {
  Value value = Value::NewNative(shape);
  Draw draw(seed, stream);
  const ElementType type = shape->type;
  const std::vector<double> special = {0.0,       -0.0, 1.0, -1.0, INFINITY,
                                       -INFINITY, NAN,  3.5, 1e30, -7};
  const std::vector<double> plain = {0, 1, -1, 2, -2, 3};
  for (int64_t i = 0; i < shape->element_count; ++i) {
    std::byte element[16] = {};
    if (IsFloat(type)) {
      const double x = draw.Of(small ? plain : special);
      std::memcpy(element, &x, sizeof x);
      ConvertInPlace(ElementType::kF64, type, element);
    } else {
      const int64_t x = IsPred(type)    ? draw.Below(2)
                        : draw.OneIn(3) ? draw.Below(1 << 30)
                                        : draw.In(-3, 3);
      std::memcpy(element, &x, sizeof x);
      ConvertInPlace(ElementType::kS64, type, element);
    }
    const size_t width = static_cast<size_t>(HostBytes(type));
    std::memcpy(value.MutableBytes().data() + static_cast<size_t>(i) * width, element, width);
  }
  return value;
}

}  // namespace hv
