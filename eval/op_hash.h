// One number for what an instruction does: opcode, own attributes and the computations it applies,
// by structure. Names, layouts and metadata do not count.
#pragma once

#include <cstdint>

#include "hlo/module.h"

namespace hv {

uint64_t HashOfOp(const Module& module, const Instruction& instruction);

}  // namespace hv
