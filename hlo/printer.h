// Prints a module as XLA does (long style); XLA's own parser accepts the text, and parsing it again
// gives the same module. Source: hlo_text.md section 12.
#pragma once

#include <string>

#include "hlo/module.h"

namespace hv {

std::string PrintModule(const Module& module);
void AppendInstruction(const Module& module, const Computation& computation,
                       const Instruction& instruction, std::string* out);
// "%name = f32[4] add(%x, %y)" with attributes, on one line.
std::string PrintInstruction(const Module& module, const Computation& computation,
                             InstructionIndex index);

// Equality of two modules up to names of instructions and computations and text layout: same
// structure, opcodes, shapes with layouts, attributes, literals. On difference, `*why` (if not null)
// says where.
bool SameModule(const Module& a, const Module& b, std::string* why);

}  // namespace hv
