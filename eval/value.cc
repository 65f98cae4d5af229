// Storage of values and the few operations that look at whole values. Uses of memory are counted
// here, in one place, for --memory-limit and "peak_bytes".
#include "eval/value.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <utility>

#include "base/check.h"

namespace hv {
namespace {

constexpr size_t kKeptFrom = size_t{1} << 18;  // smaller storage is cheap to ask for again
constexpr size_t kHugePage = size_t{1} << 21;
constexpr std::align_val_t kAlignment{64};
constexpr std::align_val_t kHugeAlignment{kHugePage};

// Fresh storage. Where it is large the system is asked for huge pages: 512 times fewer faults, each
// of which costs as much as computing on its 4 KiB.
std::byte* Allocate(size_t bytes) {
  if (bytes < kHugePage) return static_cast<std::byte*>(::operator new(bytes, kAlignment));
  auto* data = static_cast<std::byte*>(::operator new(bytes, kHugeAlignment));
#if defined(__linux__)
  madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // a hint: failing changes nothing
#endif
  return data;
}

void Free(std::byte* data, size_t bytes) {
  ::operator delete(data, bytes < kHugePage ? kAlignment : kHugeAlignment);
}

// Freed storage kept for reuse: touching fresh pages costs more than computing on them. Live and
// kept bytes together stay within an eighth more than was alive at the peak: without any room, the
// least new value would drive out storage that the next step asks for.
class Keeper {
 public:
  // Storage of at least `bytes`, at most an eighth more; null if none is kept.
  std::byte* Take(size_t bytes, size_t* capacity) {
    const auto found = kept_.lower_bound(bytes);
    if (found == kept_.end() || found->first > bytes + bytes / 8) return nullptr;
    *capacity = found->first;
    std::byte* data = found->second;
    kept_bytes_ -= found->first;
    kept_.erase(found);
    return data;
  }
  void Keep(std::byte* data, size_t capacity) {
    kept_.emplace(capacity, data);
    kept_bytes_ += capacity;
  }
  // Gives storage back until at most `bytes` are kept.
  void ShrinkTo(size_t bytes) {
    while (kept_bytes_ > bytes) {
      const auto largest = std::prev(kept_.end());
      kept_bytes_ -= largest->first;
      Free(largest->second, largest->first);
      kept_.erase(largest);
    }
  }

 private:
  std::multimap<size_t, std::byte*> kept_;  // by capacity
  size_t kept_bytes_ = 0;
};

Keeper& TheKeeper() {
  static Keeper& keeper = *new Keeper();  // outlives every value
  return keeper;
}

}  // namespace

MemoryUse& ProcessMemoryUse() {
  static MemoryUse use;
  return use;
}

Buffer::Buffer(size_t bytes) : size_(bytes), capacity_(std::max(bytes, size_t{1})) {
  MemoryUse& use = ProcessMemoryUse();
  use.live_bytes += static_cast<int64_t>(size_);
  data_ = bytes < kKeptFrom ? nullptr : TheKeeper().Take(bytes, &capacity_);
  if (data_ == nullptr) {
    const int64_t room = use.peak_bytes + use.peak_bytes / 8 - use.live_bytes;
    TheKeeper().ShrinkTo(static_cast<size_t>(std::max(room, int64_t{0})));
    data_ = Allocate(capacity_);
  }
  use.peak_bytes = std::max(use.peak_bytes, use.live_bytes);
}

Buffer::~Buffer() {
  ProcessMemoryUse().live_bytes -= static_cast<int64_t>(size_);
  if (capacity_ < kKeptFrom) {
    Free(data_, capacity_);
  } else {
    TheKeeper().Keep(data_, capacity_);
  }
}

Value Value::Array(const Shape* shape, Encoding encoding, int element_bytes,
                   std::shared_ptr<Buffer> buffer) {
  HV_CHECK(shape->IsArray() && buffer != nullptr &&
               buffer->size() == static_cast<size_t>(shape->element_count * element_bytes),
           "array storage does not fit " + hv::ToString(*shape));
  Value v;
  v.shape_ = shape;
  v.encoding_ = encoding;
  v.element_bytes_ = element_bytes;
  v.buffer_ = std::move(buffer);
  return v;
}

Value Value::Tuple(const Shape* shape, std::vector<Value> elements) {
  HV_CHECK(shape->elements.size() == elements.size(), "tuple size differs from its shape");
  Value v;
  v.shape_ = shape;
  v.elements_ = std::make_shared<std::vector<Value>>(std::move(elements));
  return v;
}

Value Value::Token(const Shape* shape) {
  Value v;
  v.shape_ = shape;
  return v;
}

Value Value::Extended(const Shape* shape, std::shared_ptr<const ExtendedValue> value) {
  Value v;
  v.shape_ = shape;
  v.extended_ = std::move(value);
  return v;
}

Value Value::NewNative(const Shape* shape) {
  const int width = HostBytes(shape->type);
  return Array(shape, Encoding::kNative, width,
               std::make_shared<Buffer>(static_cast<size_t>(shape->element_count * width)));
}

Value Value::NewCode(const Shape* shape, int code_bytes) {
  return Array(shape, Encoding::kCode, code_bytes,
               std::make_shared<Buffer>(static_cast<size_t>(shape->element_count * code_bytes)));
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

std::span<const std::byte> Value::bytes() const {
  if (buffer_ == nullptr) return {};
  return {buffer_->data(), buffer_->size()};
}

std::span<std::byte> Value::MutableBytes() {
  HV_CHECK(IsUnique(), "writing to shared storage");
  return {buffer_->data(), buffer_->size()};
}

std::span<const Value> Value::elements() const {
  if (elements_ == nullptr) return {};
  return *elements_;
}

Value Value::TakeElement(size_t index) {
  Value& element = (*elements_)[index];
  return elements_.use_count() == 1 ? std::move(element) : element;
}

Value Value::WithShape(const Shape* shape) const {
  HV_CHECK((IsDense() || extended_ != nullptr) && shape->element_count == shape_->element_count,
           "same storage, different element count");
  Value v = *this;
  v.shape_ = shape;
  return v;
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
