// The three kinds of input, and the names of what has none in the text.
#include "hlo/module_parser.h"

#include <fmt/format.h>

#include "hlo/input_check.h"
#include "hlo/parser.h"

namespace hv {

ModuleParser::ModuleParser(std::shared_ptr<ModuleContext> context)
    : in_(context.get()), shapes_(&in_), values_(&in_, &shapes_) {
  module_.context = std::move(context);
}

Result<Module> ModuleParser::Run() {
  ParseText();
  if (in_.ok()) NameComputations();
  if (in_.ok()) return std::move(module_);
  return tl::make_unexpected(Error{ErrorKind::kInvalid, std::move(in_.diagnostics())});
}

void ModuleParser::ParseText() {
  if (in_.PeekIdentifier() == "HloModule") {
    if (ParseHeader()) ParseComputations();
  } else if (in_.PeekIdentifier() == "ENTRY" || AtBareComputation()) {
    if (ParseComputations() && module_.entry >= 0) {
      module_.name = in_.arena().CopyText(fmt::format("module_{}", module_.Entry().name));
    }
  } else {
    ParseSingleInstruction();
  }
}

// name {
bool ModuleParser::AtBareComputation() {
  const char* const start = in_.position();
  if (in_.Peek() == '%') in_.set_position(in_.position() + 1);
  const bool found = !in_.Identifier().empty() && in_.Peek() == '{';
  in_.set_position(start);
  return found;
}

bool ModuleParser::ParseComputations() {
  while (!in_.AtEnd() && !in_.TooMany()) ParseComputation();
  if (!in_.ok()) return false;
  if (module_.computations.empty()) return in_.FailHere("no-computation", "no computation");
  if (module_.entry < 0) {
    module_.entry = static_cast<ComputationIndex>(module_.computations.size()) - 1;
  }
  return true;
}

// r = f32[4] add(f32[4] x, f32[4] y): unknown operands become parameters.
void ModuleParser::ParseSingleInstruction() {
  if (in_.AtEnd()) {
    in_.FailHere("empty-text", "no HLO: the text is empty");
    return;
  }
  single_instruction_ = true;
  OpenScope();
  scope().computation.name = module_.name = "single_instruction";
  const uint32_t where = in_.offset();
  if (ParseInstruction() && (in_.AtEnd() || in_.FailExpected("the end of the text")) &&
      FinishBody(where)) {
    module_.entry = AddComputation(std::move(scope().computation));
  }
  CloseScope();
}

// Nested and wrapped computations have no name in the text; theirs must not clash with one there.
void ModuleParser::NameComputations() {
  for (const PendingName& pending : unnamed_computations_) {
    std::string name = pending.base;
    for (int i = 1; computation_names_.Find(name) != NameTable::kAbsent; ++i) {
      name = fmt::format("{}.{}", pending.base, i);
    }
    const std::string_view kept = in_.arena().CopyText(name);
    computation_names_.Insert(kept, pending.index);
    module_.computations[static_cast<size_t>(pending.index)].name = kept;
  }
}

Result<Module> ParseModule(std::string file, std::string text) {
  auto context = std::make_shared<ModuleContext>();
  context->file = std::move(file);
  context->text = std::move(text);
  HV_RETURN_IF_ERROR(CheckInput(context->file, context->text));
  return ModuleParser(std::move(context)).Run();
}

}  // namespace hv
