// The unknown that stands for an ENTRY argument: one name for all arguments taken to be equal, so
// that both modules, and every device that shares the value, get the same terms.
#pragma once

#include <string>

#include "sim/mesh.h"
#include "verify/prover.h"
#include "verify/symbolic_domain.h"

namespace hv {

inline Value EntryArgument(const ProofOptions& options, const Mesh& mesh, const Module& module,
                           DeviceId device, int64_t parameter, SymbolicDomain* domain) {
  const DeviceId known =
      options.representative ? options.representative(device, parameter) : device;
  const Computation& entry = module.Entry();
  const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(parameter)]).shape;
  return domain->Unknown(
      shape, "parameter " + std::to_string(parameter) + " of device " + mesh.NameOf(known));
}

}  // namespace hv
