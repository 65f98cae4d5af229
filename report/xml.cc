#include "report/xml.h"

#include <cstddef>
#include <cstdint>

namespace hv {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the UTF-8 sequence that `text` begins with and the character it spells; 0 bytes if it is
// none: cut short, longer than needed, or beyond Unicode.
size_t Decode(std::string_view text, uint32_t* character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) {
    *character = byte(0);
    return 1;
  }
  const size_t size = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < size) return 0;
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  *character = byte(0) & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    *character = *character << 6 | (byte(i) & 0x3F);
  }
  return *character >= kLeast[size] && *character <= 0x10FFFF ? size : 0;
}

// Source: Extensible Markup Language 1.0, production Char.
bool IsXmlCharacter(uint32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  return c < 0xD800 || (c > 0xDFFF && c != 0xFFFE && c != 0xFFFF);
}

std::string_view Escape(uint32_t c, bool in_attribute) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\r':
      return "&#13;";
    case '"':
      return in_attribute ? "&quot;" : "";
    case '\n':
      return in_attribute ? "&#10;" : "";
    case '\t':
      return in_attribute ? "&#9;" : "";
    default:
      return "";
  }
}

std::string Escaped(std::string_view text, bool in_attribute) {
  std::string escaped;
  while (!text.empty()) {
    uint32_t character = 0;
    const size_t size = Decode(text, &character);
    if (size == 0 || !IsXmlCharacter(character)) {
      escaped += kReplacement;
    } else {
      const std::string_view as = Escape(character, in_attribute);
      escaped += as.empty() ? text.substr(0, size) : as;
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return escaped;
}

}  // namespace

std::string XmlText(std::string_view text) { return Escaped(text, false); }

std::string XmlAttribute(std::string_view text) { return Escaped(text, true); }

}  // namespace hv
