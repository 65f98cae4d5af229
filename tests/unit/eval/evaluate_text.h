// Evaluates small HLO texts on one device, for tests: ENTRY is straight-line code without collectives.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "eval/domain.h"
#include "hlo/literal.h"
#include "hlo/parser.h"

namespace hv::test {

inline Module Parse(const std::string& entry_body, const std::string& computations = "") {
  Result<Module> module = ParseModule(
      "test.hlo", "HloModule test\n" + computations + "\nENTRY main {\n" + entry_body + "\n}\n");
  HV_CHECK(module.has_value(), module ? "" : FormatError(module.error()));
  return std::move(*module);
}

// Values of all instructions of ENTRY; the arguments are handed over.
inline Result<Value> Evaluate(Domain& domain, const Module& module, std::vector<Value> arguments) {
  const Computation& entry = module.Entry();
  std::vector<Value> values;
  for (const Instruction& instruction : entry.instructions) {
    if (instruction.opcode == Opcode::kParameter) {
      values.push_back(arguments[static_cast<size_t>(instruction.parameter_number)]);
      continue;
    }
    std::vector<Value> operands;
    for (const InstructionIndex o : instruction.operands) {
      operands.push_back(values[static_cast<size_t>(o)]);
    }
    const KernelCall call{module, entry, instruction, instruction.shape};
    HV_ASSIGN(Value value, EvaluateInstruction(domain, call, std::move(operands), 2, 3));
    values.push_back(std::move(value));
  }
  return values[static_cast<size_t>(entry.root)];
}

inline std::string TextOf(const Value& value) {
  if (value.shape()->IsTuple()) {
    std::string text = "(";
    for (const Value& element : value.elements()) {
      text += (text.size() > 1 ? ", " : "") + TextOf(element);
    }
    return text + ")";
  }
  Literal literal;
  literal.shape = value.shape();
  literal.bytes = value.bytes();
  return ToString(literal);
}

// The root's value as HLO prints it, or the error.
inline std::string EvaluateText(const std::string& entry_body,
                                const std::string& computations = "") {
  const Module module = Parse(entry_body, computations);
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  const Result<Value> value = Evaluate(*domain, module, {});
  return value ? TextOf(*value) : "error: " + value.error().Message();
}

}  // namespace hv::test
