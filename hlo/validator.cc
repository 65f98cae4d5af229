// Runs every rule over a module and collects what they find.
#include "hlo/validator.h"

#include <fmt/format.h>

#include "hlo/findings.h"
#include "hlo/rules.h"

namespace hv {
namespace {

// Arithmetic may convert between float widths; what hands values on unchanged may not.
FloatWidth WidthOf(const OpDef& def) {
  switch (def.kernel) {
    case KernelKind::kScalar:
    case KernelKind::kReduce:
    case KernelKind::kWindow:
    case KernelKind::kContract:
    case KernelKind::kScatter: return FloatWidth::kAny;
    case KernelKind::kOpaque:
      return def.exactness == Exactness::kExact ? FloatWidth::kExact : FloatWidth::kAny;
    default: return def.opcode == Opcode::kMap ? FloatWidth::kAny : FloatWidth::kExact;
  }
}

// The rules of the instruction's own row.
Status CheckInstruction(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckForm(context));
  const OpDef& def = Definition(context.instruction);
  if (def.infer != nullptr) {
    HV_ASSIGN(const Shape* inferred, def.infer(context));
    HV_RETURN_IF_ERROR(CheckResult(context, *inferred, WidthOf(def)));
  }
  return def.rule == nullptr ? Status() : def.rule(context);
}

int64_t LeafCount(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int64_t count = 0;
  for (const Shape* element : shape.elements) count += LeafCount(*element);
  return count;
}

// parameter_replication says one thing per leaf of the parameter.
void CheckReplication(const Instruction& instruction, RuleFindings* findings) {
  const Attribute* replication = instruction.Find(Attr::kParameterReplication);
  if (replication == nullptr) return;
  const int64_t leaves = LeafCount(*instruction.shape);
  if (static_cast<int64_t>(replication->size) != leaves) {
    findings->Add(instruction, Attr::kParameterReplication, "replication-count",
                  fmt::format("{} entries for {} leaves", replication->size, leaves));
  }
}

// All-reduces of a module constrain layouts all or none.
void CheckConstrainLayout(const Module& module, RuleFindings* findings) {
  const Instruction* first = nullptr;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (PlainOpcode(instruction.opcode) != Opcode::kAllReduce) continue;
      if (first == nullptr) first = &instruction;
      if (first->Bool(Attr::kConstrainLayout) != instruction.Bool(Attr::kConstrainLayout)) {
        findings->Add(instruction, Attr::kConstrainLayout, "constrain-layout",
                      "some all-reduces constrain layouts and some do not");
        return;
      }
    }
  }
}

}  // namespace

void RuleFindings::Add(const Instruction& at, std::string_view id, std::string_view message) {
  Add(at.offset, id, fmt::format("{}: {}", ToString(at.opcode), message));
}

void RuleFindings::Add(const Instruction& at, Attr key, std::string_view id,
                   std::string_view message) {
  const Attribute* attribute = at.Find(key);
  const bool placed = attribute != nullptr && attribute->offset != Instruction::kNoOffset;
  Add(placed ? attribute->offset : at.offset, id,
      fmt::format("{}: {}", ToString(at.opcode), message));
}

void RuleFindings::Add(uint32_t offset, std::string_view id, std::string message) {
  if (Full()) return;
  diagnostics_.push_back(MakeDiagnostic(module_, offset, std::string(id), std::move(message)));
}

void RuleFindings::Add(const Status& status) {
  if (status) return;
  for (const Diagnostic& d : status.error().diagnostics) {
    if (!Full()) diagnostics_.push_back(d);
  }
}

Status RuleFindings::Result() && {
  if (diagnostics_.empty()) return {};
  Error error;
  error.diagnostics = std::move(diagnostics_);
  return tl::make_unexpected(std::move(error));
}

Status Validate(const Module& module, DeviceCounts counts) {
  RuleFindings findings(module);
  if (!CheckStructure(module, &findings)) return std::move(findings).Result();
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (findings.Full()) return std::move(findings).Result();
      const Status status =
          CheckInstruction({module, computation, instruction, module.context->shapes});
      findings.Add(status);
      CheckReplication(instruction, &findings);
      CheckSharding(instruction, &findings);
      if (status && IsCollective(instruction.opcode)) {
        CheckDevices(computation, instruction, counts, &findings);
      }
    }
    CheckAsynchronous(module, computation, &findings);
  }
  CheckAsyncCallers(module, &findings);
  CheckConstrainLayout(module, &findings);
  return std::move(findings).Result();
}

}  // namespace hv
