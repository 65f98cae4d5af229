// Who agrees with whom in a run: ranks that the groups of what they have posted join agree by
// themselves; all ranks do where that does not decide it (groups that reach beyond the node, posts
// that differ, a stall, an error, the end). Values, and the devices that wait at the end, are the
// same either way: a device's posts follow from what it receives, whenever it receives it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sim/agreement.h"
#include "sim/circle.h"
#include "sim/mesh.h"
#include "sim/operand_board.h"

namespace hv {

class Rounds {
 public:
  // `by_groups`: false: all ranks always agree together. `shares_results`: ranks of a node may share
  // what they receive. Both the same on all ranks.
  Rounds(const ModulePlan& plan, const Placement& placement, Transport* transport, bool by_groups,
         bool shares_results);
  ~Rounds();
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // After the devices of this rank have run until they wait.
  Agreement Agree(const std::vector<std::unique_ptr<Device>>& devices);

  // Have ranks agreed without the others?
  bool ran_ahead() const { return ran_ahead_; }

 private:
  struct Part {
    Part(const Rounds& rounds, size_t circle_number, std::vector<int64_t> positions);
    Circle circle;
    OperandBoard board;
  };

  void DivideNode();
  void AddPart(size_t division, const std::vector<int64_t>& parts);
  Part* PartOf(const Device& device) const;
  // Nothing: all ranks have to agree.
  std::optional<Agreement> AgreeInPart(const std::vector<std::unique_ptr<Device>>& devices);

  const ModulePlan& plan_;
  const Placement placement_;
  Transport* transport_;
  NodeRanks* node_;
  const bool shares_results_;
  OperandBoard board_;                     // for agreements of all
  std::deque<std::optional<Part>> parts_;  // by division: this rank's, if it can meet by itself
  std::vector<Part*> part_of_;             // by collective; null: all ranks have to agree
  bool ran_ahead_ = false;
};

}  // namespace hv
