#include "sim/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/time_limit.h"
#include "hlo/op.h"
#include "sim/collective_plan.h"
#include "sim/compute_cost.h"
#include "sim/grouping.h"

namespace hv {
namespace {

bool Costs(Opcode plain) {
  switch (plain) {
    case Opcode::kAllReduce: case Opcode::kReduceScatter: case Opcode::kAllGather:
    case Opcode::kAllToAll: case Opcode::kRaggedAllToAll: case Opcode::kCollectivePermute:
    case Opcode::kCollectiveBroadcast: case Opcode::kSend: return true;
    default: return false;
  }
}

double BytesOf(const std::vector<const Shape*>& leaves) {
  double bytes = 0;
  for (const Shape* leaf : leaves) bytes += static_cast<double>(leaf->ByteSize());
  return bytes;
}

// What one turn of a computation costs, and what it calls.
struct Turn {
  double seconds = 0, compute = 0, collective = 0, messages = 0;
  std::vector<double> bytes;  // by level

  void Add(const Turn& other, double turns) {
    compute += turns * other.compute;
    collective += turns * other.collective;
    messages += turns * other.messages;
    bytes.resize(std::max(bytes.size(), other.bytes.size()));
    for (size_t l = 0; l < other.bytes.size(); ++l) bytes[l] += turns * other.bytes[l];
  }
};

struct Called {
  ComputationIndex callee;
  double turns = 1;
};

// The clock of one device and of its network while a computation takes one turn.
class Timeline {
 public:
  void Compute(double seconds) { now_ += seconds; }
  void Post(InstructionIndex start, double seconds) {
    network_free_ = std::max(network_free_, now_) + seconds;
    ends_[start] = network_free_;
  }
  void Wait(InstructionIndex start) {
    const auto end = ends_.find(start);
    if (end != ends_.end()) now_ = std::max(now_, end->second);
  }
  // A result nobody waits for has to be there at the end.
  double End() const { return std::max(now_, network_free_); }

 private:
  double now_ = 0, network_free_ = 0;
  std::map<InstructionIndex, double> ends_;
};

// What collectives cost on one mesh of one machine; groups are looked at once.
class Prices {
 public:
  Prices(const Mesh& mesh, const Machine& machine) : topology_(machine), groupings_(mesh) {}

  CollectiveCost Of(const Computation& computation, const Instruction& instruction) {
    const Opcode opcode = PlainOpcode(instruction.opcode);
    std::vector<const Shape*> leaves;
    for (InstructionIndex o : instruction.operands) {
      for (const Shape* leaf : DataLeaves(computation.At(o).shape)) leaves.push_back(leaf);
    }
    if (opcode == Opcode::kRaggedAllToAll) leaves.resize(1);
    const double bytes = BytesOf(leaves);
    const std::shared_ptr<const Grouping> grouping = groupings_.Of(instruction);
    if (opcode == Opcode::kCollectivePermute || opcode == Opcode::kSend) {
      return CostOfMessages(bytes, MessagesOf(*grouping), topology_);
    }
    auto& costs = costs_[grouping.get()];
    if (!costs) costs = std::make_unique<GroupCosts>(topology_, GroupsOf(*grouping));
    const double members = grouping->groups.empty() ? 0.0 : static_cast<double>(grouping->groups[0].size());
    return costs->Of(opcode, opcode == Opcode::kAllGather ? bytes * members : bytes);
  }

 private:
  static std::vector<Message> MessagesOf(const Grouping& grouping) {
    std::vector<Message> messages;
    for (size_t d = 0; d < grouping.target_of.size(); ++d) {
      const int64_t from = static_cast<int64_t>(d), to = grouping.target_of[d];
      if (to >= 0 && to != from) messages.push_back({from, to});
    }
    return messages;
  }

  static DeviceGroups GroupsOf(const Grouping& grouping) {
    DeviceGroups groups;
    for (const auto& group : grouping.groups) {
      auto& devices = groups.emplace_back();
      for (DeviceId device : group) devices.push_back(device.value);
    }
    return groups;
  }

  const Topology topology_;
  GroupingTable groupings_;  // keeps the groupings that costs_ names alive
  std::map<const Grouping*, std::unique_ptr<GroupCosts>> costs_;
};

class Walker {
 public:
  Walker(const Module& module, const Machine& machine, Prices* prices)
      : module_(module), machine_(machine), prices_(prices) {}

  Result<Cost> Run() {
    for (const Computation& computation : module_.computations) {
      Take(computation);
      if (late_) return OutOfTime();
    }
    const Turn& entry = turns_[static_cast<size_t>(module_.entry)];
    Cost cost;
    cost.seconds = entry.seconds;
    cost.compute_seconds = entry.compute;
    cost.collective_seconds = entry.collective;
    cost.messages = entry.messages;
    cost.bytes_by_level = entry.bytes;
    cost.bytes_by_level.resize(machine_.levels.size());
    cost.collectives = Uses();
    cost.notes = std::move(notes_);
    return cost;
  }

 private:
  // Callees stand before their callers.
  void Take(const Computation& computation) {
    Turn turn;
    Timeline time;
    calls_.emplace_back();
    uses_.emplace_back();
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const InstructionIndex index(static_cast<int32_t>(i));
      const Instruction& instruction = computation.instructions[i];
      if (Definition(instruction).kernel == KernelKind::kDone ||
          instruction.opcode == Opcode::kAsyncDone) {
        time.Wait(StartOf(computation, instruction));
        continue;
      }
      Turn part = TurnOf(computation, instruction);
      turn.Add(part, 1);
      if (part.collective > 0 || instruction.opcode == Opcode::kAsyncStart) {
        time.Post(index, part.seconds);
        if (!IsStart(instruction.opcode)) time.Wait(index);
      } else {
        time.Compute(part.seconds);
      }
    }
    turn.seconds = time.End();
    turns_.push_back(std::move(turn));
  }

