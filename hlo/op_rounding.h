// How exact the native result of every op is: the one place where it is said. docs/ops.md and
// --list-ops print it, a test measures the functions against wider arithmetic.
#pragma once

#include <optional>
#include <string>

#include "hlo/op.h"

namespace hv {

// Largest distance from the exact result, in units in the last place of it. Types below 32 bits
// round the f32 result once more; complex numbers are measured per part (c64) or as a whole (c128).
struct LibraryUlps {
  Opcode opcode;
  double f32, f64;
};
// Of a transcendental; nothing for ops that are exact, rounded once, or composed of rounded steps.
std::optional<LibraryUlps> LibraryUlpsOf(Opcode opcode);

// "exact", "correctly rounded", "<= 1 ulp", or the steps that are rounded, in words.
std::string RoundingOf(const OpDef& def);

}  // namespace hv
