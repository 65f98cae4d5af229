// `X-start`, `X-update`, `X-done` for opcodes without native asynchronous forms become async-start,
// -update and -done of a wrapped computation: parameters and one root, the plain X. Source:
// hlo_text.md section 11.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/module_parser.h"

namespace hv {
namespace {

// Attributes that stay on the start; the others describe X.
bool StaysOnStart(const Attribute& attribute) {
  return IsCommon(attribute.key) || attribute.key == Attr::kAsyncExecutionThread ||
         attribute.key == Attr::kOutputOperandAliasing;
}

}  // namespace

bool ModuleParser::WrapStart(const OpcodeToken& token, size_t first, Instruction* start) {
  const Shape* shape = start->shape;
  if (shape == nullptr || !shape->IsTuple() || shape->elements.size() < 2) {
    return in_.Fail(start->offset, "async-shape",
                    "an asynchronous start needs the shape ((operands), result, ...)");
  }
  Computation body;
  body.offset = start->offset;
  Instruction root;
  root.name = "result";
  root.opcode = token.wrapped;
  root.offset = start->offset;
  root.shape = shape->elements[1];
  std::vector<InstructionIndex> operands;
  for (InstructionIndex operand : start->operands) {
    Instruction parameter;
    parameter.opcode = Opcode::kParameter;
    parameter.offset = start->offset;
    parameter.parameter_number = static_cast<int64_t>(operands.size());
    parameter.name = in_.arena().CopyText(fmt::format("operand.{}", operands.size()));
    parameter.shape = scope().computation.At(operand).shape;
    body.parameters.push_back(static_cast<InstructionIndex>(operands.size()));
    operands.push_back(body.parameters.back());
    body.instructions.push_back(parameter);
  }
  root.operands = in_.arena().Copy(operands);
  const auto begin = attributes_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto inner = std::stable_partition(begin, attributes_.end(), StaysOnStart);
  TakeAttributes(static_cast<size_t>(inner - attributes_.begin()), &root);
  body.root = static_cast<InstructionIndex>(operands.size());
  body.instructions.push_back(root);

  Attribute calls;
  calls.key = Attr::kCalls;
  calls.offset = start->offset;
  calls.integer = static_cast<ComputationIndex>(module_.computations.size());
  unnamed_computations_.push_back(
      {static_cast<ComputationIndex>(calls.integer), fmt::format("async_{}", start->name)});
  attributes_.push_back(calls);
  TakeAttributes(first, start);
  body.execution_thread = start->Text(Attr::kAsyncExecutionThread);
  module_.computations.push_back(std::move(body));
  return true;
}

// The X of an update or done must be the one that was started, where the start can be seen.
bool ModuleParser::CheckSugar(const OpcodeToken& token, const Instruction& instruction) {
  const Instruction* from = &instruction;
  do {
    if (from->operands.empty()) return true;
    from = &scope().computation.At(from->operands[0]);
  } while (from->opcode == Opcode::kAsyncUpdate);
  const ComputationIndex called = from->Computation(Attr::kCalls);
  if (from->opcode != Opcode::kAsyncStart || called < 0) return true;
  const Computation& body = module_.At(called);
  if (body.root < 0 || body.Root().opcode == token.wrapped) return true;
  return in_.Fail(instruction.offset, "async-mismatch",
                  fmt::format("'{}' started {}, not {}", from->name, ToString(body.Root().opcode),
                              ToString(token.wrapped)));
}

}  // namespace hv
