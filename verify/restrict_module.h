// Modules on a part of their mesh: groups, pairs, device ids and sizes rewritten, everything else
// as it was. Each device keeps being what it is in the whole mesh: where the numbers change,
// partition-id and replica-id become a look-up of the old one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/sub_mesh.h"

namespace hv {

// What becomes of a pair whose target is in the part and whose source is not: nothing can be done
// for it (over how many permutes the pairs are spread may matter), or the target takes from whom
// its source would have taken, as in a ring that gets shorter.
enum class LostSource : uint8_t { kRefuse, kReroute };

// Modules on one mesh with equal ENTRY shapes; their rewritten forms, not validated, share their
// contexts. Groups keep their members in the part. Shardings are dropped, but for replicated.
// Nothing, and `*why`, if sizes or pairs do not allow it.
std::optional<std::vector<Module>> RestrictModules(std::span<const Module* const> modules,
                                                   const Mesh& mesh, const SubMesh& part,
                                                   LostSource lost, std::string* why);

}  // namespace hv
