// Access, comparison and printing of literals. Source: hlo_text.md section 6.
#include "hlo/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "hlo/float_formats.h"

namespace hv {
namespace {

template <class T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// The low `bytes` of an element, zero-extended.
uint64_t LoadBits(const std::byte* element, int bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(bytes));
  return bits;
}

int64_t LoadInteger(ElementType type, const std::byte* element) {
  const int bytes = HostBytes(type);
  const uint64_t bits = LoadBits(element, bytes);
  if (!IsSigned(type)) return static_cast<int64_t>(bits);
  const int unused = 64 - 8 * bytes;
  return static_cast<int64_t>(bits << unused) >> unused;
}

double LoadReal(ElementType type, const std::byte* element) {
  if (type == ElementType::kF64) return Load<double>(element);
  if (type == ElementType::kF32) return Load<float>(element);
  if (IsFloat(type)) {
    return FloatFromBits(type, static_cast<uint32_t>(LoadBits(element, HostBytes(type))));
  }
  const int64_t integer = LoadInteger(type, element);
  return IsUnsigned(type) ? static_cast<double>(static_cast<uint64_t>(integer))
                          : static_cast<double>(integer);
}

const std::byte* ElementAt(const Literal& literal, int64_t index) {
  HV_CHECK(index >= 0 && index < literal.shape->element_count && !literal.elided,
           "element of a literal that has none there");
  return literal.bytes.data() + index * HostBytes(literal.shape->type);
}

template <class T>
void AppendInteger(T value, std::string* out) {
  char digits[32];
  out->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// As XLA prints floats, so that texts compare: the digits every float can hold if they give the
// value back, else as many as any float needs.
template <class T>
void AppendRoundTrip(T value, std::string* out) {
  using Limits = std::numeric_limits<T>;
  char text[40];
  char* end = text;
  for (int digits : {Limits::digits10, Limits::max_digits10}) {
    end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr;
    T back;
    if (std::from_chars(text, end, back).ec == std::errc() && back == value) break;
  }
  out->append(text, end);
}

// NaN with its sign, and its payload where it is not the default one (only the quiet bit set).
void AppendNan(ElementType type, uint64_t bits, std::string* out) {
  const int width = BitWidth(type);
  if ((bits >> (width - 1) & 1) != 0) *out += '-';
  *out += "nan";
  if (!HasInfinity(type)) return;  // formats without infinity have one NaN per sign
  const int mantissa = PrecisionBits(type) - 1;
  const uint64_t payload = bits & ((uint64_t{1} << mantissa) - 1);
  if (payload != uint64_t{1} << (mantissa - 1)) {
    fmt::format_to(std::back_inserter(*out), "(0x{:x})", payload);
  }
}

void AppendReal(ElementType type, const std::byte* element, std::string* out) {
  const double value = LoadReal(type, element);
  if (std::isnan(value)) return AppendNan(type, LoadBits(element, HostBytes(type)), out);
  if (std::isinf(value)) {
    *out += value < 0 ? "-inf" : "inf";
  } else if (value == 0 && std::signbit(value)) {
    *out += "-0.0";  // XLA reads "-0" as the integer 0
  } else if (type == ElementType::kF64) {
    AppendRoundTrip(value, out);
  } else if (type == ElementType::kF32) {
    AppendRoundTrip(static_cast<float>(value), out);
  } else {
    // Digits that tell neighbours of a p-bit significand apart: 1 + ceil(p log10 2).
    const int digits = 1 + static_cast<int>(std::ceil(PrecisionBits(type) * 0.30103));
    char text[32];
    out->append(
        text,
        std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr);
  }
}

// The elements from `*next` on, nested in braces for dimensions `dim` and up.
void AppendArray(const Literal& literal, size_t dim, int64_t* next, std::string* out) {
  const Shape& shape = *literal.shape;
  if (dim == shape.dims.size()) {
    AppendElement(shape.type, ElementAt(literal, (*next)++), out);
    return;
  }
  const bool spaced = shape.dims.size() > 1;
  *out += spaced ? "{ " : "{";
  for (int64_t i = 0; i < shape.dims[dim]; ++i) {
    if (i > 0) *out += ", ";
    AppendArray(literal, dim + 1, next, out);
  }
  *out += spaced ? " }" : "}";
}

// How many braces an empty array needs: XLA wants those of the dimensions before the first zero.
bool BracesAreFew(const Shape& shape) {
  constexpr int64_t kMany = 4096;
  int64_t count = 1;
  for (int64_t dim : shape.dims) {
    if (dim == 0) return true;
    if (dim > kMany || (count *= dim) > kMany) return false;
  }
  return true;
}

}  // namespace

bool SameLiteral(const Literal& a, const Literal& b) {
  if (&a == &b) return true;
  if (!SameShape(*a.shape, *b.shape) || a.elided || b.elided) return false;
  return std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end()) &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    [](const Literal* x, const Literal* y) { return SameLiteral(*x, *y); });
}

int64_t IntegerAt(const Literal& literal, int64_t index) {
  return LoadInteger(literal.shape->type, ElementAt(literal, index));
}

double RealAt(const Literal& literal, int64_t index) {
  return LoadReal(literal.shape->type, ElementAt(literal, index));
}

std::complex<double> ComplexAt(const Literal& literal, int64_t index) {
  const ElementType type = literal.shape->type;
  const std::byte* element = ElementAt(literal, index);
  if (!IsComplex(type)) return LoadReal(type, element);
  const ElementType part = ComponentType(type);
  return {LoadReal(part, element), LoadReal(part, element + HostBytes(part))};
}

void AppendElement(ElementType type, const std::byte* element, std::string* out) {
  if (IsComplex(type)) {
    const ElementType part = ComponentType(type);
    *out += '(';
    AppendReal(part, element, out);
    *out += ", ";
    AppendReal(part, element + HostBytes(part), out);
    *out += ')';
  } else if (IsFloat(type)) {
    AppendReal(type, element, out);
  } else if (IsUnsigned(type)) {
    AppendInteger(static_cast<uint64_t>(LoadInteger(type, element)), out);
  } else {
    AppendInteger(LoadInteger(type, element), out);
  }
}

void AppendLiteral(const Literal& literal, std::string* out) {
  const Shape& shape = *literal.shape;
  if (literal.elided) {
    *out += "{...}";
  } else if (shape.IsTuple()) {
    *out += '(';
    for (size_t i = 0; i < literal.elements.size(); ++i) {
      *out += i == 0 ? " " : ", ";
      AppendLiteral(*literal.elements[i], out);
    }
    *out += " )";
  } else if (shape.element_count == 0 && !BracesAreFew(shape)) {
    *out += "{}";
  } else if (shape.type == ElementType::kPred && shape.dims.empty()) {
    *out += literal.bytes[0] == std::byte{0} ? "false" : "true";
  } else {
    int64_t next = 0;
    AppendArray(literal, 0, &next, out);
  }
}

std::string ToString(const Literal& literal) {
  std::string text;
  AppendLiteral(literal, &text);
  return text;
}

}  // namespace hv
