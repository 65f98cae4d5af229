// Checks a parsed module against the op table: arity, attributes, shapes, called computations, groups
// against the mesh, asynchronous pairs, entry layout. Source: hlo_text.md section 15, hlo_ops.md.
#pragma once

#include "base/result.h"
#include "hlo/module.h"

namespace hv {

// Counts to check groups against; default: the module header. A header that states neither count
// takes what the groups imply (hlo_text section 13), see DeduceCounts.
struct DeviceCounts {
  int64_t replicas = 1;
  int64_t partitions = 1;
};

// Header counts where stated, else the smallest counts under which every group and pair of the
// module is legal (1 if nothing tells).
DeviceCounts DeduceCounts(const Module& module);

// All rules; up to kMaxDiagnostics errors.
Status Validate(const Module& module, DeviceCounts counts);
inline Status Validate(const Module& module) { return Validate(module, DeduceCounts(module)); }

}  // namespace hv
