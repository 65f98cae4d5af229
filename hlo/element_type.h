// HLO's element types and their traits. One row per type in element_type.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hv {

enum class ElementType : uint8_t {
#define HV_ELEMENT_TYPE(name, text, bits, bytes, type_class) k##name,
#include "hlo/element_type.def"
#undef HV_ELEMENT_TYPE
};

enum class TypeClass : uint8_t {
  kPred, kSigned, kUnsigned, kFloat, kComplex, kToken, kOpaque, kTuple
};

inline constexpr int kElementTypeCount = static_cast<int>(ElementType::kTuple) + 1;

struct ElementTypeTraits {
  std::string_view text;
  int bits;        // logical width
  int host_bytes;  // width of one element in memory here
  TypeClass type_class;
};

inline constexpr ElementTypeTraits kElementTypes[] = {
#define HV_ELEMENT_TYPE(name, text, bits, bytes, type_class) {text, bits, bytes, TypeClass::type_class},
#include "hlo/element_type.def"
#undef HV_ELEMENT_TYPE
};

constexpr const ElementTypeTraits& Traits(ElementType type) {
  return kElementTypes[static_cast<int>(type)];
}
constexpr std::string_view ToString(ElementType type) { return Traits(type).text; }
constexpr int BitWidth(ElementType type) { return Traits(type).bits; }
constexpr int HostBytes(ElementType type) { return Traits(type).host_bytes; }
constexpr bool IsPred(ElementType t) { return t == ElementType::kPred; }
constexpr bool IsSigned(ElementType t) { return Traits(t).type_class == TypeClass::kSigned; }
constexpr bool IsUnsigned(ElementType t) { return Traits(t).type_class == TypeClass::kUnsigned; }
constexpr bool IsInteger(ElementType t) { return IsSigned(t) || IsUnsigned(t); }
constexpr bool IsFloat(ElementType t) { return Traits(t).type_class == TypeClass::kFloat; }
constexpr bool IsComplex(ElementType t) { return Traits(t).type_class == TypeClass::kComplex; }
// Has elements that can be stored: everything but tuple, token and opaque.
constexpr bool IsArrayType(ElementType t) { return Traits(t).host_bytes > 0; }

// The type spelled `text` ("f32"); `tuple` is not a spelling.
std::optional<ElementType> ParseElementType(std::string_view text);

// c64 -> f32, c128 -> f64, any other type -> itself.
constexpr ElementType ComponentType(ElementType t) {
  if (t == ElementType::kC64) return ElementType::kF32;
  if (t == ElementType::kC128) return ElementType::kF64;
  return t;
}

}  // namespace hv
