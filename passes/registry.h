// The passes by name: one row each in passes.def, deliberately wrong twins in mutants.def. Reads
// lists of passes as they stand on a command line or in a scenario, and runs them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hlo/validator.h"
#include "passes/op_expander.h"

namespace hv {

using PassOptions = std::map<std::string, std::string, std::less<>>;  // every option of the pass

struct PassContext {
  DeviceCounts counts;
  const PassOptions& options;
};

using PassFactory = std::unique_ptr<OpExpander> (*)(const PassContext& context);

struct PassRow {
  std::string_view key;
  std::string_view options;  // "name=default|other, ..."
  std::string_view doc;      // of a pass its precondition, of a mutant what it does wrong
  std::string_view twin;     // of a pass its mutant, of a mutant its pass
  PassFactory make = nullptr;
};

std::span<const PassRow> Passes();
std::span<const PassRow> Mutants();  // keys begin with "mutant_"

// One pass with its options, defaults filled in.
struct PassCall {
  const PassRow* row = nullptr;
  PassOptions options;
};

// Reads "a,b{name=value,...},c"; blanks around names do not matter, an empty list is no passes.
// Mutants are known by name too.
Result<std::vector<PassCall>> ParsePasses(std::string_view list);

Result<PassResult> RunPass(const PassCall& call, const Module& module, DeviceCounts counts);

struct PipelineResult {
  Module module;
  bool changed = false;
  std::vector<RewriteDecision> decisions;
  // The pass whose result is no valid HLO, and what is wrong with it; the passes after it did not
  // run.
  std::string broken_by;
  Error broken;
};

// Runs passes one after the other and validates after each.
PipelineResult RunPasses(std::span<const PassCall> calls, const Module& module,
                         DeviceCounts counts);

}  // namespace hv
