#include "sim/generated_inputs.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "hlo/float_formats.h"
#include "sim/hash.h"

namespace hv {
namespace {

// The low HostBytes(type) bytes of an element.
uint64_t ElementBits(ElementType type, uint64_t word) {
  if (IsPred(type)) return word >> 63;
  if (IsInteger(type)) {
    const int bits = std::min(BitWidth(type), 4);
    const uint64_t value = word >> (64 - bits);
    const bool negative = IsSigned(type) && (value >> (bits - 1)) != 0;
    return negative ? value | ~uint64_t{0} << bits : value;
  }
  const double unit = static_cast<double>(static_cast<int64_t>(word) >> 11) * 0x1p-52;  // [-1, 1)
  if (type == ElementType::kF64) {
    uint64_t bits;
    std::memcpy(&bits, &unit, sizeof bits);
    return bits;
  }
  if (type == ElementType::kF32) {
    const float value = static_cast<float>(unit);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  return BitsFromDouble(type, unit);
}

Value GenerateArray(const Shape* shape, const CounterRng& rng) {
  Value value = Value::NewNative(shape);
  const ElementType part = ComponentType(shape->type);
  const size_t width = static_cast<size_t>(HostBytes(part));
  std::byte* out = value.MutableBytes().data();
  const size_t count = value.bytes().size() / width;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = ElementBits(part, rng.Word(i));
    std::memcpy(out + i * width, &bits, width);
  }
  return value;
}

Value Generate(const Shape* shape, uint64_t seed, uint64_t* stream) {
  if (shape->IsToken()) return Value::Token(shape);
  if (!shape->IsTuple()) return GenerateArray(shape, CounterRng(seed, ++*stream));
  std::vector<Value> elements;
  for (const Shape* element : shape->elements) elements.push_back(Generate(element, seed, stream));
  return Value::Tuple(shape, std::move(elements));
}

}  // namespace

Value GenerateInput(const Shape* shape, const InputKey& key) {
  uint64_t stream = Mix(Mix(key.trial, static_cast<uint64_t>(key.device.value)),
                        static_cast<uint64_t>(key.parameter));
  return Generate(shape, key.seed, &stream);
}

}  // namespace hv
