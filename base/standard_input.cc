#include "base/standard_input.h"

#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

namespace hv {
namespace {

std::optional<std::string>& Known() {
  static std::optional<std::string> text;
  return text;
}

}  // namespace

const std::string& StandardInput() {
  if (!Known()) Known() = std::string(std::istreambuf_iterator<char>(std::cin), {});
  return *Known();
}

void ProvideStandardInput(std::string text) { Known() = std::move(text); }

}  // namespace hv
