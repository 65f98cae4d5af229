#include "verify/elided.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace hv {
namespace {

std::set<std::string> NamesOf(const Module& module) {
  std::set<std::string> names;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.literal == nullptr || !instruction.literal->elided) continue;
      names.insert(fmt::format("{} {}", instruction.name, ToString(*instruction.shape, false)));
    }
  }
  return names;
}

}  // namespace

ElidedConstants ElidedConstantsOf(const Pair& pair) {
  const std::set<std::string> before = NamesOf(pair.before), after = NamesOf(pair.after);
  ElidedConstants elided;
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                        std::back_inserter(elided.shared));
  for (const std::string& name : before) {
    if (after.count(name) == 0) elided.unmatched.push_back(name + " of the module before");
  }
  for (const std::string& name : after) {
    if (before.count(name) == 0) elided.unmatched.push_back(name + " of the module after");
  }
  return elided;
}

std::string ReasonOfElided(const ElidedConstants& elided) {
  const std::string names = elided.unmatched.empty()
                                ? "values of constants are elided ({...})"
                                : fmt::format(
                                      "the value of constant {} is elided ({{...}}), and the "
                                      "other module has none of that name and shape",
                                      elided.unmatched[0]);
  return names +
         "; dump both modules with --xla_dump_large_constants, or print them with "
         "HloPrintOptions::set_print_large_constants(true)";
}

}  // namespace hv
