#include "verify/scenario.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/text.h"

namespace hv {
namespace {

constexpr int64_t kMaxCount = int64_t{1} << 20;  // replicas or partitions
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kLevelWords[] = {"real", "reassociation", "bitwise"};

bool IsDeviceName(std::string_view key) {
  const size_t comma = key.find(',');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return comma != std::string_view::npos && digits(key.substr(0, comma)) &&
         digits(key.substr(comma + 1));
}

// Reads scenarios of one document, collecting errors.
class Reader {
 public:
  Reader(const JsonDocument& document, JsonErrors* errors) : document_(document), errors_(errors) {}

  Scenario Read(const Json& node, std::vector<std::string>* keys = nullptr) {
    Scenario scenario;
    scenario.file = document_.file();
    scenario.document = document_;
    ObjectReader reader(node, errors_);
    reader.String("$schema");
    reader.Integer("version", 1, 1, 1);
    scenario.name = reader.String("name");
    ReadSources(node, &reader, &scenario);
    if (const Json* devices = reader.Get("devices")) ReadDevices(*devices, &scenario);
    if (const Json* inputs = reader.Get("inputs")) ReadInputs(*inputs, &scenario.inputs);
    scenario.inputs.for_all = reader.Get("inputs_all");
    scenario.expect = static_cast<Expectation>(reader.Word("expect", kExpectationWords, 0));
    const int level = reader.Word("min_level", kLevelWords, -1);
    if (level >= 0) scenario.min_level = ParseLevel(kLevelWords[level]);
    scenario.machine = reader.String("machine");
    if (scenario.machine.find('/') != std::string::npos) {
      scenario.machine = Resolve(scenario.machine);
    }
    scenario.minimize_topology = reader.Bool("minimize_topology", false);
    if (const Json* calls = reader.Get("custom_calls")) ReadCustomCalls(*calls, &scenario);
    const double ratio = reader.Real("max_cost_ratio", -1, 0, kInfinity);
    if (ratio >= 0) scenario.max_cost_ratio = ratio;
    scenario.measure = reader.Bool("measure", false);
    scenario.private_results = reader.Word("collective_results", kCollectiveResultWords, 0) == 1;
    reader.Finish();
    if (keys != nullptr) keys->assign(reader.known().begin(), reader.known().end());
    return scenario;
  }

  void ReadInputs(const Json& node, InputPlan* plan, std::vector<std::string>* keys = nullptr) {
    ObjectReader reader(node, errors_);
    plan->seed =
        static_cast<uint64_t>(reader.Integer("seed", 1, 0, std::numeric_limits<int64_t>::max()));
    plan->trials = reader.Integer("trials", 4, 1, 1000);
    plan->mode = static_cast<Mode>(reader.Word("mode", kModeWords, 0));
    if (const Json* ranges = reader.Get("ranges")) ReadRanges(*ranges, plan);
    plan->replicated = reader.Integers("replicated", 0, kMaxCount);
    if (keys != nullptr) keys->assign(reader.known().begin(), reader.known().end());
    for (const JsonMember& member : node.members()) {
      if (!IsDeviceName(member.key)) continue;
      reader.Get(member.key);
      plan->per_device = &node;
    }
    reader.Finish();
  }

  void ReadDevices(const Json& node, Scenario* scenario, std::vector<std::string>* keys = nullptr) {
    ObjectReader reader(node, errors_);
    const int64_t replicas = reader.Integer("replicas", 0, 1, kMaxCount);
    const int64_t partitions = reader.Integer("partitions", 0, 1, kMaxCount);
    if (replicas > 0) scenario->replicas = replicas;
    if (partitions > 0) scenario->partitions = partitions;
    reader.Finish();
    if (keys != nullptr) keys->assign(reader.known().begin(), reader.known().end());
  }

 private:
  void ReadSources(const Json& node, ObjectReader* reader, Scenario* scenario) {
    const HloSource module = ReadSource(reader, "module");
    scenario->before = ReadSource(reader, "before");
    scenario->after = ReadSource(reader, "after");
    scenario->passes = reader->Strings("passes");
    scenario->pass_command = reader->String("pass_command");
    if (!module.empty() == !scenario->before.empty() ||
        scenario->before.empty() != scenario->after.empty()) {
      errors_->Add(node, "scenario-modules", "give either 'module', or 'before' and 'after'");
    }
    const bool has_passes = node.Find("passes") != nullptr;
    const bool has_command = node.Find("pass_command") != nullptr;
    if (module.empty() ? has_passes || has_command : has_passes == has_command) {
      errors_->Add(node, "scenario-passes",
                   "'module' needs one of 'passes' and 'pass_command'; 'before' and 'after' none");
    }
    if (!module.empty()) scenario->before = module;
  }

