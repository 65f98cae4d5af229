// Rules about a module's own order and its interface: operands before users, callees before callers,
// parameters numbered without gaps, the entry layout. The parser guarantees most of this for text;
// rewritten modules are checked here.
#include <fmt/format.h>

#include "hlo/findings.h"
#include "hlo/rules.h"

namespace hv {
namespace {

bool InOrder(std::span<const InstructionIndex> before, size_t position) {
  for (const InstructionIndex index : before) {
    if (index < 0 || static_cast<size_t>(index) >= position) return false;
  }
  return true;
}

void CheckInstructionOrder(const Computation& computation, RuleFindings* findings) {
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (!InOrder(instruction.operands, i)) {
      findings->Add(instruction, "operand-order", "an operand does not stand before it");
    }
    if (!InOrder(instruction.ControlPredecessors(), i)) {
      findings->Add(instruction, Attr::kControlPredecessors, "control-order",
                    "a control predecessor does not stand before it");
    }
    if (instruction.shape == nullptr) findings->Add(instruction, "shape-needed", "has no shape");
  }
}

void CheckCalleeOrder(const Module& module, size_t position, RuleFindings* findings) {
  for (const Instruction& instruction : module.computations[position].instructions) {
    for (const ComputationIndex callee : CalledComputations(instruction)) {
      if (callee < 0 || static_cast<size_t>(callee) >= position) {
        findings->Add(instruction, "callee-order",
                      "a called computation does not stand before its caller");
      }
    }
  }
}

void CheckParameters(const Computation& computation, RuleFindings* findings) {
  size_t count = 0;
  bool numbered = true;
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode != Opcode::kParameter) continue;
    ++count;
    const auto number = static_cast<size_t>(instruction.parameter_number);
    numbered = numbered && number < computation.parameters.size() &&
               computation.parameters[number] == static_cast<InstructionIndex>(i);
  }
  if (!numbered || count != computation.parameters.size()) {
    findings->Add(computation.offset, "parameter-numbers",
                  fmt::format("parameters of {} are not numbered 0, 1, 2, ...", computation.name));
  }
}

void CheckEntryLayout(const Module& module, RuleFindings* findings) {
  if (module.entry_result_layout == nullptr) return;
  const Computation& entry = module.Entry();
  const auto wrong = [&](std::string_view what, const Shape& stated, const Shape& found) {
    findings->Add(entry.offset, "entry-layout",
                  fmt::format("entry_computation_layout states {} as {}, but it is {}", what,
                              Text(stated), Text(found)));
  };
  if (module.entry_parameter_layouts.size() != entry.parameters.size()) {
    findings->Add(entry.offset, "entry-layout",
                  fmt::format("entry_computation_layout states {} parameters, but there are {}",
                              module.entry_parameter_layouts.size(), entry.parameters.size()));
    return;
  }
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const Shape& found = *entry.At(entry.parameters[i]).shape;
    const Shape& stated = *module.entry_parameter_layouts[i];
    if (!Compatible(stated, found, FloatWidth::kExact)) {
      wrong(fmt::format("parameter {}", i), stated, found);
    }
  }
  if (!Compatible(*module.entry_result_layout, *entry.Root().shape, FloatWidth::kExact)) {
    wrong("the result", *module.entry_result_layout, *entry.Root().shape);
  }
}

}  // namespace

bool CheckStructure(const Module& module, RuleFindings* findings) {
  RuleFindings order(module);
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    if (computation.root < 0 ||
        static_cast<size_t>(computation.root) >= computation.instructions.size()) {
      order.Add(computation.offset, "root-missing",
                fmt::format("computation {} has no root", computation.name));
    }
    CheckInstructionOrder(computation, &order);
    CheckCalleeOrder(module, c, &order);
    CheckParameters(computation, &order);
  }
  if (module.entry < 0 || static_cast<size_t>(module.entry) >= module.computations.size()) {
    order.Add(0, "entry-missing", "the module has no entry computation");
  }
  const Status status = std::move(order).Result();
  findings->Add(status);
  if (!status) return false;
  CheckEntryLayout(module, findings);
  return true;
}

}  // namespace hv
