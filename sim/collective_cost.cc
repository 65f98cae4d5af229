#include "sim/collective_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>

namespace hv {
namespace {

// Adds up the steps of one algorithm.
class Steps {
 public:
  Steps(std::string algorithm, const Topology& topology) {
    cost_.algorithm = std::move(algorithm);
    cost_.bytes_by_level.resize(topology.machine().levels.size());
  }
  // `times` steps in which a member sends `messages` of `bytes` each.
  Steps& Add(const StepCost& step, double bytes, double times = 1, double messages = 1) {
    cost_.seconds += times * (step.seconds + bytes * step.seconds_per_byte);
    cost_.messages += times * messages;
    for (size_t level = 0; level < cost_.bytes_by_level.size(); ++level) {
      if (step.levels >> level & 1) cost_.bytes_by_level[level] += times * messages * bytes;
    }
    return *this;
  }
  Steps& Add(double seconds) {
    cost_.seconds += seconds;
    return *this;
  }
  AlgorithmCost Done() { return std::move(cost_); }

 private:
  AlgorithmCost cost_;
};

AlgorithmCost Sum(std::string algorithm, const AlgorithmCost& a, const AlgorithmCost& b) {
  AlgorithmCost sum = a;
  sum.algorithm = std::move(algorithm);
  sum.seconds += b.seconds;
  sum.messages += b.messages;
  for (size_t l = 0; l < sum.bytes_by_level.size(); ++l) {
    sum.bytes_by_level[l] += b.bytes_by_level[l];
  }
  return sum;
}

AlgorithmCost Nothing(const Topology& topology) { return Steps("", topology).Done(); }

bool Cheaper(const AlgorithmCost& a, const AlgorithmCost& b) { return a.seconds < b.seconds; }

const AlgorithmCost& Cheapest(const std::vector<AlgorithmCost>& candidates) {
  return *std::min_element(candidates.begin(), candidates.end(), Cheaper);
}

bool HasCache(const Machine& machine) { return machine.levels[0].cache_bytes > 0; }

Machine CachedBus(Machine bus) {
  bus.levels[0].bytes_per_second = bus.levels[0].cached_bytes_per_second;
  bus.levels[0].cache_bytes = 0;
  return bus;
}

CollectiveCost Choose(std::vector<AlgorithmCost> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), Cheaper);
  CollectiveCost cost{std::move(candidates.front()), {}};
  cost.others.assign(std::make_move_iterator(candidates.begin() + 1),
                     std::make_move_iterator(candidates.end()));
  return cost;
}

}  // namespace

double AlgorithmCost::bytes() const {
  return std::accumulate(bytes_by_level.begin(), bytes_by_level.end(), 0.0);
}

// The same groups on the bus as it is while all they move stays in its cache.
struct GroupCosts::InCache {
  InCache(const Machine& bus, DeviceGroups groups)
      : machine(CachedBus(bus)), topology(machine), costs(topology, std::move(groups)) {}
  const Machine machine;
  const Topology topology;
  const GroupCosts costs;
};

GroupCosts::GroupCosts(const Topology& topology, DeviceGroups groups)
    : GroupCosts(topology, groups, true) {
  for (const std::vector<int64_t>& group : groups) devices_ += static_cast<double>(group.size());
  const Machine& machine = topology.machine();
  if (HasCache(machine)) in_cache_ = std::make_shared<InCache>(machine, std::move(groups));
}

GroupCosts::GroupCosts(const Topology& topology, DeviceGroups groups, bool split)
    : network_(topology, std::move(groups)) {
  if (!split) return;
  int64_t level = -1;
  for (GroupNetwork::Lines& lines : network_.LinesOfAxes()) {
    const int64_t own = topology.machine().axes[lines.axis].level;
    if (own != level) tiers_.emplace_back();
    level = own;
    GroupCosts along(topology, std::move(lines.groups), false);
    tiers_.back().members *= along.network_.size();
    tiers_.back().axes.push_back(std::move(along));
  }
}

int GroupCosts::steps() const {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(network_.size() - 1)));
}

bool GroupCosts::IsPowerOfTwo() const {
  return std::has_single_bit(static_cast<uint64_t>(network_.size()));
}

// All in one switch that can reduce?
bool GroupCosts::ReducesInNetwork() const {
  const uint64_t levels = network_.Next().levels;
  return std::has_single_bit(levels) &&
         network_.topology().machine().levels[static_cast<size_t>(std::countr_zero(levels))]
             .in_network_reduction;
}

// All of `bytes` from everyone to everyone: one step, if more to send.
AlgorithmCost GroupCosts::OneShot(double bytes) const {
  AlgorithmCost shot = Direct(bytes * members());
  shot.algorithm = "one shot";
  return shot;
}

