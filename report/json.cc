#include "report/json.h"

#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

namespace hv {
namespace {

using Document = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

// JSON knows neither NaN nor infinities: they are strings, as in literals of cases.
Document Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// An element as the run printed it: a number or truth value where JSON has one, else its text.
Document Element(const std::string& text) {
  Document parsed = Document::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool plain = parsed.is_boolean() || parsed.is_number();
  return plain ? parsed : Document(text);
}

void AddText(const char* key, const std::string& text, Document* object) {
  if (!text.empty()) (*object)[key] = text;
}

template <class List>
void AddList(const char* key, const List& list, Document* object) {
  if (!list.empty()) (*object)[key] = list;
}

Document Inputs(const Counterexample& example) {
  Document inputs = {{"description", example.inputs}};
  for (const InputElement& element : example.elements) {
    Document entry = {{"device", element.device}, {"parameter", element.parameter}};
    AddText("name", element.parameter_name, &entry);
    entry["index"] = element.index;
    entry["value"] = Element(element.value);
    inputs["elements"].push_back(std::move(entry));
  }
  return inputs;
}

Document ToJson(const Counterexample& example) {
  Document json = {{"device", example.device},        {"output", example.output},
                   {"index", example.index},          {"before", Element(example.before)},
                   {"after", Element(example.after)}, {"inputs", Inputs(example)}};
  AddText("explanation", example.explanation, &json);
  Document diverging = Document::object();
  AddText("before", example.first_diverging_before, &diverging);
  AddText("after", example.first_diverging_after, &diverging);
  AddList("first_diverging", diverging, &json);
  AddText("reproduce", example.reproduce, &json);
  return json;
}

Document ToJson(const Evidence& evidence) {
  Document json = {{"method", evidence.method}, {"detail", evidence.detail}};
  if (evidence.miss_bound) json["miss_bound"] = Number(*evidence.miss_bound);
  return json;
}

Document ToJson(const SuspectReport& suspect) {
  Document json = {{"before", suspect.before},
                   {"after", suspect.after},
                   {"difference", suspect.difference}};
  AddText("counterexample", suspect.counterexample, &json);
  json["before_hlo"] = suspect.before_hlo;
  json["after_hlo"] = suspect.after_hlo;
  return json;
}

Document ToJson(const SmallerFailure& smaller) {
  Document json = {{"devices",
                    {{"replicas", smaller.replicas},
                     {"partitions", smaller.partitions},
                     {"originals", smaller.devices}}},
                   {"closed", smaller.closed},
                   {"remade", smaller.remade}};
  if (smaller.counterexample) json["counterexample"] = ToJson(*smaller.counterexample);
  AddList("cycle", smaller.cycle, &json);
  json["before_hlo"] = smaller.before_hlo;
  json["after_hlo"] = smaller.after_hlo;
  return json;
}

Document Deadlock(const CaseReport& report) {
  Document json = Document::object();
  AddText("module", report.stalled, &json);
  for (const WaitingDevice& device : report.waiting) {
    Document entry = {{"device", device.device}, {"instruction", device.instruction}};
    AddText("signature", device.signature, &entry);
    AddList("waits_for", device.waits_for, &entry);
    json["waiting"].push_back(std::move(entry));
  }
  AddList("cycle", report.cycle, &json);
  return json;
}

Document ToJson(const CollectiveLine& line) {
  Document json = {{"instruction", line.instruction},
                   {"opcode", line.opcode},
                   {"turns", Number(line.turns)},
                   {"seconds", Number(line.seconds)}};
  AddText("algorithm", line.algorithm, &json);
  if (line.next_best.empty()) return json;
  json["next_best"] = {{"algorithm", line.next_best}, {"seconds", Number(line.next_best_seconds)}};
  return json;
}

Document ToJson(const CostSide& side) {
  Document json = {{"seconds", Number(side.seconds)},
                   {"compute_seconds", Number(side.compute_seconds)},
                   {"collective_seconds", Number(side.collective_seconds)},
                   {"bytes", side.bytes},
                   {"messages", Number(side.messages)}};
  for (const LevelBytes& level : side.levels) json["bytes_by_level"][level.level] = level.bytes;
  for (const CollectiveLine& line : side.collectives) {
    json["collectives"].push_back(ToJson(line));
  }
  return json;
}

Document ToJson(const CostReport& cost) {
  return {{"machine", cost.machine},
          {"before", ToJson(cost.before)},
          {"after", ToJson(cost.after)},
          {"ratio", Number(cost.ratio())}};
}

Document ToJson(const MeasuredCost& measured) {
  return {{"before", Number(measured.before)},
          {"after", Number(measured.after)},
          {"ratio", Number(measured.ratio())},
          {"rounds", measured.rounds},
          {"collective_results", measured.private_results ? "private" : "shared"}};
}

Document ToJson(const PassDecision& decision) {
  Document json = {
      {"pass", decision.pass}, {"instruction", decision.instruction}, {"fired", decision.fired}};
  AddText("reason", decision.reason, &json);
  return json;
}

Document ToJson(const Diagnostic& diagnostic) {
  Document json = {{"id", diagnostic.id}, {"message", diagnostic.message}};
  AddText("file", diagnostic.place.file, &json);
  if (diagnostic.place.line > 0) json["line"] = diagnostic.place.line;
  if (diagnostic.place.column > 0) json["column"] = diagnostic.place.column;
  AddList("notes", diagnostic.notes, &json);
  return json;
}

Document ToJson(const CaseReport& report);

template <class Item>
void AddItems(const char* key, const std::vector<Item>& items, Document* object) {
  for (const Item& item : items) (*object)[key].push_back(ToJson(item));
}

Document ToJson(const CaseReport& report) {
  Document json = {{"name", report.name}};
  AddText("file", report.file, &json);
  json["verdict"] = ToString(report.verdict);
  AddText("level", std::string(ToString(report.level)), &json);
  AddText("precision", report.precision, &json);
  AddText("reason", report.reason, &json);
  json["expect"] = ToString(report.expect);
  json["as_expected"] = report.as_expected;
  AddText("missed", report.missed, &json);
  json["devices"] = {{"replicas", report.replicas}, {"partitions", report.partitions}};
  if (report.counterexample) json["counterexample"] = ToJson(*report.counterexample);
  if (report.suspect) json["suspect"] = ToJson(*report.suspect);
  if (report.smaller) json["smaller"] = ToJson(*report.smaller);
  AddList("deadlock", Deadlock(report), &json);
  AddItems("diagnostics", report.diagnostics, &json);
  AddItems("evidence", report.evidence, &json);
  AddList("assumptions", report.assumptions, &json);
  AddList("notes", report.notes, &json);
  AddList("normal_forms", report.normal_forms, &json);
  AddItems("decisions", report.decisions, &json);
  if (report.cost) json["cost"] = ToJson(*report.cost);
  if (report.measured) json["cost"]["measured"] = ToJson(*report.measured);
  json["seconds"] = Number(report.seconds);
  return json;
}

Document ToJson(const Totals& totals) {
  Document json = {{"cases", totals.cases}, {"as_expected", totals.as_expected}};
  for (int i = 0; i < kVerdictCount; ++i) {
    std::string key(ToString(static_cast<Verdict>(i)));
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    json[key] = totals.by_verdict[i];
  }
  return json;
}

}  // namespace

std::string RenderJson(const Report& report) {
  Document json = {{"tool", "verify_rewrite"},
                   {"version", report.version},
                   {"schema", kSchemaVersion},
                   {"cases", Document::array()}};
  AddItems("cases", report.cases, &json);
  json["totals"] = ToJson(report.totals);
  json["seconds"] = Number(report.seconds);
  json["exit_code"] = report.exit_code;
  return json.dump(2, ' ', false, Document::error_handler_t::replace) + "\n";
}

}  // namespace hv
