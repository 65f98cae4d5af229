// Runs a module with the inputs of a case file in this process and compares with what it expects.
#pragma once

#include <string>

#include "sim/case_file.h"
#include "sim/compare.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {

struct RecordedCase {
  std::string module, json, key;  // key of the case file that holds what is expected; may be empty
};

enum class CaseEnding { kAgrees, kNoValues, kUnsupported, kWrong };

// Runs a case in this process; `why` tells what is wrong or unsupported.
inline CaseEnding RunOne(const RecordedCase& test, std::string* why) {
  const Result<CaseFile> file = CaseFile::Read(test.json, test.key);
  if (!file || file->outcome() != CaseFile::Outcome::kValues) return CaseEnding::kNoValues;
  const Result<Module> module = ParseModuleFile(test.module);
  if (!module) return *why = FormatError(module.error()), CaseEnding::kWrong;
  const Mesh mesh{file->replicas().value_or(1), file->partitions().value_or(1)};
  if (const Status valid = Validate(*module, {mesh.replicas, mesh.partitions}); !valid) {
    return *why = FormatError(valid.error()), CaseEnding::kWrong;
  }
  const auto domain = MakeNativeDomain();
  const auto transport = MakeLocalTransport();
  RunOptions options;
  options.domain = domain.get();
  options.transport = transport.get();
  const Result<RunOutcome> outcome = RunModule(
      *module, mesh, [&](DeviceId d, int64_t p) { return file->Input(*module, mesh, d, p); }, options);
  if (!outcome) {
    *why = FormatError(outcome.error());
    return outcome.error().kind == ErrorKind::kUnsupported ? CaseEnding::kUnsupported : CaseEnding::kWrong;
  }
  if (outcome->stall) return *why = outcome->stall->ToString(), CaseEnding::kWrong;
  for (const auto& [device, value] : outcome->outputs) {
    const auto expected = file->Expected(*module, mesh, device);
    if (!expected) return *why = FormatError(expected.error()), CaseEnding::kWrong;
    const std::vector<Value> leaves = Leaves(value);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const auto difference = Compare(leaves[i], (*expected)[i], file->tolerance());
      if (!difference) continue;
      *why = mesh.NameOf(device) + ": " + difference->got + " instead of " + difference->expected;
      return CaseEnding::kWrong;
    }
  }
  return CaseEnding::kAgrees;
}

}  // namespace hv
