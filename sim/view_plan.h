// Plans which instructions that only move elements are carried out as one: a concatenation of slices
// copies each element once. For native values that nobody observes one by one.
#pragma once

#include "sim/plan.h"

namespace hv {

// Turns the last step of each such chain into kMove and skips the others.
void ComposeViews(ComputationPlan* plan);

}  // namespace hv
