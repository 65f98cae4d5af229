#include "bench/step_figures.h"

#include <sys/resource.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "hlo/parser.h"
#include "sim/run.h"

namespace hv {
namespace {

constexpr int kIterations = 20'000;
constexpr int kDevices = 8;

const std::string kSum =
    "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\n";

// A loop over (s32[], `type`) that computes `step` from x, on `devices` devices.
std::string Loop(int devices, int iterations, const std::string& type, const std::string& step) {
  const std::string state = "(s32[], " + type + ")";
  return "HloModule m, replica_count=" + std::to_string(devices) + "\n" + kSum +
         "more { s = " + state + " parameter(0)  i = s32[] get-tuple-element(s), index=0\n" +
         "  n = s32[] constant(" + std::to_string(iterations) +
         ")  ROOT go = pred[] compare(i, n), direction=LT }\n" + "body { s = " + state +
         " parameter(0)  i = s32[] get-tuple-element(s), index=0\n" + "  x = " + type +
         " get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)\n" + step +
         "  ROOT t = " + state + " tuple(j, y) }\n" + "ENTRY e { z = s32[] constant(0)  f = f32[] " +
         "constant(1)\n  x = " + type + " broadcast(f), dimensions={}\n  s = " + state +
         " tuple(z, x)\n  w = " + state + " while(s), condition=more, body=body\n  ROOT r = " + type +
         " get-tuple-element(w), index=1 }";
}

RunOutcome Run(const std::string& text) {
  const Result<Module> module = ParseModule("bench.hlo", text);
  HV_CHECK(module.has_value(), module ? "" : FormatError(module.error()));
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  RunOptions options;
  options.domain = domain.get();
  options.transport = transport.get();
  const InputFn no_inputs = [](DeviceId, int64_t) -> Result<Value> { return Value(); };
  Result<RunOutcome> outcome =
      RunModule(*module, {module->replicas(), module->partitions()}, no_inputs, options);
  HV_CHECK(outcome.has_value(), outcome ? "" : FormatError(outcome.error()));
  return std::move(*outcome);
}

// Seconds of one iteration, the best of several runs.
double Iteration(int devices, const std::string& type, const std::string& step) {
  double best = 1e30;
  for (int run = 0; run < 5; ++run) {
    best = std::min(best, Run(Loop(devices, kIterations, type, step)).seconds);
  }
  return best / kIterations;
}

double ResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// What the process grew by, per byte of values alive at the peak: four arrays of 32 MiB, of which
// iterations make and drop several.
double ResidentPerLive() {
  const std::string array = "f32[8388608]";
  const double before = ResidentBytes();
  const RunOutcome outcome = Run(Loop(
      1, 8, array,
      "  a = " + array + " reverse(x), dimensions={0}\n  b = " + array + " multiply(x, a)\n  c = " +
          array + " reverse(b), dimensions={0}\n  y = " + array + " add(a, c)\n"));
  return (ResidentBytes() - before) / static_cast<double>(outcome.peak_bytes);
}

}  // namespace

std::vector<StepFigure> MeasureSteps() {
  const double resident = ResidentPerLive();
  const double empty = Iteration(1, "f32[]", "  y = f32[] copy(x)\n");
  const double apart = Iteration(kDevices, "f32[2]", "  y = f32[2] negate(x)\n");
  const double together = Iteration(
      kDevices, "f32[2]", "  y = f32[2] all-reduce(x), replica_groups={}, to_apply=sum\n");
  return {{"resident_per_live_byte", resident, 1.2},
          {"empty_while_iterations_per_second", 1 / empty, 5e6},
          {"superstep_of_8_devices_us", (together - apart) * 1e6, 2}};
}

}  // namespace hv
