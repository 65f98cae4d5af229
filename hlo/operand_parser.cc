// Operands: names with optional shapes, tuple paths, nested instructions. Source: hlo_text.md
// section 4.
#include <fmt/format.h>

#include "hlo/literal_reader.h"
#include "hlo/module_parser.h"
#include "hlo/op.h"

namespace hv {

bool ModuleParser::ParseOperands(Instruction* instruction) {
  const size_t first = operands_.size();
  if (!in_.Expect('(', "before operands")) return false;
  const auto operand = [this] { return in_.Peek() == ')' || ParseOperand(); };  // "x, y,)" is fine
  if (!in_.ListUntil(')', "after operands", operand)) return false;
  instruction->operands =
      in_.arena().Copy(std::span<const InstructionIndex>(operands_).subspan(first));
  operands_.resize(first);
  return true;
}

bool ModuleParser::ParseOperand() {
  const Shape* shape = nullptr;
  if (in_.Peek() != '%') {
    if (shapes_.AtShape() && (shape = shapes_.Read()) == nullptr) return false;
    const char* const start = (in_.SkipBlanks(), in_.position());
    const bool nested = !in_.Identifier().empty() && in_.Peek() == '(';
    in_.set_position(start);
    if (nested) return ParseNestedOperand(shape);
    if (AtSingle() && shape != nullptr && (*start == ',' || *start == ')')) {
      return ParseImplicitParameter(shape);
    }
  }
  return ParseNamedOperand(shape);
}

bool ModuleParser::ParseNamedOperand(const Shape* shape) {
  const uint32_t where = in_.TokenOffset();
  std::string_view name;
  if (!in_.Name(&name)) return false;
  InstructionIndex operand = scope().names.Find(name);
  if (operand == NameTable::kAbsent && AtSingle() && shape != nullptr) {
    operand = MakeParameter(name, shape);
  }
  if (operand == NameTable::kAbsent) {
    return in_.Fail(where, "undefined-name", fmt::format("'{}' is not defined before", name));
  }
  if (in_.Peek() == '#' && operand != kDamaged && !ParsePath(name, &operand)) return false;
  if (operand == kDamaged) {
    while (in_.Consume('#')) {
      int64_t ignored;
      if (!in_.Count(&ignored)) return false;
    }
    damaged_operand_ = true;
    return true;
  }
  const Shape& actual = *scope().computation.At(operand).shape;
  if (shape != nullptr && shape != &actual && !SameShape(*shape, actual)) {
    return in_.Fail(
        where, "operand-shape",
        fmt::format("'{}' is {}, not {}", name, ToString(actual, false), ToString(*shape, false)));
  }
  operands_.push_back(operand);
  return true;
}

// name#1#0: get-tuple-elements; equal paths share one. Paths are kept in the name table, where '#'
// keeps them apart from names.
bool ModuleParser::ParsePath(std::string_view name, InstructionIndex* operand) {
  std::string path(name);
  while (in_.Consume('#')) {
    const uint32_t where = in_.TokenOffset();
    int64_t index = 0;
    if (!in_.Count(&index)) return false;
    const Shape& tuple = *scope().computation.At(*operand).shape;
    if (!tuple.IsTuple() || index >= static_cast<int64_t>(tuple.elements.size())) {
      return in_.Fail(where, "tuple-index",
                      fmt::format("{} has no element {}", ToString(tuple, false), index));
    }
    path += fmt::format("#{}", index);
    const int32_t known = scope().names.Find(path);
    if (known != NameTable::kAbsent) {
      *operand = known;
      continue;
    }
    Instruction element;
    element.opcode = Opcode::kGetTupleElement;
    element.offset = where;
    element.shape = tuple.elements[static_cast<size_t>(index)];
    element.operands = in_.arena().Copy(std::span<const InstructionIndex>(operand, 1));
    Attribute attribute;
    attribute.key = Attr::kIndex;
    attribute.offset = where;
    attribute.integer = index;
    element.attributes = in_.arena().Copy(std::span<const Attribute>(&attribute, 1));
    *operand = Append(element);
    scope().unnamed.push_back(*operand);
    scope().names.Insert(in_.arena().CopyText(path), *operand);
  }
  return true;
}

// [shape] opcode(operands), without attributes.
bool ModuleParser::ParseNestedOperand(const Shape* shape) {
  Reader::Nest nest(&in_);
  if (!nest) return false;
  Instruction instruction;
  instruction.offset = in_.TokenOffset();
  OpcodeToken token;
  if (!ParseOpcode(&token)) return false;
  if (token.sugar != AsyncSugar::kNone) {
    return in_.Fail(instruction.offset, "nested-async", "asynchronous operations cannot be nested");
  }
  instruction.opcode = token.opcode;
  instruction.shape = shape;
  const AttrSet& required = RequiredAttributes(token.opcode);
  if (required.any()) {
    return in_.Fail(instruction.offset, "nested-attributes",
                    fmt::format("{} needs attributes, which a nested instruction cannot have",
                                ToString(token.opcode)));
  }
  if (!ParseArguments(&instruction) || !SetShape(shape, &instruction)) return false;
  if (instruction.shape == nullptr) return true;  // a damaged operand, reported before
  operands_.push_back(Append(instruction));
  scope().unnamed.push_back(operands_.back());
  return true;
}

bool ModuleParser::ParseImplicitParameter(const Shape* shape) {
  operands_.push_back(MakeParameter({}, shape));
  return true;
}

// The next parameter of a single instruction.
InstructionIndex ModuleParser::MakeParameter(std::string_view name, const Shape* shape) {
  Instruction parameter;
  parameter.opcode = Opcode::kParameter;
  parameter.offset = in_.offset();
  parameter.name = name;
  parameter.shape = shape;
  parameter.parameter_number = 0;
  for (const Instruction& other : scope().computation.instructions) {
    parameter.parameter_number += other.opcode == Opcode::kParameter;
  }
  const InstructionIndex index = Append(parameter);
  if (name.empty()) {
    scope().unnamed.push_back(index);
  } else {
    scope().names.Insert(name, index);
  }
  return index;
}

}  // namespace hv
