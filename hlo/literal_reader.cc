// One reader per class of element type. Counts are checked against the shape while reading.
#include "hlo/literal_reader.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstring>

#include "hlo/float_formats.h"

namespace hv {
namespace {

class LiteralReader {
 public:
  explicit LiteralReader(Reader* in) : in_(*in) {}
  const Literal* Read(const Shape* shape);

 private:
  const Literal* ReadTuple(const Shape* shape);
  bool ReadElements(const Shape& shape, std::byte* bytes);
  bool ReadNested(const Shape& shape, size_t dim, std::byte** next);
  bool ReadElement(ElementType type, std::byte* to);
  bool ReadPred(std::byte* to);
  bool ReadInteger(ElementType type, std::byte* to);
  bool ReadComplex(ElementType type, std::byte* to);
  bool ReadFloat(ElementType type, std::byte* to);
  bool ReadNan(ElementType type, std::byte* to);
  bool ConsumeElided();
  bool OutOfRange(uint32_t where, ElementType type);

  Reader& in_;
};

const Literal* LiteralReader::Read(const Shape* shape) {
  if (shape->IsTuple()) return ReadTuple(shape);
  if (!shape->IsArray()) {
    in_.FailHere("literal-type", fmt::format("{} has no values", ToString(*shape)));
    return nullptr;
  }
  for (int64_t dim : shape->dims) {
    if (dim != kUnboundedSize) continue;
    in_.FailHere("literal-type", "a constant needs sizes, the shape has '?'");
    return nullptr;
  }
  auto* literal = in_.arena().New<Literal>();
  literal->shape = shape;
  if (!shape->dims.empty() && ConsumeElided()) {
    literal->elided = true;
    return literal;
  }
  const auto count = static_cast<size_t>(shape->element_count);
  if (count > in_.bytes_left()) {
    in_.FailHere("literal-count", fmt::format("expected {} elements", count));
    return nullptr;
  }
  const auto size = count * static_cast<size_t>(HostBytes(shape->type));
  auto* bytes = static_cast<std::byte*>(in_.arena().Allocate(size, alignof(std::max_align_t)));
  literal->bytes = {bytes, size};
  return ReadElements(*shape, bytes) ? literal : nullptr;
}

const Literal* LiteralReader::ReadTuple(const Shape* shape) {
  Reader::Nest nest(&in_);
  if (!nest) return nullptr;
  auto* literal = in_.arena().New<Literal>();
  literal->shape = shape;
  if (ConsumeElided()) {
    literal->elided = true;
    return literal;
  }
  if (!in_.Expect('(', "before the elements of a tuple")) return nullptr;
  auto elements = in_.arena().NewArray<const Literal*>(shape->elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0 && !in_.Expect(',', "between the elements of a tuple")) return nullptr;
    elements[i] = Read(shape->elements[i]);
    if (elements[i] == nullptr) return nullptr;
  }
  literal->elements = elements;
  return in_.Expect(')', "after the elements of a tuple") ? literal : nullptr;
}

bool LiteralReader::ConsumeElided() {
  const char* const start = in_.position();
  if (in_.Consume('{') && in_.Consume("...") && in_.Consume('}')) return true;
  in_.set_position(start);
  return false;
}

bool LiteralReader::ReadElements(const Shape& shape, std::byte* bytes) {
  if (!shape.dims.empty() && in_.Peek() != '{') {
    return in_.FailHere("literal-scalar",
                        fmt::format("expected '{{': {} is an array", ToString(shape, false)));
  }
  if (shape.element_count == 0) {
    // `{}` stands for any empty array, as printing all braces may be impossible.
    const char* const start = in_.position();
    if (in_.Consume('{') && in_.Consume('}')) return true;
    in_.set_position(start);
  }
  return ReadNested(shape, 0, &bytes);
}

bool LiteralReader::ReadNested(const Shape& shape, size_t dim, std::byte** next) {
  if (dim == shape.dims.size()) {
    if (!ReadElement(shape.type, *next)) return false;
    *next += HostBytes(shape.type);
    return true;
  }
  const uint32_t where = in_.TokenOffset();
  if (!in_.Expect('{', "in an array literal")) return false;
  for (int64_t i = 0; i < shape.dims[dim]; ++i) {
    while (in_.Consume(',')) continue;  // commas mean nothing here, in XLA too
    if (in_.Peek() == '}') {
      return in_.Fail(where, "literal-count",
                      fmt::format("expected {} elements here, found {}", shape.dims[dim], i));
    }
    if (!ReadNested(shape, dim + 1, next)) return false;
  }
  while (in_.Consume(',')) continue;
  if (in_.Consume('}')) return true;
  return in_.FailHere("literal-count",
                      fmt::format("expected '}}' after {} elements", shape.dims[dim]));
}

bool LiteralReader::ReadElement(ElementType type, std::byte* to) {
  if (IsPred(type)) return ReadPred(to);
  if (IsInteger(type)) return ReadInteger(type, to);
  return IsComplex(type) ? ReadComplex(type, to) : ReadFloat(type, to);
}

bool LiteralReader::ReadPred(std::byte* to) {
  bool value = false;
  IntegerToken token;
  if (Reader::IsNameStart(in_.Peek())) {
    if (!in_.Bool(&value)) return false;
  } else {
    if (!in_.Integer(&token)) return false;
    value = token.magnitude != 0;
  }
  *to = std::byte{value};
  return true;
}

bool LiteralReader::OutOfRange(uint32_t where, ElementType type) {
  return in_.Fail(where, "literal-range", fmt::format("value out of range for {}", ToString(type)));
}

bool LiteralReader::ReadInteger(ElementType type, std::byte* to) {
  const uint32_t where = in_.TokenOffset();
  IntegerToken token;
  const char first = in_.PeekRaw();
  if (first == 't' || first == 'f') {
    return in_.FailHere("literal-word", fmt::format("{} takes numbers only", ToString(type)));
  }
  if (!in_.Integer(&token)) return false;
  if (in_.PeekRaw() == '.' || Reader::IsNameStart(in_.PeekRaw())) {
    return in_.Fail(where, "literal-integer",
                    fmt::format("{} takes integers only", ToString(type)));
  }
  const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  const uint64_t limit = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  uint64_t value = token.magnitude;
  if (token.negative) {
    // s64 texts of u64 values are XLA's: -1 is 2^64-1.
    const bool fits =
        type == ElementType::kU64 || (IsSigned(type) ? value <= limit + 1 : value == 0);
    if (!fits) return OutOfRange(where, type);
    value = 0 - value;
  } else if (value > limit) {
    return OutOfRange(where, type);
  }
  std::memcpy(to, &value, static_cast<size_t>(HostBytes(type)));  // little-endian
  return true;
}

bool LiteralReader::ReadComplex(ElementType type, std::byte* to) {
  const ElementType part = ComponentType(type);
  return in_.Expect('(', "before a complex number") && ReadFloat(part, to) &&
         in_.Expect(',', "in a complex number") && ReadFloat(part, to + HostBytes(part)) &&
         in_.Expect(')', "after a complex number");
}

void StoreBits(ElementType type, uint64_t bits, std::byte* to) {
  std::memcpy(to, &bits, static_cast<size_t>(HostBytes(type)));
}

void StoreReal(ElementType type, double value, std::byte* to) {
  if (type == ElementType::kF64) {
    std::memcpy(to, &value, sizeof value);
  } else if (type == ElementType::kF32) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  } else {
    StoreBits(type, BitsFromDouble(type, value), to);
  }
}

