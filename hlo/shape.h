// Shapes: an element type with dimensions and a layout, or a tuple of shapes. Shapes are immutable
// and interned in the ShapeTable of a ModuleContext, so equal pointers mean equal shapes (layout
// included) and a shape costs nothing to copy. Source: hlo_text "Shapes and layouts".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "hlo/element_type.h"

namespace hv {

// A dimension whose size is known at run time only; the bound may be absent ("?").
inline constexpr int64_t kUnboundedSize = INT64_MIN;

struct Shape {
  ElementType type = ElementType::kTuple;
  bool is_buffer = false;                   // b(...)
  std::span<const int64_t> dims;            // sizes; bounds where dynamic
  std::span<const bool> dynamic;            // empty if every dimension is static
  std::span<const int64_t> minor_to_major;  // empty if no layout was given: row major
  std::string_view layout_suffix;           // text after ':' in the layout, kept as written
  std::span<const Shape* const> elements;   // of a tuple; of b(...) its one shape
  int64_t element_count = 0;                // product of dims (1 for a scalar); 0 for tuples

  bool IsTuple() const { return type == ElementType::kTuple && !is_buffer; }
  bool IsArray() const { return IsArrayType(type); }
  bool IsToken() const { return type == ElementType::kToken; }
  bool IsScalar() const { return IsArray() && dims.empty(); }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool HasDynamicDimensions() const { return !dynamic.empty(); }
  // Size of the values in host memory, tuples summed up.
  int64_t ByteSize() const;
};

// Same element types and dimensions, layouts aside, through tuples.
bool SameShape(const Shape& a, const Shape& b);
// Same dimensions, element types and layouts aside (arrays only).
bool SameDims(const Shape& a, const Shape& b);
// Is `minor_to_major` absent or {n-1,...,0}?
bool HasDefaultLayout(const Shape& shape);

// SameShape, and the same layouts (an absent one is the default).
bool SameShapeAndLayout(const Shape& a, const Shape& b);

// "f32[2,3]{1,0}"; tuples "(f32[], s32[2]{0})". Without layouts if `with_layout` is false.
std::string ToString(const Shape& shape, bool with_layout = true);
void AppendShape(const Shape& shape, bool with_layout, std::string* out);

// The largest number of elements one shape may have; larger ones are refused by the parser.
inline constexpr int64_t kMaxElementCount = int64_t{1} << 46;

// Makes shapes; every distinct shape exists once. Not thread-safe.
class ShapeTable {
 public:
  ShapeTable();
  ~ShapeTable();
  ShapeTable(const ShapeTable&) = delete;
  ShapeTable& operator=(const ShapeTable&) = delete;

  // Layout absent. The product of dims must be at most kMaxElementCount (CHECKed; callers with
  // untrusted sizes ask CountElements first).
  const Shape* Array(ElementType type, std::span<const int64_t> dims);
  const Shape* Array(ElementType type, std::initializer_list<int64_t> dims) {
    return Array(type, std::span<const int64_t>(dims.begin(), dims.size()));
  }
  const Shape* Scalar(ElementType type) { return Array(type, std::span<const int64_t>()); }
  const Shape* Token() { return Scalar(ElementType::kToken); }
  const Shape* Tuple(std::span<const Shape* const> elements);
  // The same dimensions and layout with another element type.
  const Shape* WithType(const Shape& shape, ElementType type);
  // Interns any shape, spans copied.
  const Shape* Intern(const Shape& shape);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Product of `dims`, or -1 if one is negative or the product exceeds kMaxElementCount.
int64_t CountElements(std::span<const int64_t> dims);

}  // namespace hv
