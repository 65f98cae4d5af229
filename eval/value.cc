// Handles and the few operations that look at whole values.
#include "eval/value.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.h"

namespace hv {

// The elements of a tuple follow this header.
struct Value::Elements : Storage {
  explicit Elements(size_t n) : Storage(StorageKind::kTuple), count(n) {}
  static size_t BytesFor(size_t count) { return sizeof(Elements) + count * sizeof(Value); }
  std::span<Value> all() { return {reinterpret_cast<Value*>(this + 1), count}; }

  size_t count;
};

Value Value::NewArray(const Shape* shape, Encoding encoding, int element_bytes) {
  HV_CHECK(shape->IsArray(), "an array of shape " + hv::ToString(*shape));
  const auto bytes = static_cast<size_t>(shape->element_count * element_bytes);
  return Array(shape, encoding, element_bytes, Buffer::New(bytes));
}

Value Value::Borrowed(const Shape* shape, Encoding encoding, int element_bytes,
                      std::span<const std::byte> bytes) {
  HV_CHECK(shape->IsArray() &&
               bytes.size() == static_cast<size_t>(shape->element_count * element_bytes),
           "borrowed bytes do not fit " + hv::ToString(*shape));
  return Array(shape, encoding, element_bytes, Buffer::Borrow(bytes));
}

Value Value::TupleFrom(const Shape* shape, std::span<Value> elements) {
  HV_CHECK(shape->elements.size() == elements.size(), "tuple size differs from its shape");
  auto* storage = new (TakeBlock(Elements::BytesFor(elements.size()))) Elements(elements.size());
  std::uninitialized_move(elements.begin(), elements.end(), storage->all().begin());
  return Value(shape, storage);
}

Value Value::Tuple(const Shape* shape, std::vector<Value> elements) {
  return TupleFrom(shape, elements);
}

Value Value::Token(const Shape* shape) {
  Value v;
  v.shape_ = shape;
  return v;
}

Value Value::Extended(const Shape* shape, std::unique_ptr<const ExtendedValue> value) {
  auto* storage = const_cast<ExtendedValue*>(value.release());  // its handles are counted in it
  return Value(shape, storage);
}

void Value::DeleteStorage() noexcept {
  switch (storage_->kind) {
    case StorageKind::kArray: Buffer::Delete(static_cast<Buffer*>(storage_)); break;
    case StorageKind::kExtended: delete static_cast<ExtendedValue*>(storage_); break;
    case StorageKind::kTuple: {
      auto* tuple = static_cast<Elements*>(storage_);
      std::destroy_n(tuple->all().data(), tuple->count);
      GiveBlock(tuple, Elements::BytesFor(tuple->count));
    }
  }
}

Value Value::FromLiteral(const Literal& literal) {
  HV_CHECK(!literal.elided, "the value of an elided constant");
  if (literal.shape->IsTuple()) {
    std::vector<Value> elements;
    elements.reserve(literal.elements.size());
    for (const Literal* element : literal.elements) elements.push_back(FromLiteral(*element));
    return Tuple(literal.shape, std::move(elements));
  }
  if (literal.shape->IsToken()) return Token(literal.shape);
  Value v = NewNative(literal.shape);
  if (!literal.bytes.empty()) {
    std::memcpy(v.MutableBytes().data(), literal.bytes.data(), literal.bytes.size());
  }
  return v;
}

std::span<const Value> Value::elements() const {
  if (!Is(StorageKind::kTuple)) return {};
  return static_cast<Elements*>(storage_)->all();
}

Value Value::TakeElement(size_t index) {
  Value& element = static_cast<Elements*>(storage_)->all()[index];
  return storage_->handles == 1 ? std::move(element) : element;
}

bool SameBits(const Value& a, const Value& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  if (!SameShape(*a.shape(), *b.shape())) return false;
  if (a.shape()->IsTuple()) {
    return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(),
                      b.elements().end(), SameBits);
  }
  if (a.IsDense() != b.IsDense() || a.encoding() != b.encoding() ||
      a.element_bytes() != b.element_bytes()) {
    return false;
  }
  return a.bytes().empty() ||
         std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

std::vector<Value> Leaves(const Value& value) {
  std::vector<Value> leaves;
  if (value.shape()->IsTuple()) {
    for (const Value& element : value.elements()) {
      std::vector<Value> inner = Leaves(element);
      leaves.insert(leaves.end(), inner.begin(), inner.end());
    }
  } else if (!value.shape()->IsToken()) {
    leaves.push_back(value);
  }
  return leaves;
}

}  // namespace hv