// The value in `type`'s own rounding, to see whether it is still finite.
double Rounded(ElementType type, const std::byte* from) {
  if (type == ElementType::kF64) return 0;  // what Reader::Real took is finite
  uint32_t bits = 0;
  std::memcpy(&bits, from, static_cast<size_t>(HostBytes(type)));
  if (type != ElementType::kF32) return FloatFromBits(type, bits);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

bool LiteralReader::ReadFloat(ElementType type, std::byte* to) {
  const uint32_t where = in_.TokenOffset();
  const bool negative = in_.PeekRaw() == '-';
  const char first = in_.PeekRaw(negative ? 1 : 0);
  if (first == 'n') return ReadNan(type, to);
  if (first == 'i') {
    if (negative) in_.Consume('-');
    if (!in_.ConsumeWord("inf")) return in_.FailExpected("a number");
    StoreReal(type, negative ? -INFINITY : INFINITY, to);
    return true;
  }
  if (first == 't' || first == 'f') {
    return in_.FailHere("literal-word", fmt::format("{} takes numbers only", ToString(type)));
  }
  double value;
  if (!in_.Real(&value)) return false;
  StoreReal(type, value, to);
  return std::isfinite(Rounded(type, to)) || OutOfRange(where, type);
}

// [-]nan, with a payload (hexadecimal, not zero, within the mantissa) where the type has them.
bool LiteralReader::ReadNan(ElementType type, std::byte* to) {
  const bool negative = in_.Consume('-');
  if (!in_.ConsumeWord("nan")) return in_.FailExpected("a number");
  StoreReal(type, negative ? -static_cast<double>(NAN) : static_cast<double>(NAN), to);
  if (!in_.Consume('(')) return true;
  const uint32_t where = in_.TokenOffset();
  uint64_t payload = 0;
  int digits = 0;
  const bool hex = in_.Consume("0x") || in_.Consume("0X");
  for (; hex && std::isxdigit(static_cast<unsigned char>(in_.PeekRaw())) != 0; ++digits) {
    const char c = in_.PeekRaw();
    payload =
        payload << 4 | static_cast<uint64_t>(Reader::IsDigit(c) ? c - '0' : (c | 32) - 'a' + 10);
    in_.set_position(in_.position() + 1);
  }
  if (digits == 0) return in_.FailExpected("a NaN payload such as 0x1");
  if (!in_.Expect(')', "after a NaN payload")) return false;
  // Formats without infinities have no payloads.
  const int mantissa = HasInfinity(type) ? PrecisionBits(type) - 1 : 0;
  if (digits > 16 || payload == 0 || payload >> mantissa != 0) {
    return in_.Fail(where, "nan-payload", fmt::format("no NaN payload of {}", ToString(type)));
  }
  const int width = BitWidth(type);
  const uint64_t sign = uint64_t{negative} << (width - 1);
  const uint64_t exponent = ((uint64_t{1} << (width - 1)) - 1) >> mantissa << mantissa;
  StoreBits(type, sign | exponent | payload, to);
  return true;
}

}  // namespace

const Literal* ReadLiteral(Reader* in, const Shape* shape) { return LiteralReader(in).Read(shape); }

}  // namespace hv
