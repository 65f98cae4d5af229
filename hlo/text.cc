// Numbers and escapes. Source: hlo_text.md section 1 (strings, JSON dicts).
#include "hlo/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace hv {
namespace {

constexpr std::string_view kPlain = "nrt\"'\\abfv?";
constexpr std::string_view kMeant = "\n\r\t\"'\\\a\b\f\v?";

// Appends a code point as UTF-8.
bool AppendCodePoint(uint32_t code, std::string* out) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  const auto put = [out](uint32_t byte) { *out += static_cast<char>(byte); };
  if (code < 0x80) return put(code), true;
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
  return true;
}

// Reads up to `most` digits of `base` at text[*at]; false if there are fewer than `least`.
bool ReadDigits(std::string_view text, size_t* at, int base, size_t least, size_t most,
                uint32_t* value) {
  const char* first = text.data() + *at;
  const char* last = first + std::min(most, text.size() - *at);
  const auto [end, error] = std::from_chars(first, last, *value, base);
  *at += static_cast<size_t>(end - first);
  return error == std::errc() && static_cast<size_t>(end - first) >= least;
}

}  // namespace

void AppendInt(int64_t value, std::string* out) {
  char digits[20];
  out->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void AppendEscaped(std::string_view text, std::string* out) {
  constexpr std::string_view kShort = "\n\r\t\"'\\";
  for (char c : text) {
    const size_t named = kShort.find(c);
    const auto byte = static_cast<unsigned char>(c);
    if (named != std::string_view::npos) {
      (*out += '\\') += kPlain[named];
    } else if (byte >= 0x20 && byte < 0x7F) {
      *out += c;
    } else {
      *out += '\\';
      for (int shift : {6, 3, 0}) *out += static_cast<char>('0' + (byte >> shift & 7));
    }
  }
}

std::string EscapeText(std::string_view text) {
  std::string out;
  AppendEscaped(text, &out);
  return out;
}

bool Unescape(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      *out += text[i++];
      continue;
    }
    if (++i == text.size()) return false;
    const char c = text[i];
    uint32_t value = 0;
    if (const size_t named = kPlain.find(c); named != std::string_view::npos) {
      *out += kMeant[named];
      ++i;
    } else if (c >= '0' && c <= '7') {
      if (!ReadDigits(text, &i, 8, 1, 3, &value) || value > 0xFF) return false;
      *out += static_cast<char>(value);
    } else if (c == 'x' || c == 'X') {
      if (!ReadDigits(text, &++i, 16, 1, 2, &value)) return false;
      *out += static_cast<char>(value);
    } else if (c == 'u' || c == 'U') {
      const size_t digits = c == 'u' ? 4 : 8;
      if (!ReadDigits(text, &++i, 16, digits, digits, &value)) return false;
      if (!AppendCodePoint(value, out)) return false;
    } else {
      return false;
    }
  }
  return true;
}

bool IsJsonDict(std::string_view text) {
  if (text.empty() || text[0] != '{') return false;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\0') return false;
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1 == text.size();
    }
  }
  return false;
}

}  // namespace hv
