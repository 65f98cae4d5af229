// What the command line says about scenarios: which ones there are, and keys that it overrides.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/scenario.h"

namespace hv {

struct ScenarioFlags {
  std::vector<std::string> files;     // scenarios, folders, or HLO
  std::optional<std::string> passes;  // of one HLO file; may be empty
  std::string pass_command;
  std::vector<std::string> custom_calls;
  std::optional<int64_t> replicas, partitions, seed, trials;
  std::optional<Mode> mode;
  std::optional<Expectation> expect;
  std::optional<Level> min_level;
  std::string inputs;  // a case file with explicit inputs
  std::string ranges, replicated, machine;
  std::optional<double> max_cost_ratio;
  std::optional<double> timeout_seconds;
  std::optional<int64_t> memory_limit_bytes;
  bool ignore_claims = false;
  bool measure = false;
  std::optional<bool> private_results;
  bool minimize_topology = false;
  bool explain_proof = false;
};

// Scenarios in the order given, overrides applied. Errors are those of the command line; what is
// wrong with a file comes as a broken scenario.
Result<std::vector<Scenario>> CollectScenarios(const ScenarioFlags& flags);

// A command line that verifies this scenario again.
std::string ReproduceCommand(const Scenario& scenario);

}  // namespace hv
