// Modules, computations and instructions as XLA prints them. Source: hlo_text.md section 12.
#include "hlo/printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "hlo/attribute_printer.h"
#include "hlo/attribute_rules.h"
#include "hlo/op.h"

namespace hv {
namespace {

void AppendOperands(const Computation& computation, const Instruction& instruction,
                    std::string* out) {
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i > 0) *out += ", ";
    if (i > 0 && i % 5 == 0) fmt::format_to(std::back_inserter(*out), "/*index={}*/", i);
    (*out += '%') += computation.At(instruction.operands[i]).name;
  }
}

// The attributes of the opcode in the order of its row, then those any instruction may carry.
void AppendAttributes(const Module& module, const Computation& computation,
                      const Instruction& instruction, std::string* out) {
  for (const AttrSpec& spec : Definition(instruction).attributes) {
    if (const Attribute* attribute = instruction.Find(spec.key)) {
      *out += ", ";
      AppendAttribute(module, computation, instruction, *attribute, out);
    } else if (spec.key == Attr::kReplicaGroups && instruction.opcode != Opcode::kCustomCall) {
      *out += ", replica_groups={}";
    }
  }
  for (const Attribute& attribute : instruction.attributes) {
    if (!IsCommon(attribute.key)) continue;
    *out += ", ";
    AppendAttribute(module, computation, instruction, attribute, out);
  }
}

// %name (p: f32[2], q: s32[]) -> f32[]
void AppendSignature(const Computation& computation, std::string* out) {
  (*out += '%') += computation.name;
  *out += " (";
  for (size_t i = 0; i < computation.parameters.size(); ++i) {
    const Instruction& parameter = computation.At(computation.parameters[i]);
    if (i > 0) *out += ", ";
    (*out += parameter.name) += ": ";
    AppendShape(*parameter.shape, false, out);
  }
  *out += ") -> ";
  AppendShape(*computation.Root().shape, false, out);
}

void AppendComputation(const Module& module, const Computation& computation, bool is_entry,
                       std::string* out) {
  if (is_entry) *out += "ENTRY ";
  AppendSignature(computation, out);
  *out += " {\n";
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    *out += static_cast<InstructionIndex>(i) == computation.root ? "  ROOT " : "  ";
    AppendInstruction(module, computation, computation.instructions[i], out);
    *out += '\n';
  }
  *out += '}';
  if (!computation.execution_thread.empty()) {
    fmt::format_to(std::back_inserter(*out), ", execution_thread=\"{}\"",
                   computation.execution_thread);
  }
  *out += '\n';
}

void AppendHeader(const Module& module, std::string* out) {
  (*out += "HloModule ") += module.name;
  if (module.is_scheduled) *out += ", is_scheduled=true";
  const auto append = [&](std::string_view key) {
    for (const HeaderAttribute& attribute : module.header) {
      if (attribute.key != key) continue;
      fmt::format_to(std::back_inserter(*out), ", {}={}", attribute.key, attribute.value);
    }
  };
  for (std::string_view key :
       {"input_output_alias", "buffer_donor", "alias_passthrough_params",
        "entry_computation_layout", "allow_spmd_sharding_propagation_to_parameters",
        "allow_spmd_sharding_propagation_to_output"}) {
    append(key);
  }
  if (module.replicas() != 1) {
    fmt::format_to(std::back_inserter(*out), ", replica_count={}", module.replicas());
  }
  if (module.partitions() != 1) {
    fmt::format_to(std::back_inserter(*out), ", num_partitions={}", module.partitions());
  }
  for (std::string_view key :
       {"frontend_attributes", "origin_recovery_table", "debug_attributes"}) {
    append(key);
  }
  *out += "\n\n";
  if (!module.stack_frames.empty()) (*out += module.stack_frames) += "\n\n\n";
}

}  // namespace

void AppendInstruction(const Module& module, const Computation& computation,
                       const Instruction& instruction, std::string* out) {
  (*out += '%') += instruction.name;
  *out += " = ";
  AppendShape(*instruction.shape, true, out);
  (*out += ' ') += ToString(instruction.opcode);
  *out += '(';
  if (instruction.opcode == Opcode::kParameter) {
    fmt::format_to(std::back_inserter(*out), "{}", instruction.parameter_number);
  } else if (instruction.literal != nullptr) {
    AppendLiteral(*instruction.literal, out);
  } else {
    AppendOperands(computation, instruction, out);
  }
  *out += ')';
  AppendAttributes(module, computation, instruction, out);
}

std::string PrintInstruction(const Module& module, const Computation& computation,
                             InstructionIndex index) {
  std::string text;
  AppendInstruction(module, computation, computation.At(index), &text);
  return text;
}

std::string PrintModule(const Module& module) {
  std::string text;
  text.reserve(module.context->text.size() + 4096);
  AppendHeader(module, &text);
  for (size_t i = 0; i < module.computations.size(); ++i) {
    if (i > 0) text += '\n';
    AppendComputation(module, module.computations[i],
                      static_cast<ComputationIndex>(i) == module.entry, &text);
  }
  return text;
}

}  // namespace hv