  static bool IsStart(Opcode opcode) {
    return opcode == Opcode::kAsyncStart || opcode == Opcode::kSend || PlainOpcode(opcode) != opcode;
  }

  static InstructionIndex StartOf(const Computation& computation, const Instruction& done) {
    InstructionIndex at = done.operands[0];
    while (computation.At(at).opcode == Opcode::kAsyncUpdate) at = computation.At(at).operands[0];
    return at;
  }

  Turn TurnOf(const Computation& computation, const Instruction& instruction) {
    if (Costs(PlainOpcode(instruction.opcode))) return TurnOfCollective(computation, instruction);
    switch (instruction.opcode) {
      case Opcode::kWhile: return TurnOfLoop(computation, instruction);
      case Opcode::kConditional: return TurnOfBranches(instruction);
      case Opcode::kCall: case Opcode::kAsyncStart: {
        Turn turn;
        for (ComputationIndex c : CalledComputations(instruction)) Call(c, 1, &turn);
        return turn;
      }
      default: break;
    }
    Turn turn;
    turn.seconds = turn.compute = ComputeSeconds(module_, computation, instruction, machine_);
    return turn;
  }

  const Turn& TurnOf(ComputationIndex c) const { return turns_[static_cast<size_t>(c)]; }

  void Call(ComputationIndex callee, double turns, Turn* turn) {
    turn->Add(TurnOf(callee), turns);
    turn->seconds += turns * TurnOf(callee).seconds;
    calls_.back().push_back({callee, turns});
  }

  Turn TurnOfBranches(const Instruction& conditional) {
    const auto branches = CalledComputations(conditional);
    const auto dearest = std::max_element(
        branches.begin(), branches.end(), [this](ComputationIndex a, ComputationIndex b) {
          return TurnOf(a).seconds < TurnOf(b).seconds;
        });
    Turn turn;
    if (dearest != branches.end()) Call(*dearest, 1, &turn);
    return turn;
  }

  Turn TurnOfLoop(const Computation& computation, const Instruction& loop) {
    const ComputationIndex condition = loop.Computation(Attr::kCondition);
    const ComputationIndex body = loop.Computation(Attr::kBody);
    int64_t trips = TripCountOf(module_, computation, loop);
    if (trips < 0) {
      trips = 1;
      if (TurnOf(body).collective > 0) {
        notes_.push_back(
            fmt::format("the trip count of {} is not known: taken as 1", loop.name));
      }
    }
    Turn turn;
    Call(condition, static_cast<double>(trips) + 1, &turn);
    Call(body, static_cast<double>(trips), &turn);
    return turn;
  }

  Turn TurnOfCollective(const Computation& computation, const Instruction& instruction) {
    late_ = late_ || TimeLimit::IsOver();
    if (late_) return {};
    CollectiveUse use{std::string(instruction.name),
                      std::string(ToString(PlainOpcode(instruction.opcode))), 1,
                      prices_->Of(computation, instruction)};
    Turn turn;
    turn.seconds = turn.collective = use.cost.best.seconds;
    turn.messages = use.cost.best.messages;
    turn.bytes = use.cost.best.bytes_by_level;
    uses_.back().push_back(std::move(use));
    return turn;
  }

  // The collectives of all computations that run, with how often.
  std::vector<CollectiveUse> Uses() {
    std::vector<double> turns(module_.computations.size());
    turns[static_cast<size_t>(module_.entry)] = 1;
    std::vector<CollectiveUse> uses;
    for (size_t c = module_.computations.size(); c-- > 0;) {
      if (turns[c] == 0) continue;
      for (const Called& call : calls_[c]) {
        turns[static_cast<size_t>(call.callee)] += turns[c] * call.turns;
      }
      for (CollectiveUse& use : uses_[c]) {
        use.turns = turns[c];
        uses.push_back(std::move(use));
      }
    }
    std::stable_sort(uses.begin(), uses.end(), [](const CollectiveUse& a, const CollectiveUse& b) {
      return a.seconds() > b.seconds();
    });
    return uses;
  }

  const Module& module_;
  const Machine& machine_;
  Prices* const prices_;
  bool late_ = false;  // the time is over
  std::vector<Turn> turns_;                      // by computation, as the three below
  std::vector<std::vector<Called>> calls_;
  std::vector<std::vector<CollectiveUse>> uses_;
  std::vector<std::string> notes_;
};

}  // namespace

int64_t Cost::bytes() const {
  double sum = 0;
  for (double bytes : bytes_by_level) sum += bytes;
  return SaturatedBytes(sum);
}

int64_t SaturatedBytes(double bytes) {
  return bytes < 9e18 ? std::llround(bytes) : std::numeric_limits<int64_t>::max();
}

Result<std::vector<Cost>> CostsOf(std::span<const Module* const> modules, const Mesh& mesh,
                                  const Machine& machine) {
  if (mesh.devices() > machine.capacity()) {
    return Invalid("machine-too-small",
                   fmt::format("machine '{}' has {} devices, the module runs on {}", machine.name,
                               machine.capacity(), mesh.devices()));
  }
  Prices prices(mesh, machine);
  std::vector<Cost> costs;
  for (const Module* module : modules) {
    HV_ASSIGN(Cost cost, Walker(*module, machine, &prices).Run());
    costs.push_back(std::move(cost));
  }
  return costs;
}

Result<Cost> CostOf(const Module& module, const Mesh& mesh, const Machine& machine) {
  const Module* modules[] = {&module};
  HV_ASSIGN(std::vector<Cost> costs, CostsOf(modules, mesh, machine));
  return std::move(costs.front());
}

}  // namespace hv
