// Algorithms on networks: closed forms, bounds, placement, and laws that hold on every machine.
#include "sim/collective_cost.h"

#include <gmock/gmock.h>

#include <numeric>

namespace hv {
namespace {

constexpr double kAlpha = 1e-6, kBandwidth = 1e9;

// One level of the given axes.
Machine Simple(Wiring wiring, std::vector<int64_t> shape, bool reduces = false) {
  Machine machine;
  machine.levels.push_back({"level", kAlpha, kAlpha, kBandwidth, false, reduces});
  for (int64_t size : shape) machine.axes.push_back({0, wiring, size});
  machine.reduce_bytes_per_second = 1e30;
  return machine;
}

// Devices first, first + step, ... as one group.
std::vector<int64_t> Range(int64_t count, int64_t first = 0, int64_t step = 1) {
  std::vector<int64_t> group;
  for (int64_t i = 0; i < count; ++i) group.push_back(first + i * step);
  return group;
}

CollectiveCost Of(const Machine& machine, Opcode opcode, double bytes, DeviceGroups groups) {
  const Topology topology(machine);
  return GroupCosts(topology, std::move(groups)).Of(opcode, bytes);
}

double SecondsBy(const CollectiveCost& cost, const std::string& algorithm) {
  if (cost.best.algorithm == algorithm) return cost.best.seconds;
  for (const AlgorithmCost& other : cost.others) {
    if (other.algorithm == algorithm) return other.seconds;
  }
  ADD_FAILURE() << "no " << algorithm;
  return 0;
}

TEST(CollectiveCost, ClosedFormsOnASwitch) {
  const Machine machine = Simple(Wiring::kSwitch, {0});
  const double s = 8e6, n = 8, a = kAlpha, sb = s / kBandwidth;
  const CollectiveCost rs = Of(machine, Opcode::kReduceScatter, s, {Range(8)});
  EXPECT_NEAR(SecondsBy(rs, "ring"), 7 * a + 7.0 / 8 * sb, 1e-12);
  EXPECT_NEAR(SecondsBy(rs, "recursive halving"), 3 * a + 7.0 / 8 * sb, 1e-12);
  EXPECT_NEAR(SecondsBy(rs, "direct"), 7 * a + 7.0 / 8 * sb, 1e-12);
  const CollectiveCost ar = Of(machine, Opcode::kAllReduce, s, {Range(8)});
  EXPECT_NEAR(SecondsBy(ar, "ring"), 14 * a + 14.0 / 8 * sb, 1e-12);
  EXPECT_NEAR(SecondsBy(ar, "recursive doubling"), 3 * (a + sb), 1e-12);
  EXPECT_NEAR(SecondsBy(ar, "recursive halving"), 6 * a + 14.0 / 8 * sb, 1e-12);
  const CollectiveCost a2a = Of(machine, Opcode::kAllToAll, s, {Range(8)});
  EXPECT_NEAR(SecondsBy(a2a, "direct"), 7 * a + (n - 1) / n * sb, 1e-12);
  EXPECT_NEAR(SecondsBy(a2a, "Bruck"), 3 * (a + sb / 2), 1e-12);
}

TEST(CollectiveCost, ABusCarriesTheMessagesOfAllPairs) {
  Machine machine = Simple(Wiring::kBus, {0});
  machine.levels[0].cache_bytes = 8e6;
  machine.levels[0].cached_bytes_per_second = 4 * kBandwidth;
  const CollectiveCost cached = Of(machine, Opcode::kReduceScatter, 1e6, {Range(8)});
  EXPECT_NEAR(SecondsBy(cached, "direct"), 7 * kAlpha + 7e6 / (4 * kBandwidth), 1e-12);
  const CollectiveCost larger = Of(machine, Opcode::kReduceScatter, 2e6, {Range(8)});
  EXPECT_NEAR(SecondsBy(larger, "direct"), 7 * kAlpha + 14e6 / kBandwidth, 1e-12);
  // Groups side by side share it too.
  const CollectiveCost pairs = Of(machine, Opcode::kReduceScatter, 8e6, {{0, 1}, {2, 3}, {4, 5}});
  EXPECT_NEAR(SecondsBy(pairs, "direct"), kAlpha + 24e6 / kBandwidth, 1e-12);
}

TEST(CollectiveCost, BytesAreThoseOfTheAlgorithm) {
  const Machine machine = Simple(Wiring::kSwitch, {0});
  EXPECT_NEAR(Of(machine, Opcode::kReduceScatter, 8e6, {Range(8)}).best.bytes(), 7e6, 1);
  EXPECT_NEAR(Of(machine, Opcode::kAllReduce, 8e6, {Range(8)}).best.bytes(), 14e6, 1);
  EXPECT_NEAR(Of(machine, Opcode::kAllGather, 8e6, {Range(8)}).best.bytes(), 7e6, 1);
  EXPECT_EQ(Of(machine, Opcode::kAllReduce, 8e6, {Range(1)}).best.bytes(), 0);
}

TEST(CollectiveCost, ARingGoesBothWays) {
  const Machine machine = Simple(Wiring::kRing, {8});
  const CollectiveCost ag = Of(machine, Opcode::kAllGather, 8e6, {Range(8)});
  EXPECT_NEAR(SecondsBy(ag, "ring"), 7 * kAlpha + 7e6 / kBandwidth, 1e-12);
  EXPECT_NEAR(SecondsBy(ag, "bidirectional ring"), 4 * kAlpha + 3.5e6 / kBandwidth, 1e-12);
}

TEST(CollectiveCost, StridedGroupsShareLinks) {
  const Machine machine = Simple(Wiring::kRing, {8});
  const double near = Of(machine, Opcode::kAllReduce, 8e6, {Range(2), Range(2, 2), Range(2, 4), Range(2, 6)}).best.seconds;
  const double far = Of(machine, Opcode::kAllReduce, 8e6,
                        {Range(2, 0, 4), Range(2, 1, 4), Range(2, 2, 4), Range(2, 3, 4)}).best.seconds;
  EXPECT_GT(far, 3 * near);
  const Machine crossbar = Simple(Wiring::kSwitch, {8});
  EXPECT_EQ(Of(crossbar, Opcode::kAllReduce, 8e6, {Range(2), Range(2, 2), Range(2, 4), Range(2, 6)}).best.seconds,
            Of(crossbar, Opcode::kAllReduce, 8e6,
               {Range(2, 0, 4), Range(2, 1, 4), Range(2, 2, 4), Range(2, 3, 4)}).best.seconds);
}

TEST(CollectiveCost, ATorusUsesAllItsAxes) {
  const Machine torus = Simple(Wiring::kRing, {4, 4});
  const CollectiveCost rs = Of(torus, Opcode::kReduceScatter, 16e6, {Range(16)});
  EXPECT_EQ(rs.best.algorithm, "one pass per axis");
  // Two slices, two directions: 3/4 of 8 MB, then 3/4 of 2 MB.
  EXPECT_NEAR(rs.best.seconds, 4 * kAlpha + (6e6 + 1.5e6) / 2 / kBandwidth, 1e-9);
}

TEST(CollectiveCost, NodesReduceInsideFirst) {
  const Machine pod = *LoadMachine("h100-pod");
  const CollectiveCost ar = Of(pod, Opcode::kAllReduce, 1e9, {Range(32)});
  EXPECT_EQ(ar.best.algorithm, "level by level");
  ASSERT_EQ(ar.best.bytes_by_level.size(), 2);
  EXPECT_LT(ar.best.bytes_by_level[1], ar.best.bytes_by_level[0] / 4);
  // Groups of one device per node have nothing to reduce inside.
  DeviceGroups rails;
  for (int64_t i = 0; i < 8; ++i) rails.push_back(Range(4, i, 8));
  EXPECT_EQ(Of(pod, Opcode::kAllReduce, 1e9, rails).best.bytes_by_level[0], 0);
}

TEST(CollectiveCost, OnePortPerNodeIsShared) {
  const Machine hosts = *LoadMachine("ethernet-100g");
  DeviceGroups one = {Range(2, 0, 8)}, eight;
  for (int64_t i = 0; i < 8; ++i) eight.push_back(Range(2, i, 8));
  const double alone = Of(hosts, Opcode::kAllReduce, 1e9, one).best.seconds;
  EXPECT_NEAR(Of(hosts, Opcode::kAllReduce, 1e9, eight).best.seconds / alone, 8, 0.1);
}

TEST(CollectiveCost, SwitchesThatReduceSendOnce) {
  const Machine machine = Simple(Wiring::kSwitch, {8}, true);
  const CollectiveCost ar = Of(machine, Opcode::kAllReduce, 8e9, {Range(8)});
  EXPECT_EQ(ar.best.algorithm, "in network");
  EXPECT_NEAR(ar.best.seconds, kAlpha + 9e9 / kBandwidth, 1e-9);
}

// Meshes of groups on up to 64 devices: one group, contiguous, strided, uneven.
std::vector<DeviceGroups> Placements(int64_t devices) {
  std::vector<DeviceGroups> all = {{Range(devices)}};
  for (int64_t n : {2, 4, 8}) {
    if (devices % n != 0 || n == devices) continue;
    DeviceGroups contiguous, strided;
    for (int64_t i = 0; i < devices / n; ++i) {
      contiguous.push_back(Range(n, i * n));
      strided.push_back(Range(n, i, devices / n));
    }
    all.push_back(std::move(contiguous));
    all.push_back(std::move(strided));
  }
  if (devices > 3) all.push_back({Range(3), Range(devices - 3, 3)});
  return all;
}

TEST(CollectiveCost, LawsOnEveryMachine) {
  for (const std::string& name : BuiltInMachines()) {
    const Machine machine = *LoadMachine(name);
    const Topology topology(machine);
    for (int64_t devices : {2, 3, 8, 16, 64}) {
      if (devices > machine.capacity()) continue;
      for (const DeviceGroups& groups : Placements(devices)) {
        const GroupCosts costs(topology, groups);
        double before = 0;
        for (double bytes = 1; bytes < 1e11; bytes *= 7) {
          SCOPED_TRACE(name + " " + std::to_string(devices) + " " + std::to_string(bytes));
          const auto seconds = [&](Opcode opcode) { return costs.Of(opcode, bytes).best.seconds; };
          const double ar = seconds(Opcode::kAllReduce), rs = seconds(Opcode::kReduceScatter),
                       ag = seconds(Opcode::kAllGather);
          EXPECT_LE(rs, ar);
          EXPECT_GE(ar, before) << "not monotone";
          before = ar;
          // A member must send what the others need at the machine's fastest port, all axes together.
          double fastest = 0;
          for (const NetworkLevel& level : machine.levels) {
            fastest = std::max(fastest, level.bytes_per_second);
          }
          fastest *= 2 * static_cast<double>(machine.axes.size());
          const double n = static_cast<double>(groups.front().size());
          EXPECT_GE(rs, (n - 1) / n * bytes / fastest);
          EXPECT_GE(rs + ag, (n - 1) / n * bytes / fastest * 2);
        }
      }
    }
  }
}

TEST(CollectiveCost, UnitsDoNotMatter) {
  Machine machine = *LoadMachine("trn2-ultraserver");
  const DeviceGroups groups = {Range(64)};
  const Topology topology(machine);
  const double seconds = GroupCosts(topology, groups).Of(Opcode::kAllReduce, 3e7).best.seconds;
  constexpr double kTime = 1024, kSize = 64;  // new units of seconds and bytes
  for (NetworkLevel& level : machine.levels) {
    level.seconds_per_message *= kTime;
    level.seconds_of_sender *= kTime;
    level.bytes_per_second *= kSize / kTime;
  }
  machine.reduce_bytes_per_second *= kSize / kTime;
  EXPECT_NEAR(GroupCosts(topology, groups).Of(Opcode::kAllReduce, 3e7 * kSize).best.seconds,
              seconds * kTime, 1e-9 * seconds * kTime);
}

TEST(Topology, MessagesTakeTheShorterWayRound) {
  const Machine machine = Simple(Wiring::kRing, {8});
  const Topology topology(machine);
  const std::vector<Message> wrap = {{7, 0}}, three = {{0, 3}}, opposite = {{0, 4}, {1, 5}};
  EXPECT_NEAR(topology.CostOf(wrap).seconds, kAlpha, 1e-15);
  EXPECT_NEAR(topology.CostOf(three).seconds, 3 * kAlpha, 1e-15);
  EXPECT_NEAR(topology.CostOf(opposite).seconds_per_byte, 2 / kBandwidth, 1e-15);  // links 1-2 .. 3-4
}

TEST(Topology, TreesJoinAtTheLowestNode) {
  const Machine machine = Simple(Wiring::kTree, {8});
  const Topology topology(machine);
  const std::vector<Message> siblings = {{0, 1}}, across = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  EXPECT_NEAR(topology.CostOf(siblings).seconds, 2 * kAlpha, 1e-15);
  EXPECT_NEAR(topology.CostOf(across).seconds, 6 * kAlpha, 1e-15);
  EXPECT_NEAR(topology.CostOf(across).seconds_per_byte, 4 / kBandwidth, 1e-15);  // through the root
}

TEST(CollectiveCost, PermutesAreOneStep) {
  const Machine machine = Simple(Wiring::kRing, {4});
  const Topology topology(machine);
  const CollectiveCost shift = CostOfMessages(1e6, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, topology);
  EXPECT_NEAR(shift.best.seconds, kAlpha + 1e6 / kBandwidth, 1e-12);
  EXPECT_EQ(CostOfMessages(1e6, {}, topology).best.seconds, 0);
}

}  // namespace
}  // namespace hv
