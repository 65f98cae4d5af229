// Parts of a module run on terms, on all devices: what ENTRY does around its loops, one iteration of
// a loop, its condition. A loop inside a part yields what is known of it, is run, or is unknown.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/transport.h"
#include "verify/prover.h"
#include "verify/symbolic_domain.h"

namespace hv {

using ByDevice = std::map<DeviceId, SymbolicTensor>;
using LoopState = std::vector<ByDevice>;  // by array leaf

// What the loops of a part yield: by instruction of the part's computation.
using LoopResults = std::map<InstructionIndex, LoopState>;

enum class OtherLoops : uint8_t { kRun, kUnknown };  // those without a result

class LoopParts {
 public:
  // References must outlive it. Names of unknowns start with `name`.
  LoopParts(SymbolicDomain* domain, const Module& module, const Mesh& mesh,
            const ProofOptions& options, std::string name);

  const Module& module() const { return module_; }
  const Mesh& mesh() const { return mesh_; }
  const std::string& name() const { return name_; }
  SymbolicDomain& domain() { return *domain_; }

  // Loops directly in a computation, in text order.
  std::vector<InstructionIndex> LoopsOf(ComputationIndex computation) const;

  // The leaves of the root for `arguments`, the leaves of all parameters. Nothing if the part cannot
  // be run, does not finish, or yields more than arrays.
  std::optional<LoopState> Run(ComputationIndex computation, const LoopState& arguments,
                               const LoopResults& results = {},
                               OtherLoops others = OtherLoops::kRun);
  // The state in which every device enters `loop`; of the others, those before it are run.
  std::optional<LoopState> StateEntering(InstructionIndex loop, ComputationIndex computation,
                                         const LoopState& arguments, const LoopResults& results);

  // ENTRY's parameters, unknown.
  LoopState EntryArguments();
  // An unknown array on every device, one for all of them if `same`.
  ByDevice Unknown(const Shape* shape, const std::string& name, bool same = false);

 private:
  struct Call {
    const LoopResults& results;
    OtherLoops others = OtherLoops::kRun;
    InstructionIndex watched = -1;
    std::map<DeviceId, Value> entered;  // of the watched loop
  };
  std::optional<LoopState> RunCall(ComputationIndex computation, const LoopState& arguments,
                                   Call* call);
  std::optional<Value> ResultOf(const Computation& computation, const Instruction& loop,
                                DeviceId device, const Value& state, Call* call);
  std::optional<LoopState> Collect(const std::map<DeviceId, Value>& values);
  const Module& WithEntry(ComputationIndex computation);

  SymbolicDomain* domain_;
  const Module& module_;
  const Mesh mesh_;
  const ProofOptions& options_;
  const std::string name_;
  std::unique_ptr<Transport> transport_;
  std::map<ComputationIndex, Module> parts_;
  int64_t unknowns_ = 0;
};

// An elementwise function of one type; nothing if there are too many pieces.
std::optional<SymbolicTensor> Elementwise(SymbolicDomain* domain, ScalarFn fn, ElementType type,
                                          const SymbolicTensor& a, const SymbolicTensor& b);
std::optional<ByDevice> Elementwise(SymbolicDomain* domain, ScalarFn fn, ElementType type,
                                    const ByDevice& a, const ByDevice& b);

// Equal as far as the normal forms see.
bool Same(SymbolicDomain* domain, const SymbolicTensor& a, const SymbolicTensor& b);
bool Same(SymbolicDomain* domain, const ByDevice& a, const ByDevice& b);
bool SameOnAllDevices(SymbolicDomain* domain, const ByDevice& values);

// The truth value that all devices hold, if it is known.
std::optional<bool> KnownTruth(const ByDevice& values);

}  // namespace hv
