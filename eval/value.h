// The value of one instruction on one device: a dense array of elements, a tuple, or a token.
// Values are immutable handles that share storage; whoever holds the only handle may write in
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "eval/storage.h"
#include "hlo/literal.h"
#include "hlo/shape.h"

namespace hv {

class Value {
 public:
  Value() = default;
  Value(const Value& other) noexcept { *this = other; }
  Value(Value&& other) noexcept { Swap(&other); }
  Value& operator=(const Value& other) noexcept {
    if (other.storage_ != nullptr) ++other.storage_->handles;
    Drop();
    shape_ = other.shape_;
    storage_ = other.storage_;
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Value taken(std::move(other));
    Swap(&taken);
    return *this;
  }
  ~Value() { Drop(); }

  static Value Tuple(const Shape* shape, std::vector<Value> elements);
  // The same of values that lie elsewhere and are moved from.
  static Value TupleFrom(const Shape* shape, std::span<Value> elements);
  static Value Token(const Shape* shape);
  static Value Extended(const Shape* shape, std::unique_ptr<const ExtendedValue> value);
  // Uninitialised native array (or code array of `code_bytes` per element), row-major.
  static Value NewNative(const Shape* shape) {
    return NewArray(shape, Encoding::kNative, HostBytes(shape->type));
  }
  static Value NewCode(const Shape* shape, int code_bytes) {
    return NewArray(shape, Encoding::kCode, code_bytes);
  }
  // An array whose bytes somebody else keeps as long as any handle lives; nobody writes to them.
  static Value Borrowed(const Shape* shape, Encoding encoding, int element_bytes,
                        std::span<const std::byte> bytes);
  static Value FromLiteral(const Literal& literal);  // bytes copied; not elided

  const Shape* shape() const { return shape_; }
  bool empty() const { return shape_ == nullptr; }
  bool IsDense() const { return Is(StorageKind::kArray); }
  bool IsNative() const { return IsDense() && storage_->encoding == Encoding::kNative; }
  Encoding encoding() const { return IsDense() ? storage_->encoding : Encoding::kNative; }
  int element_bytes() const { return IsDense() ? storage_->element_bytes : 0; }
  int64_t element_count() const { return shape_->element_count; }
  std::span<const std::byte> bytes() const {
    if (!IsDense()) return {};
    return {buffer().data(), buffer().size()};
  }
  // Writable bytes; only for values that were just made or whose handle is the only one.
  std::span<std::byte> MutableBytes() {
    HV_CHECK(IsUnique(), "writing to shared storage");
    return {buffer().data(), buffer().size()};
  }
  bool IsUnique() const { return IsDense() && storage_->handles == 1 && !buffer().IsBorrowed(); }
  bool IsBorrowed() const { return IsDense() && buffer().IsBorrowed(); }
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
  const ExtendedValue* extended() const {
    return Is(StorageKind::kExtended) ? static_cast<const ExtendedValue*>(storage_) : nullptr;
  }
  // The same storage under another shape of the same element count and width (reshape, bitcast).
  Value WithShape(const Shape* shape) const& { return Value(*this).WithShape(shape); }
  Value WithShape(const Shape* shape) && {
    HV_CHECK((IsDense() || Is(StorageKind::kExtended)) &&
                 shape->element_count == shape_->element_count,
             "same storage, different element count");
    shape_ = shape;
    return std::move(*this);
  }
  // Do two handles share their storage (same instance)?
  bool SharesStorage(const Value& other) const { return storage_ == other.storage_; }

 private:
  struct Elements;

  static Value NewArray(const Shape* shape, Encoding encoding, int element_bytes);
  // The first handle of `storage`.
  Value(const Shape* shape, Storage* storage) : shape_(shape), storage_(storage) {
    ++storage_->handles;
  }
  static Value Array(const Shape* shape, Encoding encoding, int element_bytes, Buffer* buffer) {
    buffer->encoding = encoding;
    buffer->element_bytes = element_bytes;
    return Value(shape, buffer);
  }
  bool Is(StorageKind kind) const { return storage_ != nullptr && storage_->kind == kind; }
  const Buffer& buffer() const { return *static_cast<const Buffer*>(storage_); }
  void Swap(Value* other) noexcept {
    std::swap(shape_, other->shape_);
    std::swap(storage_, other->storage_);
  }
  void Drop() noexcept {
    if (storage_ != nullptr && --storage_->handles == 0) DeleteStorage();
  }
  void DeleteStorage() noexcept;

  const Shape* shape_ = nullptr;
  Storage* storage_ = nullptr;  // null: empty, or a token
};

// Same shape (layouts aside), encoding and bits, through tuples; dense values only.
bool SameBits(const Value& a, const Value& b);

// Leaves of a value from left to right, tokens left out.
std::vector<Value> Leaves(const Value& value);

}  // namespace hv
