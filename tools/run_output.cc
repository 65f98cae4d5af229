#include "tools/run_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "hlo/op_listing.h"
#include "hlo/op_rounding.h"
#include "report/units.h"

namespace hv {
namespace {

enum class Ending { kAgrees, kRan, kDiffers, kDeadlock, kUnsupported, kInvalid, kMemory, kTimeout };

Ending EndingOf(const CaseRun& run) {
  if (run.agrees && *run.agrees) return Ending::kAgrees;
  if (run.error) {
    switch (run.error->kind) {
      case ErrorKind::kUnsupported:
        return Ending::kUnsupported;
      case ErrorKind::kMemory:
        return Ending::kMemory;
      case ErrorKind::kTime:
        return Ending::kTimeout;
      case ErrorKind::kInvalid:
        return Ending::kInvalid;
    }
  }
  if (run.stall) return Ending::kDeadlock;
  return run.agrees ? Ending::kDiffers : Ending::kRan;
}

constexpr std::string_view kWords[] = {"agrees",      "ran",     "DIFFERS", "DEADLOCK",
                                       "unsupported", "INVALID", "memory",  "timeout"};
constexpr std::string_view kErrorKinds[] = {"invalid", "unsupported", "memory", "timeout"};

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string Colored(std::string_view word, Ending ending, bool color) {
  if (!color) return std::string(word);
  const char* code = ending == Ending::kAgrees || ending == Ending::kRan ? "32"
                     : ending == Ending::kUnsupported                    ? "33"
                                                                         : "31";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, word);
}

std::string WhyNot(const CaseRun& run) {
  if (run.error) return run.error->diagnostics[0].message;
  if (run.stall) {
    std::string text = run.stall->ToString();
    return text.substr(0, text.find('\n'));
  }
  return run.difference;
}

std::string ErrorJson(const CaseRun& run) {
  if (run.stall) {
    return "{\"kind\": \"deadlock\", \"message\": " + Quoted(run.stall->ToString()) + "}";
  }
  std::string json = fmt::format("{{\"kind\": \"{}\", \"message\": ",
                                 kErrorKinds[static_cast<size_t>(run.error->kind)]);
  const SourcePlace& place = run.error->diagnostics[0].place;
  json += Quoted(run.error->Message());
  if (!place.file.empty()) json += ", \"file\": " + Quoted(place.file);
  if (place.line > 0) {
    json += fmt::format(", \"line\": {}, \"column\": {}", place.line, place.column);
  }
  return json + "}";
}

}  // namespace

std::string RunJson(const CaseRun& run, bool with_outputs) {
  std::string json = "{\"module\": " + Quoted(run.name);
  const std::string agrees = !run.agrees ? "null" : *run.agrees ? "true" : "false";
  if (run.error || run.stall) {
    json += ", \"error\": " + ErrorJson(run);
    if (run.agrees) json += ", \"agrees\": " + agrees;
    return json + "}";
  }
  json += fmt::format(", \"replica_count\": {}, \"partition_count\": {}", run.mesh.replicas,
                      run.mesh.partitions);
  if (with_outputs) {
    json += ", \"outputs\": {";
    for (size_t d = 0; d < run.outputs.size(); ++d) {
      json += fmt::format("{}\"{}\": {}", d > 0 ? ", " : "",
                          run.mesh.NameOf(DeviceId(static_cast<int64_t>(d))), run.outputs[d]);
    }
    json += "}";
  }
  return json + fmt::format(", \"seconds\": {:.6f}, \"peak_bytes\": {}, \"agrees\": {}}}",
                            run.seconds, run.peak_bytes, agrees);
}

std::string RunsJson(const std::vector<CaseRun>& runs, bool with_outputs) {
  std::string json = "{\"cases\": [\n";
  for (size_t i = 0; i < runs.size(); ++i) {
    json += RunJson(runs[i], with_outputs) + (i + 1 < runs.size() ? ",\n" : "\n");
  }
  int64_t agree = 0;
  for (const CaseRun& run : runs) agree += run.agrees.value_or(false);
  return json +
         fmt::format("], \"totals\": {{\"cases\": {}, \"agree\": {}}}}}", runs.size(), agree);
}

std::string RunText(const CaseRun& run, const RunTextOptions& options) {
  if (run.error && !run.agrees) return {};  // stderr has it
  std::string text = fmt::format("{}: {} x {}", run.name, CountOf(run.mesh.replicas, "replica"),
                                 CountOf(run.mesh.partitions, "partition"));
  const Ending ending = EndingOf(run);
  if (options.verbose) {
    text += fmt::format(", {:.3f} ms, {} bytes at the peak", run.seconds * 1e3, run.peak_bytes);
  }
  text += '\n';
  for (size_t d = 0; options.with_outputs && d < run.texts.size(); ++d) {
    text +=
        fmt::format("  {}: {}\n", run.mesh.NameOf(DeviceId(static_cast<int64_t>(d))), run.texts[d]);
  }
  if (run.stall) text += run.stall->ToString();
  if (run.agrees) text += Colored(kWords[static_cast<size_t>(ending)], ending, options.color);
  if (run.agrees && !*run.agrees) text += ": " + run.difference;
  if (run.agrees) text += '\n';
  return text;
}

std::string RunLine(const CaseRun& run, bool color) {
  const Ending ending = EndingOf(run);
  const std::string word =
      Colored(fmt::format("{:<11}", kWords[static_cast<size_t>(ending)]), ending, color);
  const bool good = ending == Ending::kAgrees || ending == Ending::kRan;
  return fmt::format("{} {}{}{}\n", word, run.label, good ? "" : ": ", good ? "" : WhyNot(run));
}

std::string RunsSummary(const std::vector<CaseRun>& runs) {
  int64_t counts[std::size(kWords)] = {};
  for (const CaseRun& run : runs) ++counts[static_cast<size_t>(EndingOf(run))];
  std::string text = CountOf(static_cast<int64_t>(runs.size()), "case") + ":";
  for (size_t e = 0; e < std::size(kWords); ++e) {
    if (counts[e] > 0) {
      text += fmt::format("{} {} {}", text.back() == ':' ? "" : ",", counts[e], kWords[e]);
    }
  }
  return text + '\n';
}

std::string ListOps() {
  std::string text;
  for (int i = 0; i < kOpcodeCount; ++i) {
    const OpDef& op = Definition(static_cast<Opcode>(i));
    text += fmt::format("{:<28} {:<11} {:<7} {} [{}]\n", ToString(op.opcode), ToString(op.kernel),
                        DomainsOf(op), op.doc, RoundingOf(op));
  }
  return text;
}

}  // namespace hv
