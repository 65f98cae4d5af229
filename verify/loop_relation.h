// Relations between a leaf of the state of a loop before and after a rewrite, on all devices.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/grouping.h"
#include "verify/symbolic_domain.h"

namespace hv {

// A collective that a module applies somewhere: what a relation may be made of.
struct KnownFold {
  const Module* module = nullptr;
  const Instruction* collective = nullptr;  // has a reducer
  std::shared_ptr<const Grouping> grouping;
};

using ByDevice = std::map<DeviceId, SymbolicTensor>;

// With x[d] free, one side holds x[d] and the other what the kind makes of it.
struct LoopRelation {
  enum class Kind : uint8_t {
    kSame,    // x, the same on all devices
    kEqual,   // x[d]
    kFold,    // x[e] of d's group reduced, and an offset that no iteration changes
    kGather,  // x[e] of d's group one after the other along a dimension
  };
  Kind kind = Kind::kSame;
  size_t part = 0;  // side that holds x: 0 before, 1 after
  KnownFold fold;   // kFold; kGather: the groups alone
  size_t dimension = 0;

  const Shape* shape = nullptr;  // of x
  const Shape* whole = nullptr;  // of the other side
};

// The relations that shapes allow, strongest first.
std::vector<LoopRelation> RelationsOf(const Shape* before, const Shape* after,
                                      const std::vector<KnownFold>& folds);

// What `side` holds if the other one holds `x`; nothing if the domain cannot make it. `offset` may
// be null.
std::optional<ByDevice> Held(SymbolicDomain* domain, const LoopRelation& relation, size_t side,
                             const ByDevice& x, const ByDevice* offset);

}  // namespace hv
