// What a user says custom calls mean: a module whose ENTRY computation is called in place of every
// custom-call of a target. Shapes decide between several definitions of one target.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"

namespace hv {

struct CustomCallDefinition {
  std::string target;
  Module module;
};

// Reads "target=module.hlo" texts: "custom-call-flag" where one has another form.
Result<std::vector<CustomCallDefinition>> ReadCustomCallDefinitions(
    std::span<const std::string> texts);

// Turns every custom-call of a defined target into a call of the first definition with its operand
// and result shapes (layouts aside), whose computations are copied to the front of the module.
// "custom-call-definition", at the custom-call, where no definition has them.
Status DefineCustomCalls(std::span<const CustomCallDefinition> definitions, Module* module);

}  // namespace hv
