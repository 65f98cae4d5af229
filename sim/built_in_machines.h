// machines/*.json as they are compiled into the programs; CMakeLists.txt writes the definition.
#pragma once

#include <span>
#include <string_view>

namespace hv {

struct EmbeddedText {
  std::string_view name;  // the file's, without folder and extension
  std::string_view text;
};

std::span<const EmbeddedText> BuiltInMachineTexts();

}  // namespace hv
