// The value of one instruction on one device: a dense array of elements, a tuple, or a token.
// Values are immutable handles that share storage; whoever holds the only handle may write in
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hlo/literal.h"
#include "hlo/shape.h"

namespace hv {

// What one element is. Movement kernels look at the width alone.
enum class Encoding : uint8_t {
  kNative,  // HostBytes(type) bytes, as in a Literal: exact values of the HLO type
  kCode,    // the domain's own element (Domain::code_bytes), standing for a value of the HLO type
};

// Bytes of values alive now and at most so far, over all devices of this process.
struct MemoryUse {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
};
MemoryUse& ProcessMemoryUse();

// 64-byte aligned storage counted in ProcessMemoryUse.
class Buffer {
 public:
  explicit Buffer(size_t bytes);  // not initialised
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_;
  size_t capacity_;  // reused storage may be larger
};

// A representation that is not a dense array (symbolic terms); domains that use one downcast it.
class ExtendedValue {
 public:
  virtual ~ExtendedValue() = default;
};

class Value {
 public:
  Value() = default;
  // A dense array with `element_bytes` bytes per element in row-major order.
  static Value Array(const Shape* shape, Encoding encoding, int element_bytes,
                     std::shared_ptr<Buffer> buffer);
  static Value Tuple(const Shape* shape, std::vector<Value> elements);
  static Value Token(const Shape* shape);
  static Value Extended(const Shape* shape, std::shared_ptr<const ExtendedValue> value);
  // Uninitialised native array (or code array of `code_bytes` per element).
  static Value NewNative(const Shape* shape);
  static Value NewCode(const Shape* shape, int code_bytes);
  static Value FromLiteral(const Literal& literal);  // bytes copied; not elided

  const Shape* shape() const { return shape_; }
  bool empty() const { return shape_ == nullptr; }
  bool IsDense() const { return buffer_ != nullptr; }
  bool IsNative() const { return buffer_ != nullptr && encoding_ == Encoding::kNative; }
  Encoding encoding() const { return encoding_; }
  int element_bytes() const { return element_bytes_; }
  int64_t element_count() const { return shape_->element_count; }
  std::span<const std::byte> bytes() const;
  // Writable bytes; only for values that were just made or whose handle is the only one.
  std::span<std::byte> MutableBytes();
  bool IsUnique() const { return buffer_ != nullptr && buffer_.use_count() == 1; }
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(bytes().data()), bytes().size() / sizeof(T)};
  }
  template <class T>
  std::span<T> MutableAs() {
    return {reinterpret_cast<T*>(MutableBytes().data()), bytes().size() / sizeof(T)};
  }
  std::span<const Value> elements() const;  // of a tuple
  // Element `index` of a tuple: moved out if this is the tuple's only handle, else copied. Nobody
  // may read that element of this tuple again.
  Value TakeElement(size_t index);
  const ExtendedValue* extended() const { return extended_.get(); }
  // The same storage under another shape of the same element count and width (reshape, bitcast).
  Value WithShape(const Shape* shape) const;
  // Do two handles share their storage (same instance)?
  bool SharesStorage(const Value& other) const { return buffer_ == other.buffer_; }

 private:
  const Shape* shape_ = nullptr;
  Encoding encoding_ = Encoding::kNative;
  int element_bytes_ = 0;
  std::shared_ptr<Buffer> buffer_;
  std::shared_ptr<std::vector<Value>> elements_;
  std::shared_ptr<const ExtendedValue> extended_;
};

// Same shape (layouts aside), encoding and bits, through tuples; dense values only.
bool SameBits(const Value& a, const Value& b);

// Leaves of a value from left to right, tokens left out.
std::vector<Value> Leaves(const Value& value);

}  // namespace hv
