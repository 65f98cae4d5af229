// One instruction: name, shape, opcode, arguments, attributes. Source: hlo_text.md sections 3,
// 8, 9.
#include <fmt/format.h>

#include "hlo/literal_reader.h"
#include "hlo/module_parser.h"
#include "hlo/op.h"

namespace hv {
namespace {

bool ConsumeSuffix(std::string_view* word, std::string_view suffix) {
  if (word->size() <= suffix.size() || word->substr(word->size() - suffix.size()) != suffix) {
    return false;
  }
  word->remove_suffix(suffix.size());
  return true;
}

// Opcodes that have asynchronous forms of their own, and those forms: no sugar for them.
bool HasNoSugar(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kCollectivePermute:
    case Opcode::kCopy:
    case Opcode::kSend:
    case Opcode::kRecv:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
    case Opcode::kParameter:
    case Opcode::kConstant:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool ModuleParser::ParseInstruction() {
  bool is_root = false;
  if (in_.Peek() == 'R') is_root = in_.ConsumeWord("ROOT");
  Instruction instruction;
  instruction.offset = in_.TokenOffset();
  const char* const first = in_.position();
  if (AtSingle() && shapes_.AtShape()) {
    instruction.name = "result";  // the left side may be missing
  } else {
    if (!DefinedName(true, &instruction.name)) return false;
    if (in_.PeekRaw() == '=' && *first != '%') {
      return in_.FailHere(
          "attached-equals",
          fmt::format("'{}=' is an attribute; leave a blank after a name", instruction.name));
    }
    if (!in_.Expect('=', "after the name of an instruction")) return false;
  }
  damaged_operand_ = false;
  const bool fine = ParseRightSide(&instruction);
  const int32_t value = fine && instruction.shape != nullptr ? Append(instruction) : kDamaged;
  if (!scope().names.Insert(instruction.name, value)) {
    return in_.Fail(instruction.offset, "duplicate-name",
                    fmt::format("'{}' is defined already", instruction.name));
  }
  if (value == kDamaged) scope().damaged = true;
  if (is_root && value != kDamaged) {
    if (scope().computation.root >= 0) {
      return in_.Fail(instruction.offset, "two-roots", "a second ROOT in one computation");
    }
    scope().computation.root = value;
  }
  return fine;
}

InstructionIndex ModuleParser::Append(const Instruction& instruction) {
  scope().computation.instructions.push_back(instruction);
  return static_cast<InstructionIndex>(scope().computation.instructions.size()) - 1;
}

bool ModuleParser::ParseRightSide(Instruction* instruction) {
  const Shape* declared = nullptr;
  if (shapes_.AtShape() && (declared = shapes_.Read()) == nullptr) return false;
  OpcodeToken token;
  if (!ParseOpcode(&token)) return false;
  instruction->opcode = token.opcode;
  instruction->shape = declared;
  const size_t first = attributes_.size();
  if (!ParseArguments(instruction)) return false;
  if (!ParseAttributes(*instruction, token)) return false;
  if (token.opcode == Opcode::kCompare) DropDefaultCompareType(first, *instruction);
  if (token.sugar == AsyncSugar::kStart) return WrapStart(token, first, instruction);
  TakeAttributes(first, instruction);
  return SetShape(declared, instruction) &&
         (token.sugar == AsyncSugar::kNone || CheckSugar(token, *instruction));
}

bool ModuleParser::ParseOpcode(OpcodeToken* token) {
  const uint32_t where = in_.TokenOffset();
  const std::string_view text = in_.Identifier();
  if (text.empty()) return in_.FailExpected("a shape or an opcode");
  std::string_view word = text;
  if (const auto opcode = hv::ParseOpcode(word)) {
    token->opcode = *opcode;
    return true;
  }
  if (ConsumeSuffix(&word, "-start")) {
    token->sugar = AsyncSugar::kStart;
    token->opcode = Opcode::kAsyncStart;
  } else if (ConsumeSuffix(&word, "-update")) {
    token->sugar = AsyncSugar::kUpdate;
    token->opcode = Opcode::kAsyncUpdate;
  } else if (ConsumeSuffix(&word, "-done")) {
    token->sugar = AsyncSugar::kDone;
    token->opcode = Opcode::kAsyncDone;
  }
  const auto wrapped = hv::ParseOpcode(word);
  if (token->sugar == AsyncSugar::kNone || !wrapped || HasNoSugar(*wrapped)) {
    return in_.Fail(where, "unknown-opcode", fmt::format("unknown opcode '{}'", text));
  }
  token->wrapped = *wrapped;
  return true;
}

bool ModuleParser::ParseArguments(Instruction* instruction) {
  if (instruction->opcode == Opcode::kConstant) return ParseConstant(instruction);
  if (instruction->opcode != Opcode::kParameter) return ParseOperands(instruction);
  return in_.Expect('(', "before a parameter number") &&
         in_.Count(&instruction->parameter_number) && in_.Expect(')', "after a parameter number");
}

bool ModuleParser::ParseConstant(Instruction* instruction) {
  if (instruction->shape == nullptr) {
    return in_.FailHere("shape-required", "constant needs its result shape");
  }
  if (!in_.Expect('(', "before a literal")) return false;
  instruction->literal = ReadLiteral(&in_, instruction->shape);
  return instruction->literal != nullptr && in_.Expect(')', "after a literal");
}

bool ModuleParser::ParseAttributes(const Instruction& instruction, const OpcodeToken& token) {
  const bool wraps = token.sugar == AsyncSugar::kStart;
  const Opcode opcode = wraps ? token.wrapped : token.opcode;
  const uint32_t end_of_operands = in_.offset();
  const AttrSet& allowed = AllowedAttributes(opcode);
  AttrSet seen;
  while (in_.Consume(',')) {
    const uint32_t where = in_.TokenOffset();
    const std::string_view word = in_.AttributeName();
    if (word.empty()) return in_.FailExpected("an attribute, key=value");
    const auto key = ParseAttr(word);
    const auto bit = static_cast<size_t>(key.value_or(Attr::kIndex));
    const bool on_start = key == Attr::kAsyncExecutionThread || key == Attr::kOutputOperandAliasing;
    if (!key || !(IsCommon(*key) || allowed[bit] || (wraps && on_start))) {
      return in_.Fail(where, "unknown-attribute",
                      fmt::format("{} takes no attribute '{}'", ToString(opcode), word));
    }
    if (seen[bit]) {
      return in_.Fail(where, "repeated-attribute", fmt::format("{} appears twice", word));
    }
    seen.set(bit);
    Attribute attribute;
    attribute.key = *key;
    attribute.offset = where;
    if (!ParseAttributeValue(instruction, &attribute)) return false;
    attributes_.push_back(attribute);
  }
  const AttrSet missing = RequiredAttributes(opcode) & ~seen;
  if (missing.none()) return true;
  size_t bit = 0;
  while (!missing[bit]) ++bit;
  return in_.Fail(
      end_of_operands, "missing-attribute",
      fmt::format("{} needs the attribute {}", ToString(opcode), kAttributes[bit].text));
}

bool ModuleParser::ParseAttributeValue(const Instruction& instruction, Attribute* attribute) {
  ComputationIndex called = -1;
  switch (Row(attribute->key).kind) {
    case AttrKind::kComputation:
      if (!ParseCalledComputation(instruction, attribute->key, &called)) return false;
      attribute->integer = called;
      return true;
    case AttrKind::kComputations:
      return ParseComputationList(instruction, attribute);
    case AttrKind::kInstructions:
      return ParsePredecessors(attribute);
    default:
      return values_.Read(attribute);
  }
}

// A name, or a whole computation in braces.
bool ModuleParser::ParseCalledComputation(const Instruction& instruction, Attr key,
                                          ComputationIndex* index) {
  if (in_.Peek() == '{') {
    return ParseNestedComputation(fmt::format("{}.{}", instruction.name, Row(key).text), index);
  }
  const uint32_t where = in_.TokenOffset();
  std::string_view name;
  if (!in_.Name(&name)) return false;
  *index = computation_names_.Find(name);
  return *index != NameTable::kAbsent ||
         in_.Fail(where, "undefined-computation",
                  fmt::format("no computation '{}' before this point", name));
}

bool ModuleParser::ParseComputationList(const Instruction& instruction, Attribute* attribute) {
  std::vector<ComputationIndex> called;
  if (!in_.Expect('{', "before computations")) return false;
  const bool read = in_.ListUntil('}', "after computations", [&] {
    called.push_back(-1);
    return ParseCalledComputation(instruction, attribute->key, &called.back());
  });
  const auto copy = in_.arena().Copy(called);
  attribute->data = copy.data();
  attribute->size = copy.size();
  return read;
}

bool ModuleParser::ParsePredecessors(Attribute* attribute) {
  std::vector<InstructionIndex> predecessors;
  if (!in_.Expect('{', "before control predecessors")) return false;
  const bool read = in_.ListUntil('}', "after control predecessors", [&] {
    const uint32_t where = in_.TokenOffset();
    std::string_view name;
    if (!in_.Name(&name)) return false;
    const int32_t index = scope().names.Find(name);
    if (index == NameTable::kAbsent) {
      return in_.Fail(where, "undefined-name", fmt::format("'{}' is not defined before", name));
    }
    if (index != kDamaged) predecessors.push_back(index);
    return true;
  });
  const auto copy = in_.arena().Copy(predecessors);
  attribute->data = copy.data();
  attribute->size = copy.size();
  return read;
}

void ModuleParser::DropDefaultCompareType(size_t first, const Instruction& instruction) {
  if (instruction.operands.empty()) return;
  const ElementType operand = scope().computation.At(instruction.operands[0]).shape->type;
  for (size_t i = first; i < attributes_.size(); ++i) {
    if (attributes_[i].key != Attr::kCompareType) continue;
    if (attributes_[i].text != DefaultCompareType(operand)) return;
    attributes_.erase(attributes_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void ModuleParser::TakeAttributes(size_t first, Instruction* instruction) {
  Canonicalize(&attributes_, first);
  instruction->attributes =
      in_.arena().Copy(std::span<const Attribute>(attributes_).subspan(first));
  attributes_.resize(first);
}

// The declared shape, or the one that follows from the operands.
bool ModuleParser::SetShape(const Shape* declared, Instruction* instruction) {
  instruction->shape = declared;
  // After a damaged operand nothing follows; that is no further mistake.
  if (declared != nullptr || damaged_operand_) return true;
  const OpDef& definition = Definition(instruction->opcode);
  if (definition.shape_required || definition.infer == nullptr) {
    return in_.Fail(instruction->offset, "shape-required",
                    fmt::format("{} needs its result shape", ToString(instruction->opcode)));
  }
  auto inferred = InferShape({module_, scope().computation, *instruction, in_.shapes()});
  if (inferred) {
    instruction->shape = *inferred;
    return true;
  }
  const Diagnostic& first = inferred.error().diagnostics.front();
  return in_.Fail(instruction->offset, first.id, first.message);
}

}  // namespace hv
