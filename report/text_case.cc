#include "report/text_case.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/units.h"

namespace hv {
namespace {

constexpr int kVerdictWidth = 12;  // the longest verdict, INCONSISTENT

std::string_view ColorOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kProved:
    case Verdict::kTested:
      return "32";
    case Verdict::kUnknown:
      return "33";
    case Verdict::kInvalid:
      return "35";
    case Verdict::kRefuted:
    case Verdict::kDeadlock:
    case Verdict::kInconsistent:
      return "31";
  }
  return "0";
}

// The verdict's word, padded to the width of the longest.
std::string Word(Verdict verdict, bool color) {
  const std::string word = fmt::format("{:<{}}", ToString(verdict), kVerdictWidth);
  return color ? fmt::format("\x1b[1;{}m{}\x1b[0m", ColorOf(verdict), word) : word;
}

std::string Heading(const CaseReport& report, bool color) {
  std::string line = Word(report.verdict, color) + "  " + report.name;
  if (report.level != Level::kNone) line += fmt::format(" [{}]", ToString(report.level));
  if (!report.precision.empty()) line += fmt::format(" [precision {}]", report.precision);
  if (!report.as_expected) return line + fmt::format("  MISSED: {}", report.missed);
  const bool usual = report.expect == Expectation::kEquivalent;
  return line + (usual ? "" : fmt::format("  (expected {})", ToString(report.expect)));
}

