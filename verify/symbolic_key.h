// What an instruction computes, as text: opcode, own attributes, the computations it applies by
// structure. Names, layouts and metadata do not count, so that equal texts mean the same function
// of the operands.
#pragma once

#include <string>

#include "hlo/module.h"

namespace hv {

// With the result shape.
std::string OpKey(const Module& module, const Instruction& instruction);

// The own attributes alone, those that say who takes part in a collective left out.
void AppendOwnAttributes(const Module& module, const Instruction& instruction, std::string* key);

// Attributes that belong to the meaning of an elementwise function ("LT TOTALORDER"); empty for
// most.
std::string ScalarAttributes(const Instruction& instruction, ElementType operand);

}  // namespace hv
