// The fixed vocabularies of HLO text: element types, opcodes, attribute names.
#include "hlo/attribute.h"
#include "hlo/element_type.h"
#include "hlo/opcode.h"
#include "hlo/word_table.h"

namespace hv {
namespace {

constexpr auto kTypeWords = [] {
  // The last row is `tuple`, which is no spelling.
  std::array<std::string_view, kElementTypeCount - 1> words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = kElementTypes[i].text;
  return words;
}();

constexpr auto kOpcodeWords = [] {
  std::array<std::string_view, kOpcodeCount> words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = kOpcodeNames[i];
  return words;
}();

constexpr auto kAttributeWords = [] {
  std::array<std::string_view, kAttributeCount> words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = kAttributes[i].text;
  return words;
}();

constexpr WordTable kTypeTable(kTypeWords);
constexpr WordTable kOpcodeTable(kOpcodeWords);
constexpr WordTable kAttributeTable(kAttributeWords);

template <class Enum>
std::optional<Enum> AsEnum(int position) {
  if (position < 0) return std::nullopt;
  return static_cast<Enum>(position);
}

}  // namespace

std::optional<ElementType> ParseElementType(std::string_view text) {
  return AsEnum<ElementType>(kTypeTable.Find(text));
}

std::optional<Opcode> ParseOpcode(std::string_view text) {
  return AsEnum<Opcode>(kOpcodeTable.Find(text));
}

std::optional<Attr> ParseAttr(std::string_view text) {
  return AsEnum<Attr>(kAttributeTable.Find(text));
}

}  // namespace hv
