#include "verify/flags.h"

#include <algorithm>
#include <filesystem>

namespace hv {
namespace {

std::string Quoted(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-./=:,#+@%") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

Result<Scenario> FromHlo(const ScenarioFlags& flags) {
  Scenario scenario;
  const bool rewrites = flags.passes.has_value() || !flags.pass_command.empty();
  if (flags.passes && !flags.pass_command.empty()) {
    return Invalid("flags-conflict", "--passes and --pass-command exclude each other");
  }
  if (flags.files.size() != (rewrites ? 1u : 2u)) {
    return Invalid("flags-files", rewrites
                                      ? "--passes and --pass-command take one HLO file"
                                      : "give a scenario, two HLO files, or one with --passes");
  }
  scenario.file = flags.files[0];
  scenario.name = std::filesystem::path(flags.files[0]).stem().string();
  scenario.before.path = flags.files[0];
  scenario.pass_command = flags.pass_command;
  if (flags.passes && !flags.passes->empty()) scenario.passes = {*flags.passes};
  if (rewrites) return scenario;
  scenario.after.path = flags.files[1];
  scenario.name += " -> " + std::filesystem::path(flags.files[1]).stem().string();
  return scenario;
}

Status ApplyInputFlags(const ScenarioFlags& flags, Scenario* scenario) {
  InputPlan& inputs = scenario->inputs;
  if (flags.seed.value_or(0) < 0 || flags.trials.value_or(1) < 1) {
    return Invalid("flag-value", "--seed must not be negative, --trials must be positive");
  }
  if (flags.seed) inputs.seed = static_cast<uint64_t>(*flags.seed);
  if (flags.trials) inputs.trials = *flags.trials;
  if (flags.mode) inputs.mode = *flags.mode;
  if (!flags.ranges.empty()) {
    HV_ASSIGN(inputs.ranges, ParseRanges(flags.ranges));
  }
  if (!flags.replicated.empty()) {
    HV_ASSIGN(inputs.replicated, ParseNumbers("--replicated", flags.replicated));
  }
  if (flags.inputs.empty()) return {};
  HV_ASSIGN(scenario->document, JsonDocument::ParseFile(flags.inputs));
  inputs.per_device = scenario->document->root().Find("inputs");
  inputs.for_all = scenario->document->root().Find("inputs_all");
  if (inputs.per_device != nullptr || inputs.for_all != nullptr) return {};
  return scenario->document->root().MakeError("scenario-inputs",
                                              "has neither 'inputs' nor 'inputs_all'");
}

Status ApplyFlags(const ScenarioFlags& flags, Scenario* scenario) {
  if (!(flags.timeout_seconds.value_or(1) > 0) || !(flags.max_cost_ratio.value_or(0) >= 0)) {
    return Invalid("flag-value",
                   "--timeout must be positive, --max-cost-ratio must not be negative");
  }
  if (flags.replicas) scenario->replicas = flags.replicas;
  if (flags.partitions) scenario->partitions = flags.partitions;
  if (flags.expect) scenario->expect = *flags.expect;
  if (flags.min_level) scenario->min_level = flags.min_level;
  if (!flags.machine.empty()) scenario->machine = flags.machine;
  if (flags.max_cost_ratio) scenario->max_cost_ratio = flags.max_cost_ratio;
  if (flags.timeout_seconds) scenario->timeout_seconds = *flags.timeout_seconds;
  if (flags.memory_limit_bytes) scenario->memory_limit_bytes = *flags.memory_limit_bytes;
  scenario->ignore_claims |= flags.ignore_claims;
  scenario->measure |= flags.measure;
  if (flags.private_results) scenario->private_results = *flags.private_results;
  scenario->inputs.explain_proof |= flags.explain_proof;
  scenario->minimize_topology |= flags.minimize_topology;
  scenario->custom_calls.insert(scenario->custom_calls.end(), flags.custom_calls.begin(),
                                flags.custom_calls.end());
  return ApplyInputFlags(flags, scenario);
}

}  // namespace

Result<std::vector<Scenario>> CollectScenarios(const ScenarioFlags& flags) {
  if (flags.files.empty()) {
    return Invalid("flags-files", "nothing to verify; --help shows what can be given");
  }
  std::vector<Scenario> scenarios;
  if (LooksLikeHlo(flags.files[0])) {
    HV_ASSIGN(Scenario scenario, FromHlo(flags));
    scenarios.push_back(std::move(scenario));
  } else {
    if (flags.passes || !flags.pass_command.empty()) {
      return Invalid("flags-conflict", "--passes and --pass-command go with an HLO file");
    }
    for (const std::string& file : flags.files) {
      for (Scenario& scenario : LoadScenarios(file)) scenarios.push_back(std::move(scenario));
    }
  }
  for (Scenario& scenario : scenarios) HV_RETURN_IF_ERROR(ApplyFlags(flags, &scenario));
  return scenarios;
}

std::string ReproduceCommand(const Scenario& scenario) {
  std::string command = "verify_rewrite ";
  const bool from_file = std::filesystem::path(scenario.file).extension() == ".json";
  for (const std::string& text : scenario.custom_calls) {
    command += "--custom-call=" + Quoted(text) + " ";
  }
  if (from_file) return command + Quoted(scenario.file);
  command += Quoted(scenario.before.path);
  if (!scenario.after.empty()) {
    command += " " + Quoted(scenario.after.path);
  } else if (!scenario.pass_command.empty()) {
    command += " --pass-command=" + Quoted(scenario.pass_command);
  } else {
    std::string passes;
    for (const std::string& pass : scenario.passes) passes += (passes.empty() ? "" : ",") + pass;
    command += " --passes=" + Quoted(passes);
  }
  if (scenario.replicas) command += " --replicas=" + std::to_string(*scenario.replicas);
  if (scenario.partitions) command += " --partitions=" + std::to_string(*scenario.partitions);
  if (scenario.inputs.seed != 1) command += " --seed=" + std::to_string(scenario.inputs.seed);
  return command;
}

}  // namespace hv