// A share of `bytes` from everyone to everyone, one message after the other.
AlgorithmCost GroupCosts::Direct(double bytes) const {
  const double n = members();
  const StepCost& everyone = network_.Everyone();
  AlgorithmCost direct = Steps("direct", network_.topology()).Add(everyone, bytes / n).Done();
  direct.seconds += (n - 2) * everyone.seconds_of_sender;
  direct.messages = n - 1;
  for (double& level : direct.bytes_by_level) level *= n - 1;
  return direct;
}

GroupCosts::Candidates GroupCosts::Flat(double bytes, double fold) const {
  const Topology& t = network_.topology();
  const double n = members(), moved = bytes * (n - 1) / n, folding = moved * fold;
  Candidates all;
  all.push_back(Steps("ring", t).Add(network_.Next(), bytes / n, n - 1).Add(folding).Done());
  if (n > 2) {
    const double turns = std::ceil((n - 1) / 2);
    all.push_back(Steps("bidirectional ring", t)
                      .Add(network_.BothNeighbours(), moved / turns / 2, turns, 2)
                      .Add(folding)
                      .Done());
  }
  Steps recursion("recursive halving", t);
  for (int k = 0; k < steps(); ++k) {  // the most goes to the nearest, where that is possible
    const double distance = std::exp2(k);
    recursion.Add(network_.Distance(k), IsPowerOfTwo() ? bytes / 2 / distance
                                                         : bytes / n * std::min(distance, n - distance));
  }
  all.push_back(recursion.Add(folding).Done());
  all.push_back(Direct(bytes));
  all.back().seconds += folding;
  if (ReducesInNetwork()) {
    all.push_back(Steps("in network", t).Add(network_.Next(), bytes).Done());
  }
  return all;
}

GroupCosts::Candidates GroupCosts::FlatAllReduce(double bytes, double fold) const {
  const Topology& t = network_.topology();
  const double n = members();
  Candidates scatters = Flat(bytes, fold), gathers = Flat(bytes, 0), all;
  for (size_t i = 0; i < scatters.size(); ++i) {
    if (scatters[i].algorithm == "in network") continue;
    all.push_back(Sum(scatters[i].algorithm, scatters[i], gathers[i]));
  }
  all.push_back(OneShot(bytes));
  all.back().seconds += (n - 1) * bytes * fold;
  Steps doubling("recursive doubling", t);
  StepCost edge;  // of a tree laid over the members
  for (int k = 0; k < steps(); ++k) {
    const StepCost& step = network_.Distance(k);
    doubling.Add(step, bytes).Add(bytes * fold);
    edge.seconds = std::max(edge.seconds, step.seconds);
    edge.seconds_per_byte = std::max(edge.seconds_per_byte, step.seconds_per_byte);
    edge.levels |= step.levels;
  }
  if (!IsPowerOfTwo()) {
    doubling.Add(network_.Next(), bytes).Add(bytes * fold);  // those beyond a power of two
  }
  all.push_back(doubling.Done());
  if (n > 2) {
    const double levels = steps();
    const double ideal = std::sqrt((levels - 1) * bytes * edge.seconds_per_byte /
                                   std::max(edge.seconds, 1e-12));
    const double chunks = std::max(1.0, std::round(ideal));
    AlgorithmCost tree = Steps("pipelined tree", t)
                             .Add(edge, bytes / chunks, 2 * (levels + chunks - 1))
                             .Add(bytes * fold)
                             .Done();
    tree.messages = 2 * chunks;
    for (double& level : tree.bytes_by_level) level = level > 0 ? 2 * bytes : 0;
    all.push_back(std::move(tree));
  }
  if (ReducesInNetwork()) {
    all.push_back(Steps("in network", t).Add(network_.Next(), bytes * (n + 1) / n).Done());
  }
  return all;
}

// All axes of a torus at once: slice j starts along axis j, then goes on along the next.
AlgorithmCost GroupCosts::PassTier(const Tier& tier, double bytes, double fold) const {
  const size_t d = tier.axes.size();
  if (d == 1) return Cheapest(tier.axes[0].Flat(bytes, fold));
  std::vector<double> slices(d, bytes / static_cast<double>(d));
  AlgorithmCost pass = Nothing(network_.topology());
  double seconds = 0;
  for (size_t phase = 0; phase < d; ++phase) {
    double slowest = 0;
    for (size_t j = 0; j < d; ++j) {
      const GroupCosts& axis = tier.axes[(j + phase) % d];
      const AlgorithmCost part = Cheapest(axis.Flat(slices[j], fold));
      slowest = std::max(slowest, part.seconds);
      pass = Sum("", pass, part);
      slices[j] /= axis.members();
    }
    seconds += slowest;
  }
  pass.seconds = seconds;
  return pass;
}

