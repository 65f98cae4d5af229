#include "sim/machine.h"

#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace hv {

// machines/*.json, embedded by CMakeLists.txt.
std::string_view MachineRingGeneric();
std::string_view MachineTrn2();
std::string_view MachineH100();
std::string_view MachineTpuV5p();

namespace {

struct BuiltIn {
  std::string_view name;
  std::string_view (*text)();
};
constexpr BuiltIn kBuiltIn[] = {{"h100", MachineH100},
                                {"ring-generic", MachineRingGeneric},
                                {"tpu-v5p", MachineTpuV5p},
                                {"trn2", MachineTrn2}};

constexpr double kMostBytesPerSecond = 1e18;

Link ReadLink(ObjectReader* reader, std::string_view key, JsonErrors* errors) {
  Link link;
  const Json* node = reader->Require(key);
  if (node == nullptr) return link;
  ObjectReader fields(*node, errors);
  fields.Require("seconds_per_message");
  fields.Require("bytes_per_second");
  link.seconds_per_message = fields.Real("seconds_per_message", 0, 0, 1);
  link.bytes_per_second = fields.Real("bytes_per_second", 1, 1, kMostBytesPerSecond);
  fields.Finish();
  return link;
}

Result<Machine> ReadMachine(const JsonDocument& document) {
  JsonErrors errors;
  ObjectReader reader(document.root(), &errors);
  Machine machine;
  machine.name = reader.String("name");
  machine.description = reader.String("description");
  machine.devices_per_node = reader.Integer("devices_per_node", 0, 0, INT64_MAX);
  machine.inside = ReadLink(&reader, "inside", &errors);
  machine.between = ReadLink(&reader, "between", &errors);
  machine.reduce_bytes_per_second =
      reader.Real("reduce_bytes_per_second", kMostBytesPerSecond, 1, kMostBytesPerSecond);
  reader.Finish();
  HV_RETURN_IF_ERROR(std::move(errors).ToStatus());
  return machine;
}

}  // namespace

Result<Machine> LoadMachine(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) {
    HV_ASSIGN(const JsonDocument document, JsonDocument::ParseFile(name));
    return ReadMachine(document);
  }
  std::vector<std::string_view> names;
  for (const BuiltIn& built_in : kBuiltIn) {
    names.push_back(built_in.name);
    if (built_in.name != name) continue;
    HV_ASSIGN(const JsonDocument document,
              JsonDocument::Parse("machines/" + name + ".json", std::string(built_in.text())));
    return ReadMachine(document);
  }
  std::string known;
  for (std::string_view each : names) known += (known.empty() ? "" : ", ") + std::string(each);
  return Invalid("unknown-machine", "unknown machine '" + name + "'" + DidYouMean(name, names) +
                                        "; built in are " + known);
}

}  // namespace hv
