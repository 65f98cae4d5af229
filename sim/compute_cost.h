// What one instruction that needs no other device costs on one device: the longer of its arithmetic and of
// the bytes it reads and writes (roofline), and the start of its kernel. Names and views of values cost nothing; a fusion reads its
// operands and writes its result once, whatever it computes inside.
#pragma once

#include "hlo/module.h"
#include "sim/machine.h"

namespace hv {

// Additions and multiplications, called computations included (loops and branches are not followed).
double FlopsOf(const Module& module, const Computation& computation,
               const Instruction& instruction);

double ComputeSeconds(const Module& module, const Computation& computation,
                      const Instruction& instruction, const Machine& machine);

}  // namespace hv