std::string GroupCosts::NameOfTiers() const {
  return tiers_.size() > 1 ? "level by level" : "one pass per axis";
}

AlgorithmCost GroupCosts::PassTiers(double bytes, double fold) const {
  AlgorithmCost pass = Nothing(network_.topology());
  for (const Tier& tier : tiers_) {
    pass = Sum(NameOfTiers(), pass, PassTier(tier, bytes, fold));
    bytes /= static_cast<double>(tier.members);
  }
  return pass;
}

// Scatter inwards to outwards, all-reduce outermost, gather back.
AlgorithmCost GroupCosts::AllReduceTiers(double bytes, double fold) const {
  AlgorithmCost pass = Nothing(network_.topology());
  for (const Tier& tier : tiers_) {
    const AlgorithmCost down = PassTier(tier, bytes, fold), up = PassTier(tier, bytes, 0);
    Candidates ways = {Sum("", down, up)};
    if (&tier == &tiers_.back() && tier.axes.size() == 1) {
      ways.push_back(Cheapest(tier.axes[0].FlatAllReduce(bytes, fold)));
    }
    pass = Sum(NameOfTiers(), pass, Cheapest(ways));
    bytes /= static_cast<double>(tier.members);
  }
  return pass;
}

GroupCosts::Candidates GroupCosts::Shuffles(double bytes, double fold) const {
  Candidates all = Flat(bytes, fold);
  if (!tiers_.empty()) all.push_back(PassTiers(bytes, fold));
  return all;
}

GroupCosts::Candidates GroupCosts::AllReduces(double bytes, double fold) const {
  Candidates all = FlatAllReduce(bytes, fold);
  if (!tiers_.empty()) all.push_back(AllReduceTiers(bytes, fold));
  return all;
}

GroupCosts::Candidates GroupCosts::AllToAlls(double bytes) const {
  const Topology& t = network_.topology();
  Steps bruck("Bruck", t);
  for (int k = 0; k < steps(); ++k) bruck.Add(network_.Distance(k), bytes / 2);
  return {Direct(bytes), bruck.Done()};
}

GroupCosts::Candidates GroupCosts::Broadcasts(double bytes) const {
  const Topology& t = network_.topology();
  Steps tree("binomial tree", t), scatter("scatter and all-gather", t);
  for (int k = 0; k < steps(); ++k) {
    tree.Add(network_.Distance(k), bytes);
    scatter.Add(network_.Distance(k), bytes / std::exp2(k + 1));
  }
  Candidates all = {tree.Done()};
  all.push_back(Sum("scatter and all-gather", scatter.Done(), Cheapest(Shuffles(bytes, 0))));
  if (ReducesInNetwork()) all.push_back(Steps("in network", t).Add(network_.Next(), bytes).Done());
  return all;
}

CollectiveCost GroupCosts::Of(Opcode opcode, double bytes) const {
  const Topology& t = network_.topology();
  if (network_.size() < 2 || bytes <= 0) return {Nothing(t), {}};
  if (in_cache_ != nullptr && devices_ * bytes <= t.machine().levels[0].cache_bytes) {
    return in_cache_->costs.Of(opcode, bytes);
  }
  const double fold = 1 / t.machine().reduce_bytes_per_second;
  switch (opcode) {
    case Opcode::kAllReduce:
      return Choose(AllReduces(bytes, fold));
    case Opcode::kReduceScatter: {
      Candidates all = Shuffles(bytes, fold);
      all.push_back(Cheapest(AllReduces(bytes, fold)));
      all.back().algorithm = "all-reduce and slice";
      return Choose(std::move(all));
    }
    case Opcode::kAllGather:
      return Choose(Shuffles(bytes, 0));
    case Opcode::kAllToAll: case Opcode::kRaggedAllToAll:
      return Choose(AllToAlls(bytes));
    default:
      return Choose(Broadcasts(bytes));
  }
}

CollectiveCost CostOfMessages(double bytes, const std::vector<Message>& messages,
                              const Topology& topology) {
  if (messages.empty() || bytes <= 0) return {Nothing(topology), {}};
  const Machine& machine = topology.machine();
  const double all = bytes * static_cast<double>(messages.size());
  if (HasCache(machine) && all <= machine.levels[0].cache_bytes) {
    const Machine cached = CachedBus(machine);
    return CostOfMessages(bytes, messages, Topology(cached));
  }
  return {Steps("direct", topology).Add(topology.CostOf(messages), bytes).Done(), {}};
}

}  // namespace hv
