// Computations: signature, body, recovery after errors, names. Source: hlo_text.md section 3.
#include <fmt/format.h>

#include "hlo/module_parser.h"
#include "hlo/word_table.h"

namespace hv {
namespace {

// Keywords, which are names only behind a '%'.
constexpr WordTable kReserved(std::to_array<std::string_view>(
    {"true", "false", "inf", "nan", "HloModule", "ENTRY", "ROOT", "FileNames", "FunctionNames",
     "FileLocations", "StackFrames", "maximal", "replicated", "manual", "last_tile_dim_replicate",
     "shard_as", "shard_like", "unknown", "unreduced"}));

}  // namespace

void ModuleParser::OpenScope() {
  if (depth_ == scopes_.size()) scopes_.push_back(std::make_unique<Scope>());
  Scope& fresh = *scopes_[depth_++];
  std::vector<Instruction> kept = std::move(fresh.computation.instructions);
  kept.clear();
  fresh.computation = Computation{};
  fresh.computation.instructions = std::move(kept);
  fresh.names.Clear();
  fresh.unnamed.clear();
  fresh.damaged = false;
}

bool ModuleParser::ParseComputation() {
  const char* const first = in_.position();
  const bool is_entry = in_.ConsumeWord("ENTRY");
  OpenScope();
  Computation& computation = scope().computation;
  computation.offset = in_.TokenOffset();
  const uint32_t where = computation.offset;
  const Shape* result = nullptr;
  bool fine = DefinedName(false, &computation.name) && ParseSignature(&result) && ParseBody();
  if (fine && result != nullptr && !scope().damaged &&
      !SameShape(*result, *computation.Root().shape)) {
    fine =
        in_.Fail(where, "signature-result",
                 fmt::format("the signature promises {}, the root is {}", ToString(*result, false),
                             ToString(*computation.Root().shape, false)));
  }
  if (fine && in_.Consume(',')) {
    fine = (in_.AttributeName() == "execution_thread" || in_.FailExpected("execution_thread=")) &&
           in_.Quoted(&computation.execution_thread);
  }
  if (!fine && in_.position() == first) in_.SkipLine();
  if (!fine && depth_ == 1 && !in_.TooMany()) SkipInstruction(in_.position());
  if (!fine) in_.Consume('}');
  // Also a damaged one is known by its name, so that calls of it are no further mistakes.
  const std::string_view name = computation.name;
  const ComputationIndex index = AddComputation(std::move(computation));
  CloseScope();
  if (!name.empty() && !computation_names_.Insert(name, index)) {
    fine = in_.Fail(where, "duplicate-computation",
                    fmt::format("computation '{}' exists already", name));
  }
  if (is_entry && module_.entry >= 0) {
    return in_.Fail(where, "two-entries", "a second ENTRY computation");
  }
  if (is_entry) module_.entry = index;
  return fine;
}

// [(name: shape, ...) -> shape]; the parameter list means nothing.
bool ModuleParser::ParseSignature(const Shape** result) {
  if (!in_.Consume('(')) return true;
  const bool read = in_.ListUntil(')', "after the parameters of a signature", [&] {
    std::string_view name;
    if (!in_.Name(&name)) return false;
    in_.Consume(':');
    return shapes_.Read() != nullptr;
  });
  if (!read) return false;
  if (!in_.Consume("->")) return in_.FailExpected("'->' after a signature");
  *result = shapes_.Read();
  return *result != nullptr;
}

bool ModuleParser::ParseBody() {
  const uint32_t where = in_.TokenOffset();
  if (!in_.Expect('{', "before the body of a computation")) return false;
  while (in_.Peek() != '}') {
    if (in_.AtEnd()) return in_.Fail(where, "open-computation", "computation without its '}'");
    if (AtComputationStart()) {
      return in_.FailHere("open-computation", "a computation starts before '}' ends the last one");
    }
    const char* const first = in_.position();
    const size_t operands = operands_.size(), attributes = attributes_.size();
    if (ParseInstruction()) continue;
    if (in_.TooMany()) return false;
    operands_.resize(operands);
    attributes_.resize(attributes);
    scope().damaged = true;
    SkipInstruction(first);
  }
  in_.Consume('}');
  return FinishBody(where);
}

// `ENTRY`, or a name directly followed by a signature or a body, where an instruction should start.
bool ModuleParser::AtComputationStart() {
  const char* const start = in_.position();
  if (in_.PeekIdentifier() == "ENTRY") return true;
  if (*start == '%') in_.set_position(start + 1);
  const bool named = !in_.Identifier().empty() && (in_.Peek() == '{' || in_.Peek() == '(');
  in_.set_position(start);
  return named;
}

// After an error: to the next line that can start an instruction, or to the '}' that closes the
// body. Braces are counted from `first`, the start of the damaged instruction.
void ModuleParser::SkipInstruction(const char* first) {
  in_.set_position(first);
  int open = 0;
  bool quoted = false;
  for (; in_.bytes_left() > 0; in_.set_position(in_.position() + 1)) {
    const char c = in_.PeekRaw();
    if (c == '\n') {
      quoted = false;
      if (in_.PeekRaw(1) == '}') open = 0;
      if (open > 0) continue;
      in_.SkipBlanks();
      const char* const line = in_.position();
      in_.ConsumeWord("ROOT");
      if (in_.Peek() == '%') in_.set_position(in_.position() + 1);
      const bool named = !in_.Identifier().empty();
      const bool starts = named && (in_.PeekRaw() == '=' ? *line == '%' : in_.Peek() == '=');
      const bool heads = named && (in_.Peek() == '(' || in_.Peek() == '{') && line[-1] == '\n';
      in_.set_position(line);
      if (starts || heads || *line == '}' || in_.PeekIdentifier() == "ENTRY") return;
      in_.set_position(line - 1);
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      if (c == '\\' && in_.bytes_left() > 1) in_.set_position(in_.position() + 1);
    } else if (c == '{') {
      ++open;
    } else if (c == '}' && --open < 0) {
      return;
    }
  }
}

bool ModuleParser::FinishBody(uint32_t where) {
  Computation& computation = scope().computation;
  if (scope().damaged) return true;
  if (computation.instructions.empty()) {
    return in_.Fail(where, "empty-computation", "computation without instructions");
  }
  if (computation.root < 0) {
    computation.root = static_cast<InstructionIndex>(computation.instructions.size()) - 1;
  }
  NameInstructions();
  return OrderParameters();
}

// Sorts parameters by number; the numbers must be 0..n-1.
bool ModuleParser::OrderParameters() {
  Computation& computation = scope().computation;
  size_t count = 0;
  for (const Instruction& i : computation.instructions) count += i.opcode == Opcode::kParameter;
  computation.parameters.assign(count, -1);
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode != Opcode::kParameter) continue;
    const int64_t number = instruction.parameter_number;
    if (number < 0 || number >= static_cast<int64_t>(count)) {
      return in_.Fail(
          instruction.offset, "parameter-number",
          fmt::format("parameter {} of {}: numbers must run from 0 without gaps", number, count));
    }
    InstructionIndex& slot = computation.parameters[static_cast<size_t>(number)];
    if (slot >= 0) {
      return in_.Fail(instruction.offset, "parameter-number",
                      fmt::format("a second parameter {}", number));
    }
    slot = static_cast<InstructionIndex>(i);
  }
  return true;
}

