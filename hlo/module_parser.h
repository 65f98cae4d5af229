// The grammar of HLO modules above shapes and values: header, computations, instructions, operands,
// asynchronous sugar. Functions return false after reporting through the Reader; the body of a
// computation then goes on with its next instruction, so that one run reports several mistakes.
// Source: hlo_text.md sections 2 to 4 and 11.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/attribute_rules.h"
#include "hlo/module.h"
#include "hlo/name_table.h"
#include "hlo/reader.h"
#include "hlo/shape_reader.h"
#include "hlo/value_reader.h"

namespace hv {

// `X-start(...)` and relatives for an X without a native asynchronous form.
enum class AsyncSugar : uint8_t { kNone, kStart, kUpdate, kDone };

struct OpcodeToken {
  Opcode opcode = Opcode::kParameter;  // async-start, -update or -done where sugar is used
  AsyncSugar sugar = AsyncSugar::kNone;
  Opcode wrapped = Opcode::kParameter;  // X
};

class ModuleParser {
 public:
  explicit ModuleParser(std::shared_ptr<ModuleContext> context);
  Result<Module> Run();

 private:
  // A computation being read. Scopes nest where a computation stands as an attribute's value.
  struct Scope {
    Computation computation;
    NameTable names;
    std::vector<InstructionIndex> unnamed;  // nested operands; named when the body is complete
    bool damaged = false;                   // an instruction was dropped after an error
  };
  // A name whose definition was wrong: using it is no further mistake.
  static constexpr int32_t kDamaged = -2;

  // module_parser.cc
  void ParseText();
  bool AtBareComputation();
  bool ParseComputations();
  void ParseSingleInstruction();
  void NameComputations();

  // header_parser.cc
  bool ParseHeader();
  bool ParseHeaderAttribute();
  bool ParseHeaderValue(std::string_view key);
  bool ParseEntryLayout();
  bool ParseBoolOrBools();
  bool ParseStackFrames();
  bool ParseTable(std::string_view title, bool braces);

  // computation_parser.cc
  bool ParseComputation();
  bool ParseSignature(const Shape** result);
  bool ParseBody();  // '{' instructions '}' into scope()
  void SkipInstruction(const char* first);
  bool AtComputationStart();
  bool FinishBody(uint32_t where);
  bool OrderParameters();
  void NameInstructions();
  ComputationIndex AddComputation(Computation computation);
  bool ParseNestedComputation(std::string base, ComputationIndex* index);
  bool DefinedName(bool of_instruction, std::string_view* name);
  Scope& scope() { return *scopes_[depth_ - 1]; }
  // In the one instruction of a text without computations?
  bool AtSingle() const { return single_instruction_ && depth_ == 1; }
  void OpenScope();
  void CloseScope() { --depth_; }

  // instruction_parser.cc
  bool ParseInstruction();
  bool ParseRightSide(Instruction* instruction);
  bool ParseOpcode(OpcodeToken* token);
  bool ParseArguments(Instruction* instruction);  // what stands in the parentheses
  bool ParseConstant(Instruction* instruction);
  bool ParseAttributes(const Instruction& instruction, const OpcodeToken& token);
  bool ParseAttributeValue(const Instruction& instruction, Attribute* attribute);
  bool ParseComputationList(const Instruction& instruction, Attribute* attribute);
  bool ParseCalledComputation(const Instruction& instruction, Attr key, ComputationIndex* index);
  bool ParsePredecessors(Attribute* attribute);
  void DropDefaultCompareType(size_t first, const Instruction& instruction);
  void TakeAttributes(size_t first, Instruction* instruction);
  bool SetShape(const Shape* declared, Instruction* instruction);
  InstructionIndex Append(const Instruction& instruction);

  // operand_parser.cc
  bool ParseOperands(Instruction* instruction);
  bool ParseOperand();  // appends to operands_
  bool ParseNamedOperand(const Shape* shape);
  bool ParseNestedOperand(const Shape* shape);
  bool ParsePath(std::string_view name, InstructionIndex* operand);
  bool ParseImplicitParameter(const Shape* shape);  // single instructions only
  InstructionIndex MakeParameter(std::string_view name, const Shape* shape);

  // async_sugar.cc
  bool WrapStart(const OpcodeToken& token, size_t first, Instruction* instruction);
  bool CheckSugar(const OpcodeToken& token, const Instruction& instruction);

  Module module_;
  Reader in_;
  ShapeReader shapes_;
  ValueReader values_;
  NameTable computation_names_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  size_t depth_ = 0;
  bool single_instruction_ = false;
  // Lists being read; nested readers use the part behind what is there already.
  std::vector<InstructionIndex> operands_;
  std::vector<Attribute> attributes_;
  bool damaged_operand_ = false;
  struct PendingName {
    ComputationIndex index;
    std::string base;
  };
  std::vector<PendingName> unnamed_computations_;
  std::vector<std::string_view> header_keys_;
};

}  // namespace hv
