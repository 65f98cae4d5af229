// Edits of a finished module: readers sent elsewhere, operands taken out of a combined
// (tuple-shaped) all-reduce.
#pragma once

#include <string_view>

#include "hlo/module.h"

namespace hv {

// Readers of `from` read `to` instead, which comes before all of them.
void RedirectReaders(Computation* computation, InstructionIndex from, InstructionIndex to,
                     Arena* arena);

// Drops the operands of the combined all-reduce `name` whose results no get-tuple-element reads.
// One left over makes it an ordinary all-reduce. Nothing happens if somebody reads the tuple as a
// whole.
void DropUnreadOperands(Module* module, std::string_view name);

}  // namespace hv
