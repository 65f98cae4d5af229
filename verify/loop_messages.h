// When parts of a module can be run apart although devices send each other messages in them.
#pragma once

#include "sim/plan.h"

namespace hv {

// Do messages pair within one iteration of one computation, and none across a loop? Then a loop that
// stands for its result delays nobody: whoever has to meet in it gets there.
bool MessagesStayApart(const Module& module, const ModulePlan& plan);

}  // namespace hv
