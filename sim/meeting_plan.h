// How the members of one collective in one group come by their results when all operands are at hand:
// recipes turned into movements, once per run. No values and no sizes that depend on them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hlo/view.h"
#include "sim/plan.h"

namespace hv {

// One result leaf of one member.
struct LeafPlan {
  const Shape* shape = nullptr;
  bool fold = false;                              // reduce sources[0].operand over all members
  struct Source {
    size_t member, operand;
  };
  std::vector<Source> sources;  // what the pieces number
  Pieces pieces;                // none: a source as it is; of a fold, its box in every operand
};

struct MeetingPlan {
  std::vector<std::vector<LeafPlan>> members;  // one for all if all receive the same

  const std::vector<LeafPlan>& Of(size_t position) const {
    return members[members.size() == 1 ? 0 : position];
  }
};

// `devices`: the members in order; the sender of a transfer is the first and receives nothing. Only
// for collectives without control operands.
MeetingPlan PlanMeeting(const Collective& collective, const std::vector<DeviceId>& devices);

// Plans by collective and group, those that are small enough to keep.
class MeetingPlans {
 public:
  // Valid until the next call.
  const MeetingPlan& Of(const Collective& collective, int64_t group,
                        const std::vector<DeviceId>& devices);

 private:
  std::map<std::pair<const Collective*, int64_t>, MeetingPlan> kept_;
  MeetingPlan last_;
};

}  // namespace hv
