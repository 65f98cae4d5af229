#include "passes/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace hv {

#define HV_PASS(name, key, options, precondition, mutant) \
  std::unique_ptr<OpExpander> Make##name(const PassContext& context);
#include "passes/passes.def"
#undef HV_PASS
#define HV_MUTANT(name, key, options, pass, fault) \
  std::unique_ptr<OpExpander> Make##name(const PassContext& context);
#include "passes/mutants.def"
#undef HV_MUTANT

namespace {

constexpr PassRow kPasses[] = {
#define HV_PASS(name, key, options, precondition, mutant) \
  {key, options, precondition, mutant, &Make##name},
#include "passes/passes.def"
#undef HV_PASS
};

constexpr PassRow kMutants[] = {
#define HV_MUTANT(name, key, options, pass, fault) {key, options, fault, pass, &Make##name},
#include "passes/mutants.def"
#undef HV_MUTANT
};

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// Pieces between separators outside braces, trimmed; none for blank text.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  if (Trim(text).empty()) return pieces;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '{') ++depth;
    if (i < text.size() && text[i] == '}') --depth;
    if (i < text.size() && (text[i] != separator || depth > 0)) continue;
    pieces.push_back(Trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return pieces;
}

const PassRow* FindPass(std::string_view key) {
  for (const auto rows : {Passes(), Mutants()}) {
    for (const PassRow& row : rows) {
      if (row.key == key) return &row;
    }
  }
  return nullptr;
}

tl::unexpected<Error> UnknownPass(std::string_view key) {
  const auto nearest = std::ranges::min_element(
      kPasses, {}, [&](const PassRow& row) { return EditDistance(key, row.key); });
  tl::unexpected<Error> error = Invalid(
      "pass-unknown", fmt::format("unknown pass '{}', did you mean '{}'?", key, nearest->key));
  std::string known = "known passes:";
  for (const PassRow& row : kPasses) known += fmt::format(" {}", row.key);
  error.value().diagnostics[0].notes.push_back(std::move(known));
  return error;
}

// "name=default|other" of a row, split.
struct OptionSpec {
  std::string_view name;
  std::vector<std::string_view> words;
};

std::vector<OptionSpec> OptionsOf(const PassRow& row) {
  std::vector<OptionSpec> specs;
  for (const std::string_view text : Split(row.options, ',')) {
    const size_t equals = text.find('=');
    specs.push_back({text.substr(0, equals), Split(text.substr(equals + 1), '|')});
  }
  return specs;
}

Status ReadOption(const PassRow& row, std::string_view text, PassOptions* options) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Invalid("pass-option-syntax",
                   fmt::format("option '{}' of pass {} is not name=value", text, row.key));
  }
  const std::string_view name = Trim(text.substr(0, equals));
  const std::string_view word = Trim(text.substr(equals + 1));
  for (const OptionSpec& spec : OptionsOf(row)) {
    if (spec.name != name) continue;
    if (std::ranges::find(spec.words, word) == spec.words.end()) {
      return Invalid("pass-option-value",
                     fmt::format("option {} of pass {} is one of {}, not '{}'", name, row.key,
                                 fmt::join(spec.words, ", "), word));
    }
    (*options)[std::string(name)] = word;
    return {};
  }
  const std::string takes = row.options.empty() ? "none" : std::string(row.options);
  return Invalid("pass-option-unknown",
                 fmt::format("pass {} has no option '{}'; it takes {}", row.key, name, takes));
}

Result<PassCall> ParseCall(std::string_view text) {
  const size_t brace = text.find('{');
  const std::string_view key = Trim(text.substr(0, brace));
  std::string_view options;
  if (brace != std::string_view::npos) {
    if (text.find('}', brace) != text.size() - 1) {
      return Invalid("pass-list-syntax",
                     fmt::format("'{}' is not a pass: expected name{{option=value,...}}", text));
    }
    options = text.substr(brace + 1, text.size() - brace - 2);
  }
  if (key.empty()) {
    return Invalid("pass-list-syntax", "a pass name is missing between commas");
  }
  PassCall call{FindPass(key), {}};
  if (call.row == nullptr) return UnknownPass(key);
  for (const OptionSpec& spec : OptionsOf(*call.row)) {
    call.options[std::string(spec.name)] = spec.words[0];
  }
  for (const std::string_view option : Split(options, ',')) {
    HV_RETURN_IF_ERROR(ReadOption(*call.row, option, &call.options));
  }
  return call;
}

// Says of an instruction that a pass made, and that a diagnostic is about, what it replaced: known
// by the place it inherited, or else by its name.
void NoteOrigins(const std::vector<RewriteDecision>& decisions, const Module& old, Error* error) {
  for (Diagnostic& diagnostic : error->diagnostics) {
    for (const RewriteDecision& decision : decisions) {
      if (!decision.fired) continue;
      const SourcePlace place = old.PlaceOf(decision.offset);
      const bool here = place.line > 0 && place.line == diagnostic.place.line &&
                        place.column == diagnostic.place.column;
      if (!here && diagnostic.message.find(decision.replacement) == std::string::npos) continue;
      diagnostic.notes.push_back(fmt::format("{} '{}' ({}:{}:{}) was replaced by '{}'",
                                             decision.opcode, decision.instruction, place.file,
                                             place.line, place.column, decision.replacement));
    }
  }
}

}  // namespace

std::span<const PassRow> Passes() { return kPasses; }
std::span<const PassRow> Mutants() { return kMutants; }

Result<std::vector<PassCall>> ParsePasses(std::string_view list) {
  std::vector<PassCall> calls;
  for (const std::string_view text : Split(list, ',')) {
    HV_ASSIGN(PassCall call, ParseCall(text));
    calls.push_back(std::move(call));
  }
  return calls;
}

Result<PassResult> RunPass(const PassCall& call, const Module& module, DeviceCounts counts) {
  const CheckContext context(fmt::format("running pass {}", call.row->key));
  const std::unique_ptr<OpExpander> expander = call.row->make({counts, call.options});
  return RunExpander(call.row->key, expander.get(), module);
}

PipelineResult RunPasses(std::span<const PassCall> calls, const Module& module,
                         DeviceCounts counts) {
  PipelineResult pipeline{module, false, {}, {}, {}};
  for (const PassCall& call : calls) {
    Result<PassResult> result = RunPass(call, pipeline.module, counts);
    if (!result) {
      pipeline.broken_by = call.row->key;
      pipeline.broken = std::move(result).error();
      return pipeline;
    }
    Status valid = result->changed ? Validate(result->module, counts) : Status();
    if (!valid) {
      pipeline.broken_by = call.row->key;
      pipeline.broken = std::move(valid).error();
      NoteOrigins(result->decisions, pipeline.module, &pipeline.broken);
    }
    pipeline.changed |= result->changed;
    std::ranges::move(result->decisions, std::back_inserter(pipeline.decisions));
    pipeline.module = std::move(result->module);
    if (!valid) return pipeline;
  }
  return pipeline;
}

}  // namespace hv
