#include "sim/machine.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "sim/built_in_machines.h"

namespace hv {
namespace {

constexpr double kMostPerSecond = 1e21;
constexpr int64_t kMostAxisSize = int64_t{1} << 24;
constexpr int64_t kMostDevicesOfMachine = int64_t{1} << 40;
constexpr size_t kMostLevels = 16, kMostAxes = 64;
constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();
constexpr std::string_view kTopologies[] = {"ring", "line",   "torus", "mesh",
                                            "switch", "tree", "bus"};
constexpr Wiring kWirings[] = {Wiring::kRing,   Wiring::kLine, Wiring::kRing, Wiring::kLine,
                               Wiring::kSwitch, Wiring::kTree, Wiring::kBus};

// One entry of "levels": adds the level and its axes.
void ReadLevel(const Json& node, Machine* machine, JsonErrors* errors) {
  ObjectReader reader(node, errors);
  for (const char* key : {"name", "topology", "shape", "seconds_per_message", "bytes_per_second",
                          "source"}) {
    reader.Require(key);
  }
  NetworkLevel level;
  level.name = reader.String("name");
  level.seconds_per_message = reader.Real("seconds_per_message", 0, 0, 1);
  level.seconds_of_sender =
      reader.Real("seconds_of_sender", level.seconds_per_message, 0, level.seconds_per_message);
  level.bytes_per_second = reader.Real("bytes_per_second", 1, 1, kMostPerSecond);
  level.cache_bytes = reader.Real("cache_bytes", 0, 0, kMostPerSecond);
  level.cached_bytes_per_second =
      reader.Real("cached_bytes_per_second", level.bytes_per_second, level.bytes_per_second, kMostPerSecond);
  level.shared_port = reader.Bool("shared_port", false);
  level.in_network_reduction = reader.Bool("in_network_reduction", false);
  reader.String("source");
  const int topology = reader.Word("topology", kTopologies, 0);
  const Wiring wiring = kWirings[topology];
  const std::vector<int64_t> shape = reader.Integers("shape", 0, kMostAxisSize);
  if ((level.shared_port || level.in_network_reduction) && wiring != Wiring::kSwitch) {
    errors->Add(node, "machine-switch", "only a switch has shared ports or in-network reduction");
  }
  for (int64_t size : shape) {
    machine->axes.push_back({static_cast<int64_t>(machine->levels.size()), wiring, size});
  }
  if (shape.empty()) errors->Add(node, "machine-shape", "'shape' needs at least one size");
  machine->levels.push_back(std::move(level));
  reader.Finish();
}

// Only a switch, a tree or a bus at the outside may go on for ever. Links must fit 48 bits, see Topology.
void CheckSizes(const Json& levels, const Machine& machine, JsonErrors* errors) {
  int64_t devices = 1;
  for (const Axis& axis : machine.axes) {
    const bool last = &axis == &machine.axes.back();
    if (axis.size == 0 && !(last && HasAnyPort(axis.wiring))) {
      errors->Add(levels, "machine-shape",
                  "only the outermost size of a switch, a tree or a bus may be 0");
    }
    if (__builtin_mul_overflow(devices, std::max<int64_t>(axis.size, 1), &devices) ||
        devices > kMostDevicesOfMachine) {
      errors->Add(levels, "machine-shape", "more than 2^40 devices");
      return;
    }
  }
  if (machine.levels.size() > kMostLevels || machine.axes.size() > kMostAxes) {
    errors->Add(levels, "machine-levels", "too many levels or sizes");
  }
}

Result<Machine> ReadMachine(const JsonDocument& document) {
  JsonErrors errors;
  ObjectReader reader(document.root(), &errors);
  Machine machine;
  machine.name = reader.String("name");
  machine.description = reader.String("description");
  reader.Get("$schema");
  if (const Json* levels = reader.Require("levels")) {
    for (const Json& level : levels->items()) ReadLevel(level, &machine, &errors);
    if (machine.levels.empty()) {
      errors.Add(*levels, "machine-levels", "expected a list with at least one level");
    }
    CheckSizes(*levels, machine, &errors);
    const auto cached = [](const NetworkLevel& level) { return level.cache_bytes > 0; };
    const bool is_bus = machine.axes.size() == 1 && machine.axes[0].wiring == Wiring::kBus;
    if (!is_bus && std::any_of(machine.levels.begin(), machine.levels.end(), cached)) {
      errors.Add(*levels, "machine-bus", "only a machine that is one bus has a cache");
    }
  }
  machine.reduce_bytes_per_second =
      reader.Real("reduce_bytes_per_second", kMostPerSecond, 1, kMostPerSecond);
  if (const Json* compute = reader.Get("compute")) {
    ObjectReader fields(*compute, &errors);
    machine.seconds_per_kernel = fields.Real("seconds_per_kernel", 0, 0, 1);
    machine.flops_per_second = fields.Real("flops_per_second", 0, 1, kMostPerSecond);
    machine.memory_bytes_per_second = fields.Real("memory_bytes_per_second", 0, 1, kMostPerSecond);
    fields.String("source");
    fields.Finish();
  }
  reader.Finish();
  HV_RETURN_IF_ERROR(std::move(errors).ToStatus());
  return machine;
}

}  // namespace

int64_t Machine::capacity() const {
  int64_t devices = 1;
  for (const Axis& axis : axes) {
    if (axis.size == 0 || __builtin_mul_overflow(devices, axis.size, &devices)) return kNoEnd;
  }
  return devices;
}

std::vector<std::string> BuiltInMachines() {
  std::vector<std::string> names;
  for (const EmbeddedText& machine : BuiltInMachineTexts()) names.emplace_back(machine.name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<Machine> LoadMachine(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) {
    HV_ASSIGN(const JsonDocument document, JsonDocument::ParseFile(name));
    return ReadMachine(document);
  }
  for (const EmbeddedText& machine : BuiltInMachineTexts()) {
    if (machine.name != name) continue;
    HV_ASSIGN(const JsonDocument document,
              JsonDocument::Parse("machines/" + name + ".json", std::string(machine.text)));
    return ReadMachine(document);
  }
  const std::vector<std::string> names = BuiltInMachines();
  std::string known;
  for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
  return Invalid("unknown-machine",
                 "unknown machine '" + name + "'" +
                     DidYouMean(name, std::vector<std::string_view>(names.begin(), names.end())) +
                     "; built in are " + known);
}

}  // namespace hv