std::string Index(const std::vector<int64_t>& index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

// Lines "  label  text", the labels in one column.
class Lines {
 public:
  void Add(std::string_view label, std::string_view text) {
    if (!text.empty()) text_ += fmt::format("  {:<{}}  {}\n", label, kVerdictWidth - 2, text);
  }
  template <class List>
  void AddAll(std::string_view label, const List& list) {
    for (const std::string& item : list) {
      Add(label, item);
      label = "";
    }
  }
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

// ", saves 25 %", or nothing.
std::string Saved(double ratio) {
  return ratio < 1 ? fmt::format(", saves {:.3g} %", 100 * (1 - ratio)) : "";
}

std::string Cost(const CostReport& cost) {
  return fmt::format("{} -> {} sent per device, {} -> {} on {} (x {}{})",
                     FormatBytes(cost.before.bytes), FormatBytes(cost.after.bytes),
                     FormatSeconds(cost.before.seconds), FormatSeconds(cost.after.seconds),
                     cost.machine, FormatRatio(cost.ratio()), Saved(cost.ratio()));
}

// "ar: all-reduce by ring, 3 us; recursive doubling 4 us", per collective of one side.
void AddCollectives(std::string_view label, const CostSide& side, Lines* lines) {
  for (const CollectiveLine& c : side.collectives) {
    std::string text =
        fmt::format("{}: {} by {}, {}", c.instruction, c.opcode,
                    c.algorithm.empty() ? "nothing" : c.algorithm, FormatSeconds(c.seconds));
    if (c.turns != 1) text += fmt::format(" in {:.6g} turns", c.turns);
    if (!c.next_best.empty()) {
      text += fmt::format("; {} would take {}", c.next_best, FormatSeconds(c.next_best_seconds));
    }
    lines->Add(label, text);
    label = "";
  }
  for (const LevelBytes& level : side.levels) {
    if (level.bytes == 0) continue;
    lines->Add(label, fmt::format("{} over {}", FormatBytes(level.bytes), level.level));
    label = "";
  }
}

void AddMeasured(const MeasuredCost& measured, Lines* lines) {
  lines->Add("measured",
             fmt::format("{} -> {} on this engine (x {}{}), medians of {} rounds",
                         FormatSeconds(measured.before), FormatSeconds(measured.after),
                         FormatRatio(measured.ratio()), Saved(measured.ratio()), measured.rounds));
  if (measured.private_results) return;
  lines->Add("",
             "devices share one copy of equal results, which hides part of what a smaller result "
             "saves; --collective-results=private gives each its own");
}

void AddCost(const CostReport& cost, bool verbose, Lines* lines) {
  lines->Add("cost", Cost(cost));
  if (!verbose) return;
  AddCollectives("before", cost.before, lines);
  AddCollectives("after", cost.after, lines);
}

std::string InputText(const InputElement& element) {
  const std::string name = element.parameter_name.empty()
                               ? fmt::format("parameter {}", element.parameter)
                               : element.parameter_name;
  return fmt::format("{}{} = {} on device ({})", name, Index(element.index), element.value,
                     element.device);
}

void AddCounterexample(const Counterexample& example, Lines* lines) {
  lines->Add("where", fmt::format("device ({}), output {}, index {}", example.device,
                                  example.output, Index(example.index)));
  lines->Add("values", fmt::format("before {}, after {}", example.before, example.after));
  std::string_view label = "input";
  if (!example.inputs.empty()) {
    lines->Add(label, example.inputs);
    label = "";
  }
  for (const InputElement& element : example.elements) {
    lines->Add(label, InputText(element));
    label = "";
  }
  lines->Add("that is", example.explanation);
  lines->Add("before at", example.first_diverging_before);
  lines->Add("after at", example.first_diverging_after);
  lines->Add("reproduce", example.reproduce);
}

void AddSmaller(const SmallerFailure& smaller, Lines* lines) {
  lines->Add(
      "smallest",
      fmt::format("{} x {}: devices ({}){}", CountOf(smaller.replicas, "replica"),
                  CountOf(smaller.partitions, "partition"), fmt::join(smaller.devices, ") ("),
                  smaller.closed ? ", as they are" : ", groups cut to these"));
  if (const auto& c = smaller.counterexample) {
    lines->Add("", fmt::format("there device ({}), output {}, index {}: before {}, after {}",
                               c->device, c->output, Index(c->index), c->before, c->after));
  }
  if (!smaller.cycle.empty()) {
    lines->Add("", fmt::format("there ({})", fmt::join(smaller.cycle, ") -> (")));
  }
}

void AddSuspect(const SuspectReport& suspect, Lines* lines) {
  lines->Add("suspect", fmt::format("{} before, {} after", suspect.before, suspect.after));
  lines->Add("alone", suspect.counterexample);
  lines->Add("to run it", "--json holds both as modules of their own: before_hlo, after_hlo");
}

// "(0,1) to (0,7), (1,2)": devices by name, in the order given, runs of neighbours as one.
std::string Devices(const std::vector<std::string>& names, int64_t partitions) {
  const auto id_of = [&](const std::string& name) {
    const size_t comma = name.find(',');
    return std::stoll(name.substr(0, comma)) * partitions + std::stoll(name.substr(comma + 1));
  };
  std::string text;
  for (size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    end = begin + 1;
    while (end < names.size() && id_of(names[end]) == id_of(names[end - 1]) + 1) ++end;
    if (end - begin < 3) end = begin + 1;
    text += fmt::format("{}({})", text.empty() ? "" : ", ", names[begin]);
    if (end - begin > 1) text += fmt::format(" to ({})", names[end - 1]);
  }
  return text;
}

// Devices in a row that wait at one place for the same ones share a line.
void AddDeadlock(const CaseReport& report, Lines* lines) {
  if (!report.stalled.empty()) lines->Add("stalled", fmt::format("the {} module", report.stalled));
  const std::vector<WaitingDevice>& waiting = report.waiting;
  for (size_t begin = 0, end = 0; begin < waiting.size(); begin = end) {
    const WaitingDevice& first = waiting[begin];
    std::vector<std::string> alike;
    for (; end < waiting.size() && waiting[end].instruction == first.instruction &&
           waiting[end].signature == first.signature && waiting[end].waits_for == first.waits_for;
         ++end) {
      alike.push_back(waiting[end].device);
    }
    std::string text =
        fmt::format("{} at {}", Devices(alike, report.partitions), first.instruction);
    if (!first.signature.empty()) text += fmt::format(": {}", first.signature);
    if (!first.waits_for.empty()) {
      text += ", for " + Devices(first.waits_for, report.partitions);
    }
    lines->Add(begin == 0 ? "waiting" : "", text);
  }
  if (!report.cycle.empty()) {
    lines->Add("cycle", fmt::format("({})", fmt::join(report.cycle, ") -> (")));
  }
}

void AddEvidence(const CaseReport& report, Lines* lines) {
  std::string_view label = "evidence";
  for (const Evidence& evidence : report.evidence) {
    std::string text = evidence.method;
    if (!evidence.detail.empty()) text += ": " + evidence.detail;
    if (evidence.miss_bound && *evidence.miss_bound > 0) {
      text += fmt::format(" (chance of a miss <= {})", FormatChance(*evidence.miss_bound));
    }
    lines->Add(label, text);
    label = "";
  }
}

void AddDecisions(const CaseReport& report, Lines* lines) {
  std::string_view label = "passes";
  for (const PassDecision& decision : report.decisions) {
    lines->Add(label, fmt::format("{} at {}: {}", decision.pass, decision.instruction,
                                  decision.fired ? "fired" : decision.reason));
    label = "";
  }
}

// One line each: the program prints them with source line and caret where it prints diagnostics.
void AddDiagnostics(const CaseReport& report, Lines* lines) {
  std::string_view label = "because";
  for (Diagnostic diagnostic : report.diagnostics) {
    diagnostic.source_line.clear();
    const std::string text = FormatDiagnostic(diagnostic);
    for (std::string_view line : SplitText(text, '\n')) {
      lines->Add(label, line);
      label = "";
    }
  }
}

}  // namespace

std::string CaseLine(const CaseReport& report, bool color) {
  std::string line = Heading(report, color);
  if (report.cost) line += fmt::format("  [cost x {}]", FormatRatio(report.cost->ratio()));
  return line + "\n";
}

std::string CaseBlock(const CaseReport& report, bool verbose, bool color) {
  Lines lines;
  if (report.verdict != Verdict::kInvalid) {
    lines.Add("devices", fmt::format("{} x {}", CountOf(report.replicas, "replica"),
                                     CountOf(report.partitions, "partition")));
  }
  lines.Add("file", report.file);
  if (report.diagnostics.empty()) lines.Add("because", report.reason);
  AddDiagnostics(report, &lines);
  if (report.counterexample) AddCounterexample(*report.counterexample, &lines);
  if (report.suspect) AddSuspect(*report.suspect, &lines);
  AddDeadlock(report, &lines);
  if (report.smaller) AddSmaller(*report.smaller, &lines);
  AddEvidence(report, &lines);
  lines.AddAll("assuming", report.assumptions);
  lines.AddAll("note", report.notes);
  lines.AddAll("terms", report.normal_forms);
  if (verbose) AddDecisions(report, &lines);
  if (report.cost) AddCost(*report.cost, verbose, &lines);
  if (report.measured) AddMeasured(*report.measured, &lines);
  return Heading(report, color) + "\n" + std::move(lines).Take();
}

}  // namespace hv
