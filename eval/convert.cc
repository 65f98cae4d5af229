// Converts values span by span; bit casts of sub-byte types by packing.
#include "eval/convert.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "eval/scalar_op.h"

namespace hv {

Result<Value> ConvertValue(const Module& module, const Value& value, ElementType type) {
  const ElementType from = value.shape()->type;
  if (from == type) return value;
  const std::optional<ScalarOp> op = ScalarOp::Convert(from, type);
  if (!op) {
    return Unsupported("unsupported-op", "convert of " + std::string(ToString(from)) + " to " +
                                             std::string(ToString(type)));
  }
  Value result = Value::NewNative(module.context->shapes.WithType(*value.shape(), type));
  const std::byte* in[1] = {value.bytes().data()};
  op->Run(in, result.MutableBytes().data(), static_cast<size_t>(value.element_count()));
  return result;
}

namespace {

// The bits [first, first + count) of packed elements of `width` bits, one per `bytes` bytes.
uint64_t BitsOf(const std::byte* data, int width, int bytes, int64_t first, int count) {
  uint64_t bits = 0;
  for (int done = 0; done < count;) {
    const int64_t at = first + done;
    const auto offset = static_cast<int>(at % width);
    uint64_t element = 0;
    std::memcpy(&element, data + at / width * bytes, static_cast<size_t>(bytes));
    const int now = std::min(count - done, width - offset);
    bits |= (element >> offset & (~uint64_t{0} >> (64 - now))) << done;
    done += now;
  }
  return bits;
}

}  // namespace

Value BitcastConvertValue(const Value& value, const Shape* shape) {
  const ElementType from = value.shape()->type, to = shape->type;
  const int from_bits = BitWidth(from), to_bits = BitWidth(to);
  if (from_bits % 8 == 0 && to_bits % 8 == 0) {
    Value result = Value::NewNative(shape);
    if (shape->element_count > 0) {
      std::memcpy(result.MutableBytes().data(), value.bytes().data(), value.bytes().size());
    }
    return result;
  }
  Value result = Value::NewNative(shape);
  std::byte* out = result.MutableBytes().data();
  const int to_bytes = HostBytes(to);
  for (int64_t i = 0; i < shape->element_count; ++i) {
    uint64_t bits = BitsOf(value.bytes().data(), from_bits, HostBytes(from), i * to_bits, to_bits);
    if (IsSigned(to)) {
      bits = static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - to_bits)) >> (64 - to_bits));
    }
    std::memcpy(out + i * to_bytes, &bits, static_cast<size_t>(to_bytes));
  }
  return result;
}

}  // namespace hv
