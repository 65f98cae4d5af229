// Fitting a machine to times that a machine of that kind has taken gives that machine back.
#include "sim/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace hv {
namespace {

constexpr int64_t kDevices = 8;
constexpr TimedOp kOps[] = {TimedOp::kAllReduce, TimedOp::kReduceScatter, TimedOp::kAllGather,
                            TimedOp::kAllToAll,  TimedOp::kPermute,       TimedOp::kAdd};

Machine Bus(double cache_bytes) {
  Machine machine;
  machine.name = "this-node";
  machine.levels.push_back({"memory", 3e-6, 0, 12e9, false, false, cache_bytes, 50e9});
  machine.axes.push_back({0, Wiring::kBus, 0});
  machine.reduce_bytes_per_second = 20e9;
  machine.seconds_per_kernel = 1e-6;
  machine.memory_bytes_per_second = 5e9;
  return machine;
}

double SecondsOn(const Machine& machine, TimedOp op, int64_t bytes) {
  const auto seconds = ModelledSeconds(op, kDevices, bytes, machine);
  EXPECT_TRUE(seconds.has_value());
  return seconds.value_or(0);
}

void ExpectRecovered(double cache_bytes) {
  const Machine machine = Bus(cache_bytes);
  std::vector<Sample> samples;
  for (const TimedOp op : kOps) {
    for (int64_t bytes = 1024; bytes <= 16 << 20; bytes *= 4) {
      samples.push_back({op, bytes, SecondsOn(machine, op, bytes)});
    }
  }
  const Machine fitted = FitMachine(samples, kDevices);
  for (const TimedOp op : kOps) {
    for (int64_t bytes = 2048; bytes <= 16 << 20; bytes *= 4) {  // between those it has seen
      const double expected = SecondsOn(machine, op, bytes);
      EXPECT_NEAR(SecondsOn(fitted, op, bytes), expected, 0.1 * expected)
          << kTimedOpNames[static_cast<size_t>(op)] << " of " << bytes;
    }
  }
}

TEST(Calibration, GivesTheMachineBack) { ExpectRecovered(0); }

TEST(Calibration, GivesTheCacheBack) { ExpectRecovered(8 << 20); }

TEST(Calibration, TheFileIsAMachine) {
  const std::string path = std::filesystem::temp_directory_path() / "hv_calibration_test.json";
  std::ofstream(path) << MachineText(Bus(8 << 20), "a test");
  const auto machine = LoadMachine(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(machine.has_value()) << FormatError(machine.error());
  EXPECT_DOUBLE_EQ(machine->levels[0].cached_bytes_per_second, 50e9);
  EXPECT_DOUBLE_EQ(machine->seconds_per_kernel, 1e-6);
}

}  // namespace
}  // namespace hv
