// Prints attribute values, one way per AttrKind.
#pragma once

#include <string>

#include "hlo/module.h"

namespace hv {

// "key=value" as XLA prints it.
void AppendAttribute(const Module& module, const Computation& computation,
                     const Instruction& instruction, const Attribute& attribute, std::string* out);

}  // namespace hv
