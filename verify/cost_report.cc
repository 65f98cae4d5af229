#include "verify/cost_report.h"

#include "sim/cost.h"
#include "verify/pair.h"

namespace hv {
namespace {

CollectiveLine LineOf(const CollectiveUse& use) {
  CollectiveLine line{use.instruction, use.opcode, use.turns, use.seconds(),
                      use.cost.best.algorithm, "", 0};
  if (!use.cost.others.empty()) {
    line.next_best = use.cost.others.front().algorithm;
    line.next_best_seconds = use.turns * use.cost.others.front().seconds;
  }
  return line;
}

CostSide SideOf(const Cost& cost, const Machine& machine) {
  CostSide side{cost.seconds, cost.compute_seconds, cost.collective_seconds, cost.messages,
                cost.bytes(), {}, {}};
  for (size_t l = 0; l < machine.levels.size(); ++l) {
    side.levels.push_back({machine.levels[l].name, SaturatedBytes(cost.bytes_by_level[l])});
  }
  for (const CollectiveUse& use : cost.collectives) {
    if (side.collectives.size() == kMostCollectiveLines) break;
    side.collectives.push_back(LineOf(use));
  }
  return side;
}

}  // namespace

Result<CostReport> CompareCosts(const Pair& pair, const std::string& machine_name,
                                std::vector<std::string>* notes) {
  HV_ASSIGN(const Machine machine, LoadMachine(machine_name));
  const Module* modules[] = {&pair.before, &pair.after};
  HV_ASSIGN(const std::vector<Cost> costs, CostsOf(modules, pair.mesh, machine));
  const Cost &before = costs[0], &after = costs[1];
  notes->insert(notes->end(), after.notes.begin(), after.notes.end());
  return CostReport{machine.name, SideOf(before, machine), SideOf(after, machine)};
}

}  // namespace hv
