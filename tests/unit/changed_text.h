// Texts that are another with a change.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace hv {

// `text` with the first `from` replaced by `to`; one that is missing fails the test.
inline std::string With(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// With all of them replaced.
inline std::string Everywhere(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace hv
