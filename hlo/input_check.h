// Tells HLO text from what people mistake for it, before any parsing.
#pragma once

#include <string_view>

#include "base/result.h"

namespace hv {

// Refuses gzip data, protocol buffers, MLIR text and bytecode (with advice how to convert), NUL
// bytes, text that is not UTF-8, and texts of 4 GiB and more.
Status CheckInput(std::string_view file, std::string_view text);

}  // namespace hv
