#include "sim/cost.h"

#include <algorithm>
#include <cmath>

#include "hlo/op.h"
#include "sim/collective_plan.h"
#include "sim/grouping.h"

namespace hv {
namespace {

// Times of the algorithms: a seconds per message, b per byte sent, g per byte reduced.
struct Model {
  double n, s, a, b, g;

  double steps() const { return std::ceil(std::log2(n)); }
  double share() const { return (n - 1) / n; }  // of the bytes that moves

  double AllReduce() const {
    const double ring = 2 * (n - 1) * a + 2 * share() * s * b + share() * s * g;
    const double doubling = steps() * (a + s * b + s * g);
    const double halving = 2 * steps() * a + 2 * share() * s * b + share() * s * g;
    return std::min({ring, doubling, halving});
  }
  double ReduceScatter() const {
    const double ring = (n - 1) * a + share() * s * (b + g);
    const double halving = steps() * a + share() * s * (b + g);
    return std::min({ring, halving, AllReduce()});
  }
  double AllGather() const {
    return std::min((n - 1) * a + share() * s * b, steps() * a + share() * s * b);
  }
  double AllToAll() const {
    return std::min((n - 1) * a + share() * s * b, steps() * (a + s * b / 2));
  }
  double Broadcast() const {  // a tree, or scatter and all-gather
    return std::min(steps() * (a + s * b), (n - 1 + steps()) * a + 2 * share() * s * b);
  }
};

int64_t BytesSent(Opcode opcode, int64_t bytes, int64_t n) {
  const int64_t share = bytes / n * (n - 1) + bytes % n * (n - 1) / n;
  switch (opcode) {
    case Opcode::kAllReduce: return 2 * share;
    case Opcode::kReduceScatter: case Opcode::kAllGather: case Opcode::kAllToAll:
    case Opcode::kRaggedAllToAll: return share;
    default: return bytes;
  }
}

// Saturates: trip counts come from the text.
int64_t Times(int64_t bytes, int64_t turns) {
  int64_t product = 0;
  return __builtin_mul_overflow(bytes, turns, &product) ? INT64_MAX : product;
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t BytesOf(const std::vector<const Shape*>& leaves) {
  int64_t bytes = 0;
  for (const Shape* leaf : leaves) bytes += leaf->ByteSize();
  return bytes;
}

bool Costs(Opcode plain) {
  switch (plain) {
    case Opcode::kAllReduce: case Opcode::kReduceScatter: case Opcode::kAllGather:
    case Opcode::kAllToAll: case Opcode::kRaggedAllToAll: case Opcode::kCollectivePermute:
    case Opcode::kCollectiveBroadcast: case Opcode::kSend: return true;
    default: return false;
  }
}

class Walker {
 public:
  Walker(const Module& module, const Mesh& mesh, const Machine& machine)
      : module_(module), machine_(machine), groupings_(mesh) {}

  Cost Run() {
    for (const Computation& computation : module_.computations) Add(computation);
    Cost total = costs_[static_cast<size_t>(module_.entry)];
    total.notes = std::move(notes_);
    return total;
  }

 private:
  void Add(const Computation& computation) {
    Cost& cost = costs_.emplace_back();
    for (const Instruction& instruction : computation.instructions) {
      const Cost part = CostOfInstruction(computation, instruction);
      cost.seconds += part.seconds;
      cost.bytes = Plus(cost.bytes, part.bytes);
    }
  }

  const Cost& CostOfCallee(ComputationIndex c) const { return costs_[static_cast<size_t>(c)]; }

  Cost CostOfInstruction(const Computation& computation, const Instruction& instruction) {
    if (instruction.opcode == Opcode::kWhile) return CostOfLoop(computation, instruction);
    if (Costs(PlainOpcode(instruction.opcode))) return CostOfGroups(computation, instruction);
    Cost dearest;
    if (Definition(instruction).kernel == KernelKind::kRegion) {
      for (ComputationIndex c : CalledComputations(instruction)) {
        if (CostOfCallee(c).seconds > dearest.seconds) dearest = CostOfCallee(c);
      }
    }
    return dearest;
  }

  Cost CostOfLoop(const Computation& computation, const Instruction& loop) {
    const Cost& condition = CostOfCallee(loop.Computation(Attr::kCondition));
    const Cost& body = CostOfCallee(loop.Computation(Attr::kBody));
    int64_t trips = TripCountOf(module_, computation, loop);
    if (trips < 0) {
      trips = 1;
      if (body.bytes > 0) {
        notes_.push_back("the trip count of " + std::string(loop.name) + " is not known: taken as 1");
      }
    }
    const double turns = static_cast<double>(trips);
    return {condition.seconds * (turns + 1) + body.seconds * turns,
            Plus(condition.bytes, Times(Plus(condition.bytes, body.bytes), trips)),
            {}};
  }

  // The dearest group of one collective.
  Cost CostOfGroups(const Computation& computation, const Instruction& instruction) {
    const Opcode opcode = PlainOpcode(instruction.opcode);
    std::vector<const Shape*> leaves;
    for (InstructionIndex o : instruction.operands) {
      for (const Shape* leaf : DataLeaves(computation.At(o).shape)) leaves.push_back(leaf);
    }
    if (opcode == Opcode::kRaggedAllToAll) leaves.resize(1);
    const int64_t operand_bytes = BytesOf(leaves);
    Cost dearest;
    for (const auto& group : groupings_.Of(instruction)->groups) {
      const int64_t members = static_cast<int64_t>(group.size());
      const auto [low, high] = std::minmax_element(group.begin(), group.end());
      const CollectiveCost cost = CostOfCollective(
          opcode, opcode == Opcode::kAllGather ? operand_bytes * members : operand_bytes, members,
          machine_.LinkOf(low->value, high->value), machine_.reduce_bytes_per_second);
      dearest.seconds = std::max(dearest.seconds, cost.seconds);
      dearest.bytes = std::max(dearest.bytes, cost.bytes);
    }
    return dearest;
  }

  const Module& module_;
  const Machine& machine_;
  GroupingTable groupings_;
  std::vector<Cost> costs_;  // by computation
  std::vector<std::string> notes_;
};

}  // namespace

CollectiveCost CostOfCollective(Opcode opcode, int64_t bytes, int64_t members, const Link& link,
                                double reduce_bytes_per_second) {
  if (members < 2 || bytes == 0) return {};
  const Model model{static_cast<double>(members), static_cast<double>(bytes),
                    link.seconds_per_message, 1 / link.bytes_per_second,
                    1 / reduce_bytes_per_second};
  CollectiveCost cost{0, BytesSent(opcode, bytes, members)};
  switch (opcode) {
    case Opcode::kAllReduce: cost.seconds = model.AllReduce(); break;
    case Opcode::kReduceScatter: cost.seconds = model.ReduceScatter(); break;
    case Opcode::kAllGather: cost.seconds = model.AllGather(); break;
    case Opcode::kAllToAll: case Opcode::kRaggedAllToAll: cost.seconds = model.AllToAll(); break;
    case Opcode::kCollectiveBroadcast: cost.seconds = model.Broadcast(); break;
    default: cost.seconds = model.a + model.s * model.b;
  }
  return cost;
}

Cost CostOf(const Module& module, const Mesh& mesh, const Machine& machine) {
  return Walker(module, mesh, machine).Run();
}

}  // namespace hv
