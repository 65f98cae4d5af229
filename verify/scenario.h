// What to verify and what should come out: one scenario is a before/after pair, or a module with
// passes or an external command that rewrites it, on a mesh, with inputs and an expectation.
// Source: scenarios/scenario.schema.json, which a test keeps in step with the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "verify/report_model.h"

namespace hv {

// HLO text by path or inline.
struct HloSource {
  std::string path;   // file to read; "-": standard input
  std::string text;   // inline text, if path is empty
  std::string label;  // file name for diagnostics of inline text
  bool empty() const { return path.empty() && text.empty(); }
};

enum class Mode : uint8_t { kAuto, kProve, kTest };
inline constexpr std::string_view kModeWords[] = {"auto", "prove", "test"};

inline constexpr std::string_view kCollectiveResultWords[] = {"shared", "private"};

// Restricts generated values of one parameter, named by number or name, to [low, high].
struct InputRange {
  std::string parameter;
  double low = 0, high = 0;
};

struct InputPlan {
  uint64_t seed = 1;
  int64_t trials = 4;  // runs of each random kind
  Mode mode = Mode::kAuto;
  bool explain_proof = false;  // keep the normal forms that the prover compared
  std::vector<InputRange> ranges;
  std::vector<int64_t> replicated;  // parameters that are equal on all devices
  // Values given explicitly: an object "r,p" -> list of literals, or one list for every device.
  const Json* per_device = nullptr;
  const Json* for_all = nullptr;
};

struct Scenario {
  std::string name;
  std::string file;         // where it was read from
  HloSource before, after;  // `after` is empty if `passes` or `pass_command` make it
  std::vector<std::string> passes;
  std::string pass_command;
  std::vector<std::string> custom_calls;  // "target=module.hlo": what calls of the target are
  std::optional<int64_t> replicas, partitions;
  InputPlan inputs;
  Expectation expect = Expectation::kEquivalent;
  std::optional<Level> min_level;
  std::string machine;
  bool measure = false;          // time both modules here
  bool private_results = false;  // each device a copy of its own of what collectives yield
  std::optional<double> max_cost_ratio;
  bool ignore_claims = false;
  bool minimize_topology = false;         // look for a failure on fewer devices
  double timeout_seconds = 0;            // 0: none
  int64_t memory_limit_bytes = 0;        // of one run; 0: what the machine has
  std::optional<JsonDocument> document;  // keeps InputPlan's nodes alive
  std::optional<Error> error;            // it could not be read; nothing else holds then
};

// The scenarios of one JSON document; relative paths resolve against the folder of its file.
std::vector<Scenario> ReadScenarios(const JsonDocument& document);

// A scenario file, a folder of them, or a case folder (before.hlo, after.hlo, case.json). Errors
// come as scenarios with `error` set, so that the others still run.
std::vector<Scenario> LoadScenarios(const std::string& path);

// Is `path` an HLO file rather than a scenario file or folder?
bool LooksLikeHlo(const std::string& path);

// The JSON schema (draft-07) of scenario files.
std::string_view ScenarioSchema();

// Keys the reader knows: of a scenario, and of its "inputs", "devices".
struct ScenarioKeys {
  std::vector<std::string> scenario, inputs, devices;
};
ScenarioKeys KnownScenarioKeys();

// Parses "0=-1:1,x=0:7" (--ranges) and "0,2" (--replicated).
Result<std::vector<InputRange>> ParseRanges(std::string_view text);
Result<std::vector<int64_t>> ParseNumbers(std::string_view flag, std::string_view text);

}  // namespace hv
