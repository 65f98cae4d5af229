#include "report/sarif.h"

#include <nlohmann/json.hpp>

#include "report/text_case.h"

namespace hv {
namespace {

using Document = nlohmann::ordered_json;

constexpr std::string_view kMeanings[kVerdictCount] = {
    "A proof, but not as strong, or not as cheap, as expected.",
    "No difference found, but that was not expected.",
    "The module after the rewrite computes something else.",
    "A module cannot finish: its devices wait for each other.",
    "Values that were the same on several replicas may differ after the rewrite.",
    "The HLO or the scenario is wrong.",
    "It could not be told whether the modules are equal."};

Document Rules() {
  Document rules = Document::array();
  for (int v = 0; v < kVerdictCount; ++v) {
    rules.push_back({{"id", ToString(static_cast<Verdict>(v))},
                     {"shortDescription", {{"text", kMeanings[v]}}}});
  }
  return rules;
}

Document LocationOf(const SourcePlace& place) {
  Document location = {{"artifactLocation", {{"uri", place.file}}}};
  if (place.line > 0) {
    location["region"] = {{"startLine", place.line}, {"startColumn", place.column}};
  }
  return {{"physicalLocation", std::move(location)}};
}

// The first diagnostic that has a place, else the file of the case.
Document LocationsOf(const CaseReport& c) {
  for (const Diagnostic& d : c.diagnostics) {
    if (!d.place.file.empty()) return Document::array({LocationOf(d.place)});
  }
  if (c.file.empty()) return Document::array();
  return Document::array({LocationOf({c.file, 0, 0})});
}

Document ResultOf(const CaseReport& c, FailOn fail_on) {
  const bool fails = ExitCodeOf(c, fail_on) != kExitOk;
  return {{"ruleId", ToString(c.verdict)},
          {"ruleIndex", static_cast<int>(c.verdict)},
          {"level", !fails                           ? "note"
                    : c.verdict == Verdict::kUnknown ? "warning"
                                                     : "error"},
          {"message", {{"text", c.name + ": " + c.missed + "\n" + CaseBlock(c, false, false)}}},
          {"locations", LocationsOf(c)}};
}

}  // namespace

std::string RenderSarif(const Report& report, FailOn fail_on) {
  Document results = Document::array();
  for (const CaseReport& c : report.cases) {
    if (!c.as_expected) results.push_back(ResultOf(c, fail_on));
  }
  const Document driver = {
      {"name", "verify_rewrite"}, {"version", report.version}, {"rules", Rules()}};
  const Document document = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Document::array({{{"tool", {{"driver", driver}}}, {"results", results}}})}};
  return document.dump(2, ' ', false, Document::error_handler_t::replace) + "\n";
}

}  // namespace hv
