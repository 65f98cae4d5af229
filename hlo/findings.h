// The mistakes a validation finds, and the parts of the validator that look for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hlo/module.h"
#include "hlo/validator.h"

namespace hv {

class RuleFindings {
 public:
  explicit RuleFindings(const Module& module) : module_(module) {}

  // Enough is enough: nothing more is recorded.
  bool Full() const { return diagnostics_.size() >= static_cast<size_t>(kMaxDiagnostics); }
  // "<opcode>: <message>" at the instruction, or at its attribute `key` if it has one.
  void Add(const Instruction& at, std::string_view id, std::string_view message);
  void Add(const Instruction& at, Attr key, std::string_view id, std::string_view message);
  void Add(uint32_t offset, std::string_view id, std::string message);
  void Add(const Status& status);

  Status Result() &&;

 private:
  const Module& module_;
  std::vector<Diagnostic> diagnostics_;
};

// validator_structure.cc: order of instructions and computations, parameters, entry layout. Returns
// false if indices are wrong, so that nothing else may be looked at.
bool CheckStructure(const Module& module, RuleFindings* findings);
// validator_devices.cc: ids, groups and pairs against the mesh, and sizes that follow from groups.
void CheckDevices(const Computation& computation, const Instruction& instruction,
                  DeviceCounts counts, RuleFindings* findings);
// validator_sharding.cc: the sharding fits the shape.
void CheckSharding(const Instruction& instruction, RuleFindings* findings);
// validator_async.cc: starts, updates and dones belong together.
void CheckAsynchronous(const Module& module, const Computation& computation, RuleFindings* findings);
void CheckAsyncCallers(const Module& module, RuleFindings* findings);

}  // namespace hv
