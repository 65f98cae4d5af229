// What holds for attributes whatever the op: defaults that are never stored, their order, the words
// of enumerations, and which attributes an opcode takes.
#pragma once

#include <bitset>
#include <span>
#include <string_view>
#include <vector>

#include "hlo/attribute.h"
#include "hlo/opcode.h"

namespace hv {

using AttrSet = std::bitset<kAttributeCount>;

// From here on in attributes.def, attributes that any instruction may carry.
constexpr bool IsCommon(Attr key) { return key >= Attr::kSharding; }

// Attributes that `opcode` takes beside the common ones, and those it must have.
const AttrSet& AllowedAttributes(Opcode opcode);
const AttrSet& RequiredAttributes(Opcode opcode);

// Is this the value that absence means? Such attributes are not stored, so that modules compare.
bool IsDefault(const Attribute& attribute);

// The `type` a compare of such operands has when it states none.
std::string_view DefaultCompareType(ElementType operand);

// Drops defaults from attributes[first..] and sorts the rest by key.
void Canonicalize(std::vector<Attribute>* attributes, size_t first);

// The words a kWord, kWordAnyCase or kWordsAnyCase attribute may hold.
std::span<const std::string_view> EnumWords(Attr key);

}  // namespace hv
