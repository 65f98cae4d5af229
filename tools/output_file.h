// Writing a result: all of it or nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hv {

// Writes `text` to `path` ("-": standard output). A regular file appears under its name only when
// every byte is on disk: written beside it first, then renamed. A pipe whose reader has gone is no
// error of standard output.
Status WriteOutput(const std::string& path, std::string_view text);

}  // namespace hv
