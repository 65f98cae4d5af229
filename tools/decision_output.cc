#include "tools/decision_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hv {
namespace {

std::string PlaceText(const Module& module, const RewriteDecision& decision) {
  const SourcePlace place = module.PlaceOf(decision.offset);
  if (place.line == 0) return module.context->file + ":";
  return fmt::format("{}:{}:{}:", place.file, place.line, place.column);
}

void AppendRow(const PassRow& row, std::string_view twin_label, std::string* text) {
  *text += fmt::format("{}\n    {}\n", row.key, row.doc);
  if (!row.options.empty()) *text += fmt::format("    options: {}\n", row.options);
  *text += fmt::format("    {}: {}\n", twin_label, row.twin);
}

}  // namespace

std::string ExplainLine(const Module& module, const RewriteDecision& decision) {
  return fmt::format("{} {} {}: {}: {}: {}", PlaceText(module, decision), decision.opcode,
                     decision.instruction, decision.pass, decision.fired ? "fired" : "not",
                     decision.reason);
}

std::string RewriteJson(const Module& original, const PipelineResult& result,
                        const std::string& hlo) {
  nlohmann::ordered_json document;
  document["module"] = original.name;
  document["changed"] = result.changed;
  document["decisions"] = nlohmann::ordered_json::array();
  for (const RewriteDecision& decision : result.decisions) {
    nlohmann::ordered_json entry = {{"pass", decision.pass},
                                    {"computation", decision.computation},
                                    {"instruction", decision.instruction},
                                    {"opcode", decision.opcode},
                                    {"fired", decision.fired},
                                    {"reason", decision.reason}};
    if (decision.fired) entry["replacement"] = decision.replacement;
    const SourcePlace place = original.PlaceOf(decision.offset);
    if (place.line > 0) {
      entry["line"] = place.line;
      entry["column"] = place.column;
    }
    document["decisions"].push_back(std::move(entry));
  }
  if (!hlo.empty()) document["hlo"] = hlo;
  return document.dump(2) + "\n";
}

std::string RewriteErrorJson(const std::string& module, const Error& error) {
  const Diagnostic& first = error.diagnostics[0];
  constexpr const char* kKinds[] = {"invalid", "unsupported", "memory", "timeout"};
  nlohmann::ordered_json fault = {{"kind", kKinds[static_cast<int>(error.kind)]},
                                  {"message", error.Message()}};
  if (first.place.line > 0) {
    fault["file"] = first.place.file;
    fault["line"] = first.place.line;
    fault["column"] = first.place.column;
  }
  nlohmann::ordered_json document;
  document["module"] = module;
  document["error"] = std::move(fault);
  return document.dump(2) + "\n";
}

std::string ListPasses(bool all) {
  std::string text;
  for (const PassRow& row : Passes()) AppendRow(row, "wrong twin", &text);
  if (!all) return text;
  for (const PassRow& row : Mutants()) AppendRow(row, "wrong twin of", &text);
  return text;
}

}  // namespace hv
