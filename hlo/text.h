// Small text helpers: numbers and C escapes as HLO uses them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hv {

void AppendInt(int64_t value, std::string* out);

// \n \r \t \" \' \\, and octal for other bytes that are not printable ASCII.
void AppendEscaped(std::string_view text, std::string* out);
std::string EscapeText(std::string_view text);

// Reverses any C escape (octal, hex, \u too); false if one is malformed.
bool Unescape(std::string_view text, std::string* out);

// Is `text` one balanced {...}, braces in "..." not counted? Such values are printed without
// quotes.
bool IsJsonDict(std::string_view text);

}  // namespace hv
