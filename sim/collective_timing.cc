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
#include "sim/run.h"
#include "sim/timing.h"

namespace hv {
namespace {

// The instruction (or two) of one repeat, named after it, and the shape of its result.
struct Body {
  std::string parameter, text, result;
};

Body BodyOf(TimedOp op, int64_t n, int64_t elements) {
  const std::string whole = fmt::format("f32[{}]", elements);
  const std::string part = fmt::format("f32[{}]", elements / n);
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  const std::string group =
      fmt::format("channel_id=@, replica_groups={{{{{}}}}}", fmt::join(all, ","));
  const std::string ids = group + ", use_global_device_ids=true";
  const std::string sum = fmt::format("all-reduce(x), {}, to_apply=sum", ids);
  switch (op) {
    case TimedOp::kAllReduce:
      return {whole, fmt::format("r@ = {} {}\n", whole, sum), whole};
    case TimedOp::kReduceScatter:
      return {whole,
              fmt::format("r@ = {} reduce-scatter(x), {}, dimensions={{0}}, to_apply=sum\n", part,
                          ids),
              part};
    case TimedOp::kAllGather:
      return {part, fmt::format("r@ = {} all-gather(x), {}, dimensions={{0}}\n", whole, ids),
              whole};
    case TimedOp::kAllToAll:
      return {whole, fmt::format("r@ = {} all-to-all(x), {}, dimensions={{0}}\n", whole, group),
              whole};
    case TimedOp::kPermute: {
      std::string pairs;
      for (int64_t d = 0; d < n; ++d) pairs += fmt::format("{}{{{},{}}}", d ? "," : "", d, (d + 1) % n);
      return {whole,
              fmt::format("r@ = {} collective-permute(x), channel_id=@, "
                          "source_target_pairs={{{}}}\n",
                          whole, pairs),
              whole};
    }
    case TimedOp::kAllReduceSlice:
      return {whole,
              fmt::format("ar@ = {} {}\n  r@ = {} dynamic-slice(ar@, offset), "
                          "dynamic_slice_sizes={{{}}}\n",
                          whole, sum, part, elements / n),
              part};
    case TimedOp::kAdd:
      return {whole, fmt::format("r@ = {} add(x, x)\n", whole), whole};
  }
  return {};
}

std::string Numbered(std::string text, int64_t number) {
  for (size_t at; (at = text.find('@')) != std::string::npos;) {
    text.replace(at, 1, std::to_string(number));
  }
  return text;
}

}  // namespace

Module TimedModule(TimedOp op, int64_t devices, int64_t bytes, int64_t repeats) {
  const int64_t elements = std::max<int64_t>(1, bytes / 4 / devices) * devices;
  const Body body = BodyOf(op, devices, elements);
  std::string results, shapes;
  std::string text = fmt::format(
      "HloModule timed, is_scheduled=true, num_partitions={}\n"
      "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}\n"
      "ENTRY main {{\n  x = {} parameter(0)\n",
      devices, body.parameter);
  if (op == TimedOp::kAllReduceSlice) {
    text += fmt::format(
        "  id = u32[] partition-id()\n  share = u32[] constant({})\n"
        "  offset = u32[] multiply(id, share)\n",
        elements / devices);
  }
  for (int64_t k = 1; k <= repeats; ++k) {
    text += "  " + Numbered(body.text, k);
    results += fmt::format("{}r{}", k > 1 ? ", " : "", k);
    shapes += (k > 1 ? ", " : "") + body.result;
  }
  text += fmt::format("  ROOT all = ({}) tuple({})\n}}\n", shapes, results);
  auto module = ParseModule("timed", std::move(text));
  HV_CHECK(module.has_value(), FormatError(module.error()));
  return std::move(*module);
}

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

}  // namespace hv
