// Reads native elements for the algebras that lift them.
#include "eval/code_algebra.h"

#include <cstring>

#include "hlo/float_formats.h"

namespace hv {
namespace {

template <class T>
T Load(const std::byte* elements, size_t index) {
  T value;
  std::memcpy(&value, elements + index * sizeof(T), sizeof(T));
  return value;
}

int64_t IntegerOf(ElementType type, const std::byte* e, size_t i) {
  const bool is_signed = IsSigned(type);
  switch (HostBytes(type)) {
    case 1:
      return is_signed ? Load<int8_t>(e, i) : static_cast<int64_t>(Load<uint8_t>(e, i));
    case 2:
      return is_signed ? Load<int16_t>(e, i) : static_cast<int64_t>(Load<uint16_t>(e, i));
    case 4:
      return is_signed ? Load<int32_t>(e, i) : static_cast<int64_t>(Load<uint32_t>(e, i));
    default:
      return Load<int64_t>(e, i);
  }
}

double RealOf(ElementType type, const std::byte* e, size_t i) {
  switch (HostBytes(type)) {
    case 1:
      return static_cast<double>(FloatFromBits(type, Load<uint8_t>(e, i)));
    case 2:
      return static_cast<double>(FloatFromBits(type, Load<uint16_t>(e, i)));
    case 4:
      return static_cast<double>(Load<float>(e, i));
    default:
      return Load<double>(e, i);
  }
}

}  // namespace

void CodeAlgebra::MatrixMultiply(int64_t m, int64_t n, int64_t k, const std::byte* a,
                                 const std::byte* b, std::byte* c) const {
  const int64_t width = code_bytes();
  for (int64_t i = 0; i < m; ++i, c += n * width) {
    for (int64_t p = 0; p < k; ++p, a += width) {
      MultiplyAdd(a, b + p * n * width, c, static_cast<size_t>(n));
    }
  }
}

NativeNumber NumberAt(ElementType type, const std::byte* elements, size_t index) {
  NativeNumber n;
  if (IsComplex(type)) {
    n.kind = NativeNumber::Kind::kComplex;
    n.real = RealOf(ComponentType(type), elements, 2 * index);
    n.imaginary = RealOf(ComponentType(type), elements, 2 * index + 1);
  } else if (IsFloat(type)) {
    n.kind = NativeNumber::Kind::kReal;
    n.real = RealOf(type, elements, index);
  } else {
    n.is_unsigned = !IsSigned(type);
    n.integer = IntegerOf(type, elements, index);
  }
  return n;
}

}  // namespace hv
