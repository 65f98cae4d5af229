#include "sim/collective_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "eval/domain.h"
#include "hlo/parser.h"
#include "sim/cost.h"
#include "sim/run.h"
#include "sim/timing.h"

namespace hv {
namespace {

constexpr double kClockGrain = 1e-9;  // seconds; nothing takes less

// What one turn of the loop computes, as r.
struct Body {
  std::string parameter, text, result;
};

Body BodyOf(TimedOp op, int64_t n, int64_t elements) {
  const std::string whole = fmt::format("f32[{}]", elements);
  const std::string part = fmt::format("f32[{}]", elements / n);
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  const std::string group =
      fmt::format("channel_id=1, replica_groups={{{{{}}}}}", fmt::join(all, ","));
  const std::string ids = group + ", use_global_device_ids=true";
  const std::string sum = fmt::format("all-reduce(x), {}, to_apply=sum", ids);
  switch (op) {
    case TimedOp::kAllReduce:
      return {whole, fmt::format("r = {} {}\n", whole, sum), whole};
    case TimedOp::kReduceScatter:
      return {whole,
              fmt::format("r = {} reduce-scatter(x), {}, dimensions={{0}}, to_apply=sum\n", part,
                          ids),
              part};
    case TimedOp::kAllGather:
      return {part, fmt::format("r = {} all-gather(x), {}, dimensions={{0}}\n", whole, ids),
              whole};
    case TimedOp::kAllToAll:
      return {whole, fmt::format("r = {} all-to-all(x), {}, dimensions={{0}}\n", whole, group),
              whole};
    case TimedOp::kPermute: {
      std::string pairs;
      for (int64_t d = 0; d < n; ++d) pairs += fmt::format("{}{{{},{}}}", d ? "," : "", d, (d + 1) % n);
      return {whole,
              fmt::format("r = {} collective-permute(x), channel_id=1, "
                          "source_target_pairs={{{}}}\n",
                          whole, pairs),
              whole};
    }
    case TimedOp::kAllReduceSlice:
      return {whole,
              fmt::format("ar = {} {}\n  r = {} dynamic-slice(ar, offset), "
                          "dynamic_slice_sizes={{{}}}\n",
                          whole, sum, part, elements / n),
              part};
    case TimedOp::kNothing:
      return {part, "", part};
    case TimedOp::kAdd:
      return {whole, fmt::format("r = {} add(x, x)\n", whole), whole};
  }
  return {};
}

// The fastest round of each module, all run in turns.
Result<std::vector<double>> TimeInTurns(const std::vector<const Module*>& modules, int64_t devices,
                                        int rounds, Transport* transport) {
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  RunOptions options;
  options.domain = domain.get();
  options.transport = transport;
  options.private_results = true;
  std::map<std::pair<const Shape*, int64_t>, Value> inputs;  // by device: of its own
  std::vector<double> fastest(modules.size(), std::numeric_limits<double>::infinity());
  for (int round = -1; round < rounds; ++round) {
    for (size_t k = 0; k < modules.size(); ++k) {
      const Computation& entry = modules[k]->At(modules[k]->entry);
      const auto input = [&](DeviceId device, int64_t parameter) -> Result<Value> {
        const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(parameter)]).shape;
        Value& value = inputs[{shape, device.value}];
        if (!value.empty()) return value;
        value = Value::NewNative(shape);
        float number = static_cast<float>(device.value);
        for (float& element : value.MutableAs<float>()) element = number = 0.5f * number + 1;
        return value;
      };
      HV_ASSIGN(const RunOutcome outcome, RunModule(*modules[k], {1, devices}, input, options));
      HV_CHECK(!outcome.stall, "a collective of all devices cannot stall");
      const double seconds = SlowestOf(outcome.seconds, transport);
      if (round >= 0) fastest[k] = std::min(fastest[k], seconds);
    }
  }
  return fastest;
}

// So many that the clock's grain and what happens once do not count, and no run takes long.
int64_t RepeatsFor(int64_t devices, int64_t bytes) {
  return std::clamp<int64_t>((int64_t{1} << 26) / (devices * bytes), 3, 256);
}

}  // namespace

Module TimedModule(TimedOp op, int64_t devices, int64_t bytes, int64_t repeats) {
  const int64_t elements = std::max<int64_t>(1, bytes / 4 / devices) * devices;
  const Body body = BodyOf(op, devices, elements);
  const std::string state =
      fmt::format("(s32[], u32[], {}, {})", body.parameter, body.result);
  std::string text = fmt::format(
      "HloModule timed, num_partitions={0}\n"
      "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}\n"
      "body {{\n  t = {1} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
      "  offset = u32[] get-tuple-element(t), index=1\n  x = {2} get-tuple-element(t), index=2\n"
      "  old = {3} get-tuple-element(t), index=3\n"
      "  one = s32[] constant(1)\n  next = s32[] add(i, one)\n  {4}"
      "  ROOT new = {1} tuple(next, offset, x, {5})\n}}\n"
      "more {{\n  t = {1} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
      "  n = s32[] constant({6})\n  ROOT c = pred[] compare(i, n), direction=LT\n}}\n",
      devices, state, body.parameter, body.result, body.text, body.text.empty() ? "old" : "r", repeats);
  text += fmt::format(
      "ENTRY main {{\n  x = {1} parameter(0)\n  i = s32[] constant(0)\n"
      "  id = u32[] partition-id()\n  share = u32[] constant({3})\n"
      "  offset = u32[] multiply(id, share)\n  zero = f32[] constant(0)\n"
      "  r = {2} broadcast(zero), dimensions={{}}\n  t = {0} tuple(i, offset, x, r)\n"
      "  w = {0} while(t), condition=more, body=body\n"
      "  ROOT last = {2} get-tuple-element(w), index=3\n}}\n",
      state, body.parameter, body.result, elements / devices);
  auto module = ParseModule("timed", std::move(text));
  HV_CHECK(module.has_value(), FormatError(module.error()));
  return std::move(*module);
}

Result<double> ModelledSeconds(TimedOp op, int64_t devices, int64_t bytes, const Machine& machine) {
  constexpr int64_t kTurns = 1024;  // the rest does not count
  const auto seconds = [&](TimedOp each) -> Result<double> {
    HV_ASSIGN(const Cost cost,
              CostOf(TimedModule(each, devices, bytes, kTurns), {1, devices}, machine));
    return cost.seconds / kTurns;
  };
  HV_ASSIGN(const double all, seconds(op));
  HV_ASSIGN(const double loop, seconds(TimedOp::kNothing));
  return all - loop;
}

Result<std::vector<double>> MeasuredSeconds(std::span<const TimedOp> ops, int64_t devices,
                                            int64_t bytes, int rounds, Transport* transport) {
  const int64_t repeats = RepeatsFor(devices, bytes);
  std::vector<Module> modules;
  for (const TimedOp op : ops) modules.push_back(TimedModule(op, devices, bytes, repeats));
  modules.push_back(TimedModule(TimedOp::kNothing, devices, bytes, repeats));
  std::vector<const Module*> turns;
  for (const Module& module : modules) turns.push_back(&module);
  HV_ASSIGN(std::vector<double> seconds, TimeInTurns(turns, devices, rounds, transport));
  const double loop = seconds.back();
  seconds.pop_back();
  for (double& each : seconds) {
    each = std::max((each - loop) / static_cast<double>(repeats), kClockGrain);
  }
  return seconds;
}

}  // namespace hv
