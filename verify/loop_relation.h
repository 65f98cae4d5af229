// Relations between a leaf of the state of one loop and a leaf of another's, on all devices.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/grouping.h"
#include "sim/plan.h"
#include "verify/loop_parts.h"

namespace hv {

// A collective that a module applies somewhere: what a relation may be made of.
struct KnownFold {
  const Module* module = nullptr;
  const Instruction* collective = nullptr;
  std::shared_ptr<const Grouping> grouping;
};

// Every reduction and gather that a module applies, each group and reducer once.
std::vector<KnownFold> FoldsOf(const Module& module, const ModulePlan& plan);

// With x[d] free, one loop holds x[d] and the other what the kind makes of it.
struct LoopRelation {
  enum class Kind : uint8_t {
    kSame,    // x, the same on all devices
    kEqual,   // x[d]
    kFold,    // x[e] of d's group reduced, and an offset that no iteration changes
    kGather,  // x[e] of d's group one after the other along a dimension
    kSlice,   // the part of x[d] along a dimension that is at d's place in its group
    kScatter, // the same part of x[e] of d's group reduced, and an offset
    kNone,    // nothing: each holds what it will
  };
  Kind kind = Kind::kSame;
  size_t part = 0;  // loop that holds x: 0 or 1
  KnownFold fold;   // kFold, kScatter; kGather, kSlice: the groups alone
  size_t dimension = 0;

  const Shape* shape = nullptr;    // of x
  const Shape* whole = nullptr;    // of the other one
  std::optional<ByDevice> offset;  // kFold, kScatter

  bool Folds() const { return kind == Kind::kFold || kind == Kind::kScatter; }
  bool Derives() const { return Folds() || kind == Kind::kGather || kind == Kind::kSlice; }
};

// The relations that shapes allow between leaves of these shapes and that hold between `first` and
// `second`, strongest first.
std::vector<LoopRelation> RelationsBetween(SymbolicDomain* domain, const Shape* first_shape,
                                           const Shape* second_shape, const ByDevice& first,
                                           const ByDevice& second,
                                           const std::vector<KnownFold>& folds);

// What loop `side` holds if the other one holds `x`; nothing if the domain cannot make it.
std::optional<ByDevice> Held(SymbolicDomain* domain, const LoopRelation& relation, size_t side,
                             const ByDevice& x);

bool Holds(SymbolicDomain* domain, const LoopRelation& relation, const ByDevice& first,
           const ByDevice& second);

}  // namespace hv
