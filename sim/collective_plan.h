// Plans the collectives of one computation: shapes as leaves, groups, sites, signatures, and which
// send belongs to which recv.
#pragma once

#include "hlo/module.h"
#include "sim/grouping.h"
#include "sim/plan.h"

namespace hv {

// Leaves of `shape` that hold data, from left to right; tokens are left out.
std::vector<const Shape*> DataLeaves(const Shape* shape);

// Is what a send sends what a recv receives (in either order of arguments)?
bool MessageFits(const Collective& a, const Collective& b);

// Appends the collectives of `plan`'s computation to `module_plan` and gives their steps collective
// numbers and sites (0 .. plan->sites-1). The i-th send and the i-th recv of a channel in text order
// share a site if the computation holds as many of one as of the other; else they match by channel.
void AddCollectives(const Computation& computation, const Module& module, GroupingTable* groupings,
                    ComputationPlan* plan, ModulePlan* module_plan);

}  // namespace hv
