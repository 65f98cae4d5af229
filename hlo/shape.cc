// Interning, comparison and printing of shapes. Source: hlo_text.md section 5.
#include "hlo/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "hlo/text.h"
#include "hlo/word_table.h"

namespace hv {
namespace {

template <class T>
bool SameSpan(std::span<const T> a, std::span<const T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Identity of an interned shape: elements by pointer, as they are interned themselves.
bool Identical(const Shape& a, const Shape& b) {
  return a.type == b.type && a.is_buffer == b.is_buffer && SameSpan(a.dims, b.dims) &&
         SameSpan(a.dynamic, b.dynamic) && SameSpan(a.minor_to_major, b.minor_to_major) &&
         a.layout_suffix == b.layout_suffix && SameSpan(a.elements, b.elements);
}

template <class T>
std::string_view Bytes(std::span<const T> span) {
  return {reinterpret_cast<const char*>(span.data()), span.size_bytes()};
}

uint64_t HashShape(const Shape& shape) {
  uint64_t hash = static_cast<uint64_t>(shape.type) * 2 + (shape.is_buffer ? 1 : 0);
  for (std::string_view part :
       {Bytes(shape.dims), Bytes(shape.dynamic), Bytes(shape.minor_to_major), shape.layout_suffix,
        Bytes(shape.elements)}) {
    hash = hash * 0x9E3779B97F4A7C15 + HashText(part);
  }
  return hash ^ hash >> 29;
}

bool SameType(const Shape& a, const Shape& b) {
  return a.type == b.type && a.is_buffer == b.is_buffer && SameDims(a, b) &&
         SameSpan(a.dynamic, b.dynamic);
}

}  // namespace

int64_t Shape::ByteSize() const {
  if (IsArray()) return element_count * HostBytes(type);
  int64_t bytes = 0;
  for (const Shape* element : elements) {
    if (__builtin_add_overflow(bytes, element->ByteSize(), &bytes)) return INT64_MAX;
  }
  return bytes;
}

bool SameShape(const Shape& a, const Shape& b) {
  if (&a == &b) return true;
  return SameType(a, b) &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    [](const Shape* x, const Shape* y) { return SameShape(*x, *y); });
}

bool SameDims(const Shape& a, const Shape& b) { return SameSpan(a.dims, b.dims); }

bool HasDefaultLayout(const Shape& shape) {
  int64_t expected = shape.rank() - 1;
  return std::all_of(shape.minor_to_major.begin(), shape.minor_to_major.end(),
                     [&expected](int64_t dim) { return dim == expected--; });
}

bool SameShapeAndLayout(const Shape& a, const Shape& b) {
  if (&a == &b) return true;
  const bool same_order =
      SameSpan(a.minor_to_major, b.minor_to_major) || (HasDefaultLayout(a) && HasDefaultLayout(b));
  return SameType(a, b) && same_order && a.layout_suffix == b.layout_suffix &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    [](const Shape* x, const Shape* y) { return SameShapeAndLayout(*x, *y); });
}

int64_t CountElements(std::span<const int64_t> dims) {
  // Zeros are left out of the bound's product, so that strides of empty arrays stay in range too.
  int64_t count = 1;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) return -1;
    empty |= dim == 0;
    if (dim > 0 && count > kMaxElementCount / dim) return -1;
    count *= std::max<int64_t>(dim, 1);
  }
  return empty ? 0 : count;
}

void AppendShape(const Shape& shape, bool with_layout, std::string* out) {
  if (shape.is_buffer) {
    *out += "b(";
    AppendShape(*shape.elements[0], with_layout, out);
    *out += ')';
    return;
  }
  if (shape.IsTuple()) {
    *out += '(';
    for (size_t i = 0; i < shape.elements.size(); ++i) {
      if (i > 0) *out += ", ";
      if (i > 0 && i % 5 == 0) fmt::format_to(std::back_inserter(*out), "/*index={}*/", i);
      AppendShape(*shape.elements[i], with_layout, out);
    }
    *out += ')';
    return;
  }
  *out += ToString(shape.type);
  *out += '[';
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (i > 0) *out += ',';
    if (shape.HasDynamicDimensions() && shape.dynamic[i]) {
      if (shape.dims[i] == kUnboundedSize) {
        *out += '?';
        continue;
      }
      *out += "<=";
    }
    AppendInt(shape.dims[i], out);
  }
  *out += ']';
  if (!with_layout || (shape.minor_to_major.empty() && shape.layout_suffix.empty())) return;
  *out += '{';
  for (size_t i = 0; i < shape.minor_to_major.size(); ++i) {
    if (i > 0) *out += ',';
    AppendInt(shape.minor_to_major[i], out);
  }
  if (!shape.layout_suffix.empty()) (*out += ':') += shape.layout_suffix;
  *out += '}';
}

std::string ToString(const Shape& shape, bool with_layout) {
  std::string text;
  AppendShape(shape, with_layout, &text);
  return text;
}

// Open addressing over pointers to shapes in the arena.
struct ShapeTable::Impl {
  Arena arena;
  std::vector<const Shape*> slots = std::vector<const Shape*>(64);
  size_t count = 0;

  const Shape** Find(const Shape& shape) {
    const size_t mask = slots.size() - 1;
    size_t slot = HashShape(shape) & mask;
    while (slots[slot] != nullptr && !Identical(*slots[slot], shape)) slot = (slot + 1) & mask;
    return &slots[slot];
  }

  void Grow() {
    std::vector<const Shape*> old(slots.size() * 2);
    old.swap(slots);
    for (const Shape* shape : old) {
      if (shape != nullptr) *Find(*shape) = shape;
    }
  }
};

ShapeTable::ShapeTable() : impl_(std::make_unique<Impl>()) {}
ShapeTable::~ShapeTable() = default;

const Shape* ShapeTable::Intern(const Shape& shape) {
  if (const Shape* known = *impl_->Find(shape)) return known;
  if (2 * ++impl_->count > impl_->slots.size()) impl_->Grow();
  Arena& arena = impl_->arena;
  Shape copy = shape;
  copy.dims = arena.Copy(shape.dims);
  copy.dynamic = arena.Copy(shape.dynamic);
  copy.minor_to_major = arena.Copy(shape.minor_to_major);
  copy.layout_suffix = arena.CopyText(shape.layout_suffix);
  copy.elements = arena.Copy(shape.elements);
  copy.element_count = 0;
  if (copy.IsArray()) {
    // An unbounded dimension counts as one element: nothing of that shape is ever evaluated.
    std::vector<int64_t> sizes(copy.dims.begin(), copy.dims.end());
    std::replace(sizes.begin(), sizes.end(), kUnboundedSize, int64_t{1});
    copy.element_count = CountElements(sizes);
    HV_CHECK(copy.element_count >= 0, "shape too large: " + ToString(shape));
  }
  return *impl_->Find(shape) = arena.New<Shape>(copy);
}

const Shape* ShapeTable::Array(ElementType type, std::span<const int64_t> dims) {
  Shape shape;
  shape.type = type;
  shape.dims = dims;
  return Intern(shape);
}

const Shape* ShapeTable::Tuple(std::span<const Shape* const> elements) {
  Shape shape;
  shape.elements = elements;
  return Intern(shape);
}

const Shape* ShapeTable::WithType(const Shape& shape, ElementType type) {
  Shape copy = shape;
  copy.type = type;
  return Intern(copy);
}

}  // namespace hv