  // {"target": "module.hlo", "other": ["one_shape.hlo", "another.hlo"]}
  void ReadCustomCalls(const Json& node, Scenario* scenario) {
    if (!node.Is(Json::Kind::kObject)) errors_->Add(node, "json-type", "expected an object");
    for (const JsonMember& member : node.members()) {
      const Json& value = member.value;
      const bool several = value.Is(Json::Kind::kArray);
      for (const Json& path : several ? value.items() : std::span<const Json>(&value, 1)) {
        if (!path.Is(Json::Kind::kString) || path.string().empty()) {
          errors_->Add(path, "json-type", "expected a path");
          continue;
        }
        scenario->custom_calls.push_back(std::string(member.key) + "=" + Resolve(path.string()));
      }
    }
  }

  HloSource ReadSource(ObjectReader* reader, std::string_view key) {
    HloSource source;
    const Json* node = reader->Get(key);
    if (node == nullptr) return source;
    if (node->Is(Json::Kind::kString)) {
      source.path = Resolve(node->string());
    } else {
      ObjectReader inline_text(*node, errors_);
      source.text = inline_text.String("text");
      source.label = document_.file() + "#" + node->Path();
      inline_text.Finish();
    }
    if (source.empty()) errors_->Add(*node, "scenario-modules", "empty module");
    return source;
  }

  std::string Resolve(std::string_view path) const {
    const std::filesystem::path given(path);
    if (given.is_absolute() || path.empty()) return std::string(path);
    const std::filesystem::path folder = std::filesystem::path(document_.file()).parent_path();
    return (folder / given).lexically_normal().string();
  }

  void ReadRanges(const Json& node, InputPlan* plan) {
    if (!node.Is(Json::Kind::kObject)) errors_->Add(node, "json-type", "expected an object");
    for (const JsonMember& member : node.members()) {
      const std::span<const Json> pair = member.value.items();
      if (pair.size() == 2 && pair[0].IsNumber() && pair[1].IsNumber() &&
          pair[0].real() <= pair[1].real()) {
        plan->ranges.push_back({std::string(member.key), pair[0].real(), pair[1].real()});
      } else {
        errors_->Add(member.value, "scenario-range", "expected [low, high] with low <= high");
      }
    }
  }

  const JsonDocument& document_;
  JsonErrors* errors_;
};

Result<double> ParseReal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return Invalid("flag-value", "'" + std::string(text) + "' is not a number");
  }
  return value;
}

}  // namespace

std::vector<Scenario> ReadScenarios(const JsonDocument& document) {
  JsonErrors errors;
  Reader reader(document, &errors);
  std::vector<Scenario> scenarios;
  if (const Json* list = document.root().Find("scenarios")) {
    ObjectReader top(document.root(), &errors);
    top.String("$schema");
    top.Integer("version", 1, 1, 1);
    top.Get("scenarios");
    if (list->items().empty()) errors.Add(*list, "json-type", "expected a list of scenarios");
    for (const Json& item : list->items()) scenarios.push_back(reader.Read(item));
    top.Finish();
  } else {
    scenarios.push_back(reader.Read(document.root()));
  }
  const std::string stem = std::filesystem::path(document.file()).stem().string();
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (!scenarios[i].name.empty()) continue;
    scenarios[i].name = scenarios.size() == 1 ? stem : stem + "#" + std::to_string(i);
  }
  if (errors.empty()) return scenarios;
  Scenario broken;
  broken.name = stem;
  broken.file = document.file();
  broken.error = std::move(errors).ToStatus().error();
  return {std::move(broken)};
}

ScenarioKeys KnownScenarioKeys() {
  auto document = JsonDocument::Parse("", "{}");
  JsonErrors ignored;
  Reader reader(*document, &ignored);
  Scenario scenario;
  ScenarioKeys keys;
  reader.Read(document->root(), &keys.scenario);
  reader.ReadInputs(document->root(), &scenario.inputs, &keys.inputs);
  reader.ReadDevices(document->root(), &scenario, &keys.devices);
  keys.scenario.push_back("scenarios");
  return keys;
}

Result<std::vector<InputRange>> ParseRanges(std::string_view text) {
  std::vector<InputRange> ranges;
  for (std::string_view part : SplitText(text, ',')) {
    const size_t equals = part.find('='), colon = part.find(':', equals);
    if (equals == std::string_view::npos || colon == std::string_view::npos) {
      return Invalid("flag-value",
                     "--ranges takes parameter=low:high,..., not '" + std::string(part) + "'");
    }
    HV_ASSIGN(const double low, ParseReal(part.substr(equals + 1, colon - equals - 1)));
    HV_ASSIGN(const double high, ParseReal(part.substr(colon + 1)));
    if (low > high) return Invalid("flag-value", "--ranges: low is above high");
    ranges.push_back({std::string(part.substr(0, equals)), low, high});
  }
  return ranges;
}

Result<std::vector<int64_t>> ParseNumbers(std::string_view flag, std::string_view text) {
  std::vector<int64_t> numbers;
  for (std::string_view part : SplitText(text, ',')) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 0) {
      return Invalid("flag-value", std::string(flag) + " takes numbers separated by commas, not '" +
                                       std::string(text) + "'");
    }
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace hv