void ModuleParser::NameInstructions() {
  int suffix = 0;
  for (InstructionIndex index : scope().unnamed) {
    Instruction& instruction = scope().computation.instructions[static_cast<size_t>(index)];
    const std::string base = fmt::format("{}.anon", ToString(instruction.opcode));
    std::string name = base;
    while (scope().names.Find(name) != NameTable::kAbsent) {
      name = fmt::format("{}.{}", base, ++suffix);
    }
    instruction.name = in_.arena().CopyText(name);
    scope().names.Insert(instruction.name, index);
  }
}

// Small ones get a vector of exact size, and the scope keeps its own for the next computation.
ComputationIndex ModuleParser::AddComputation(Computation computation) {
  constexpr size_t kSmall = 1024;
  if (computation.instructions.size() <= kSmall) {
    std::vector<Instruction> exact(computation.instructions);
    scope().computation.instructions = std::move(computation.instructions);
    computation.instructions = std::move(exact);
  }
  module_.computations.push_back(std::move(computation));
  return static_cast<ComputationIndex>(module_.computations.size()) - 1;
}

bool ModuleParser::ParseNestedComputation(std::string base, ComputationIndex* index) {
  Reader::Nest nest(&in_);
  if (!nest) return false;
  OpenScope();
  scope().computation.offset = in_.TokenOffset();
  const bool damaged_operand = damaged_operand_;
  const bool fine = ParseBody();
  damaged_operand_ = damaged_operand;
  if (fine) {
    *index = AddComputation(std::move(scope().computation));
    unnamed_computations_.push_back({*index, std::move(base)});
  }
  CloseScope();
  return fine;
}

bool ModuleParser::DefinedName(bool of_instruction, std::string_view* name) {
  const uint32_t where = in_.TokenOffset();
  const bool bare = in_.PeekRaw() != '%';
  if (!in_.Name(name)) return false;
  const bool reserved = bare && kReserved.Find(*name) >= 0;
  const bool is_type = (bare || of_instruction) && ParseElementType(*name).has_value();
  const bool internal =
      of_instruction && name->substr(0, 2) == "__" && name->substr(0, 6) != "__xla_";
  if (!reserved && !is_type && !internal) return true;
  const char* why = internal ? "names starting with __ are reserved" : "this word is no name";
  return in_.Fail(where, "illegal-name", fmt::format("illegal name '{}': {}", *name, why));
}

}  // namespace hv
