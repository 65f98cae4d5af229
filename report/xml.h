// Text as XML 1.0 may hold it.
#pragma once

#include <string>
#include <string_view>

namespace hv {

// Escapes markup, and white space that an attribute's value would lose. What XML cannot hold (most
// control characters, surrogates, bytes that are no UTF-8) becomes U+FFFD.
std::string XmlText(std::string_view text);       // between tags
std::string XmlAttribute(std::string_view text);  // between double quotes

}  // namespace hv
