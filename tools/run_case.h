// Runs one module on every device of its mesh, with the inputs of a case or generated ones, and
// compares with what the case expects. All ranks call it together; rank 0 gets the whole result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hlo/custom_call_definitions.h"
#include "sim/mesh.h"
#include "sim/run.h"

namespace hv {

struct RunSettings {
  std::optional<int64_t> replicas, partitions;  // absent: the module header, the case, or deduced
  uint64_t seed = 0;
  ReductionOrder order = ReductionOrder::kGroup;
  bool accumulate_wide = false;
  int64_t memory_limit_bytes = 0;
  int64_t max_loop_steps = 0;   // 0: no limit
  double timeout_seconds = 0;   // 0: none
  std::string expected_key;
  bool keep_outputs = true;
  std::string trace_file;
  std::vector<CustomCallDefinition> custom_calls;
};

struct CaseRun {
  std::string name;                // of the module
  std::string label;               // its file, or the case's folder
  Mesh mesh;
  std::optional<Error> error;
  std::optional<Stall> stall;
  std::vector<std::string> outputs;  // by device: a JSON list with one literal per leaf; rank 0
  std::vector<std::string> texts;    // by device: the same for people, shortened; rank 0
  double seconds = 0;
  int64_t peak_bytes = 0;          // summed over the ranks
  std::optional<bool> agrees;
  std::string difference;          // why it does not agree
  std::vector<std::string> notes;  // what was asked for and could not be
  int exit_code = 0;               // the same on every rank
};

// `case_path` may be empty.
CaseRun RunCase(const std::string& module_path, const std::string& case_path,
                const RunSettings& settings, Transport* transport);

// Module and case.json of a case folder: module.hlo, before.hlo, or after.hlo where the case says that
// the last module is invalid or deadlocks. Empty module path: no case there.
struct CaseFolder {
  std::string module_path, case_path;
};
CaseFolder FindCase(const std::string& folder);

}  // namespace hv
