#include "sim/literal_json.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "hlo/float_formats.h"

namespace hv {
namespace {

template <class T>
void Store(T value, std::byte* out) {
  std::memcpy(out, &value, sizeof value);
}

template <class T>
T Load(const std::byte* in) {
  T value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

template <class T>
std::optional<T> RealOf(const Json& node) {
  if (node.Is(Json::Kind::kString)) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if (node.string() == "nan") return std::numeric_limits<T>::quiet_NaN();
    if (node.string() == "inf") return kInfinity;
    if (node.string() == "-inf") return -kInfinity;
    return {};
  }
  if (!node.IsNumber()) return {};
  const std::string_view text = node.NumberText();
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {  // too small or too large for T
    return static_cast<T>(node.real());
  }
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

bool ReadFloat(const Json& node, ElementType type, std::byte* out) {
  if (type == ElementType::kF32) {
    const std::optional<float> value = RealOf<float>(node);
    if (value) Store(*value, out);
    return value.has_value();
  }
  const std::optional<double> value = RealOf<double>(node);
  if (!value) return false;
  if (type == ElementType::kF64) {
    Store(*value, out);
  } else if (HostBytes(type) == 1) {
    Store(static_cast<uint8_t>(BitsFromDouble(type, *value)), out);
  } else {
    Store(static_cast<uint16_t>(BitsFromDouble(type, *value)), out);
  }
  return true;
}

// Does the integer fit the type? `node` holds the 64 bits, kUnsigned above INT64_MAX.
bool Fits(const Json& node, ElementType type) {
  const int bits = BitWidth(type);
  const int64_t value = node.integer();
  if (IsUnsigned(type)) {
    if (node.Is(Json::Kind::kUnsigned)) return bits == 64;
    return value >= 0 && (bits == 64 || value < (int64_t{1} << bits));
  }
  if (node.Is(Json::Kind::kUnsigned)) return false;
  const int64_t limit = int64_t{1} << (bits - 1 < 63 ? bits - 1 : 62);
  return bits == 64 || (value >= -limit && value < limit);
}

bool ReadInteger(const Json& node, ElementType type, std::byte* out) {
  if (!node.IsInteger() || !Fits(node, type)) return false;
  switch (HostBytes(type)) {  // little endian: the low bytes of the 64
    case 1: Store(static_cast<int8_t>(node.integer()), out); break;
    case 2: Store(static_cast<int16_t>(node.integer()), out); break;
    case 4: Store(static_cast<int32_t>(node.integer()), out); break;
    default: Store(node.integer(), out);
  }
  return true;
}

bool ReadElement(const Json& node, ElementType type, std::byte* out) {
  if (IsPred(type)) {
    if (!node.Is(Json::Kind::kBool)) return false;
    Store(static_cast<uint8_t>(node.boolean()), out);
    return true;
  }
  if (IsInteger(type)) return ReadInteger(node, type, out);
  if (IsFloat(type)) return ReadFloat(node, type, out);
  if (!IsComplex(type) || node.items().size() != 2) return false;
  const ElementType part = ComponentType(type);
  return ReadFloat(node.items()[0], part, out) &&
         ReadFloat(node.items()[1], part, out + HostBytes(part));
}

class LiteralReader {
 public:
  LiteralReader(const Shape* shape, Value* value)
      : shape_(shape), width_(static_cast<size_t>(HostBytes(shape->type))),
        out_(value->MutableBytes().data()) {}

  Status Read(const Json& node, size_t dimension) {
    if (dimension == shape_->dims.size()) {
      if (!ReadElement(node, shape_->type, out_)) {
        return node.MakeError("bad-literal", "this is no value of type " +
                                                 std::string(ToString(shape_->type)));
      }
      out_ += width_;
      return {};
    }
    const int64_t size = shape_->dims[dimension];
    if (!node.Is(Json::Kind::kArray) || static_cast<int64_t>(node.items().size()) != size) {
      return node.MakeError("bad-literal", "expected a list of " + std::to_string(size) +
                                               " for " + ToString(*shape_, false));
    }
    for (const Json& item : node.items()) HV_RETURN_IF_ERROR(Read(item, dimension + 1));
    return {};
  }

 private:
  const Shape* shape_;
  size_t width_;
  std::byte* out_;
};

template <class T>
void AppendNumber(T value, std::string* out) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out->append(text, end);
}

template <class T>
void AppendReal(T value, std::string* out) {
  if (std::isnan(value)) {
    *out += "\"nan\"";
  } else if (std::isinf(value)) {
    *out += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else if (value == 0 && std::signbit(value)) {
    *out += "-0.0";
  } else {
    AppendNumber(value, out);
  }
}

void AppendFloat(ElementType type, const std::byte* element, std::string* out) {
  if (type == ElementType::kF64) {
    AppendReal(Load<double>(element), out);
  } else if (type == ElementType::kF32) {
    AppendReal(Load<float>(element), out);
  } else {
    const uint32_t bits =
        HostBytes(type) == 1 ? Load<uint8_t>(element) : Load<uint16_t>(element);
    AppendReal(static_cast<double>(FloatFromBits(type, bits)), out);
  }
}

void AppendDimension(const Value& value, size_t dimension, const std::byte** next,
                     std::string* out) {
  const Shape& shape = *value.shape();
  if (dimension == shape.dims.size()) {
    AppendElementJson(shape.type, *next, out);
    *next += HostBytes(shape.type);
    return;
  }
  *out += '[';
  for (int64_t i = 0; i < shape.dims[dimension]; ++i) {
    if (i > 0) *out += ", ";
    AppendDimension(value, dimension + 1, next, out);
  }
  *out += ']';
}

}  // namespace

Result<Value> ReadLiteralJson(const Json& node, const Shape* shape) {
  Value value = Value::NewNative(shape);
  HV_RETURN_IF_ERROR(LiteralReader(shape, &value).Read(node, 0));
  return value;
}

void AppendLiteralJson(const Value& value, std::string* out) {
  const std::byte* next = value.bytes().data();
  AppendDimension(value, 0, &next, out);
}

void AppendElementJson(ElementType type, const std::byte* element, std::string* out) {
  if (IsPred(type)) {
    *out += Load<uint8_t>(element) != 0 ? "true" : "false";
  } else if (IsFloat(type)) {
    AppendFloat(type, element, out);
  } else if (IsComplex(type)) {
    const ElementType part = ComponentType(type);
    *out += '[';
    AppendFloat(part, element, out);
    *out += ", ";
    AppendFloat(part, element + HostBytes(part), out);
    *out += ']';
  } else if (IsSigned(type)) {
    switch (HostBytes(type)) {
      case 1: AppendNumber(int{Load<int8_t>(element)}, out); break;
      case 2: AppendNumber(Load<int16_t>(element), out); break;
      case 4: AppendNumber(Load<int32_t>(element), out); break;
      default: AppendNumber(Load<int64_t>(element), out);
    }
  } else {
    switch (HostBytes(type)) {
      case 1: AppendNumber(unsigned{Load<uint8_t>(element)}, out); break;
      case 2: AppendNumber(Load<uint16_t>(element), out); break;
      case 4: AppendNumber(Load<uint32_t>(element), out); break;
      default: AppendNumber(Load<uint64_t>(element), out);
    }
  }
}

}  // namespace hv
