// A report as one JSON document. Keys come in a fixed order and a key that does not apply is
// absent; the same report gives the same bytes. docs/design.md lists the keys.
#pragma once

#include <string>

#include "verify/report_model.h"

namespace hv {

// Ends in a newline.
std::string RenderJson(const Report& report);

}  // namespace hv
