#include "verify/element_text.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "hlo/float_formats.h"
#include "hlo/literal.h"

namespace hv {
namespace {

// The host bytes (little-endian, low ones first) of an integer in the type's width, sign-extended
// where narrower than a byte.
uint64_t IntegerBits(ElementType type, double number) {
  const auto wide = static_cast<int64_t>(number);
  const int bits = BitWidth(type);
  if (bits >= 64) return static_cast<uint64_t>(wide);
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t low = static_cast<uint64_t>(wide) & mask;
  if (IsSigned(type) && (low >> (bits - 1)) != 0) low |= ~mask;
  return low;
}

uint64_t BitsOf(ElementType type, double number) {
  uint64_t bits = 0;
  if (IsPred(type)) return number != 0 ? 1 : 0;
  if (IsInteger(type)) return IntegerBits(type, number);
  if (type == ElementType::kF64) {
    std::memcpy(&bits, &number, sizeof number);
  } else if (type == ElementType::kF32) {
    const float single = static_cast<float>(number);
    std::memcpy(&bits, &single, sizeof single);
  } else {
    bits = BitsFromDouble(type, number);
  }
  return bits;
}

Literal LiteralOf(const Value& value) {
  Literal literal;
  literal.shape = value.shape();
  literal.bytes = value.bytes();
  return literal;
}

}  // namespace

std::vector<int64_t> IndexOf(const Shape& shape, int64_t element) {
  std::vector<int64_t> index(shape.dims.size());
  for (size_t d = index.size(); d-- > 0;) {
    index[d] = element % shape.dims[d];
    element /= shape.dims[d];
  }
  return index;
}

std::string ElementText(const Value& value, int64_t element) {
  HV_CHECK(value.IsNative(), "text of a value that is not native");
  std::string text;
  AppendElement(value.shape()->type, value.bytes().data() + element * value.element_bytes(), &text);
  return text;
}

double ElementReal(const Value& value, int64_t element) {
  HV_CHECK(value.IsNative(), "number of a value that is not native");
  const Literal literal = LiteralOf(value);
  if (IsComplex(value.shape()->type)) return ComplexAt(literal, element).real();
  return RealAt(literal, element);
}

void StoreNumber(double number, int64_t element, Value* value) {
  const ElementType part = ComponentType(value->shape()->type);
  const uint64_t bits = BitsOf(part, number);
  std::byte* at = value->MutableBytes().data() + element * value->element_bytes();
  std::memcpy(at, &bits, static_cast<size_t>(HostBytes(part)));
  if (IsComplex(value->shape()->type)) {
    std::memset(at + HostBytes(part), 0, static_cast<size_t>(HostBytes(part)));
  }
}

}  // namespace hv
