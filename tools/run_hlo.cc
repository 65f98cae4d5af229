// run_hlo: executes HLO modules on every device of their mesh and prints the outputs, or checks
// them against a case. Exit codes: 0 fine, 2 bad input, 10 a mismatch or a deadlock, 70 internal
// error.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "hlo/op_listing.h"
#include "report/text.h"
#include "sim/memory_limit.h"
#include "tools/command_line.h"
#include "tools/output_file.h"
#include "tools/program.h"
#include "tools/run_case.h"
#include "tools/run_output.h"
#include "verify/report_model.h"

namespace hv {
namespace {

struct Flags {
  std::vector<std::string> modules, cases, custom_calls;
  std::string inputs, json, trace, list_ops;
  std::optional<int64_t> replicas, partitions, memory_limit_bytes;
  Workers workers;
  int64_t max_loop_steps = 10'000'000;
  std::optional<double> timeout;
  std::string expected_key;
  uint64_t seed = 0;
  int order = 0, accumulate = 0, color = 0;
  bool no_outputs = false, quiet = false, verbose = false;
};

constexpr std::string_view kOrders[] = {"group", "ring", "tree", "random", "mpi"};
constexpr std::string_view kAccumulate[] = {"element", "f32"};
constexpr std::string_view kColors[] = {"auto", "always", "never"};

void Declare(CommandLine* line, Flags* f) {
  line->Positionals("module", &f->modules, "HLO files, or folders that are cases; - is stdin");
  line->Text("--inputs", &f->inputs, "case.json: inputs of each device and expected outputs");
  line->Texts("--cases", &f->cases, "folders of cases (each with case.json and its module)");
  line->Text("--expected-key", &f->expected_key, "key of case.json that holds what is expected");
  line->Unsigned("--seed", &f->seed, "seed of generated inputs, random orders and rng");
  line->Integer("--replicas", &f->replicas, "replicas, if the module header does not say");
  line->Integer("--partitions", &f->partitions, "partitions, if the module header does not say");
  f->workers.Declare(line);
  line->Choice("--reduction-order", kOrders, &f->order, "order in which members are reduced");
  line->Choice("--accumulate", kAccumulate, &f->accumulate,
               "type in which narrow floats are summed");
  line->Bytes("--memory-limit", &f->memory_limit_bytes, "refuse runs that need more, e.g. 4GiB");
  line->Integer("--max-loop-steps", &f->max_loop_steps,
                "loop iterations a device may take, over all loops; 0: no limit");
  line->Real("--timeout", &f->timeout, "seconds a module may run");
  line->OptionalText("--json", &f->json, "print one JSON document, or write it to a file");
  line->Flag("--no-outputs", &f->no_outputs, "leave the outputs out");
  line->Text("--trace", &f->trace, "write a timeline (Chrome trace format)");
  line->Texts("--custom-call", &f->custom_calls,
              "TARGET=module.hlo: calls of the target run that module's ENTRY");
  line->OptionalText("--list-ops", &f->list_ops, "list the op table (=markdown: docs/ops.md) and stop");
  line->Choice("--color", kColors, &f->color, "color of the text");
  line->Flag("-q,--quiet", &f->quiet, "print failures and the summary only");
  line->Flag("-v,--verbose", &f->verbose, "print times and memory");
}

// A folder with a case is one; any other folder holds cases.
void AddCases(const std::string& path, std::vector<CaseFolder>* found) {
  const CaseFolder own = FindCase(path);
  if (!own.module_path.empty()) {
    found->push_back(own);
    return;
  }
  std::error_code error;
  std::vector<std::string> inner;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_directory()) inner.push_back(entry.path());
  }
  std::sort(inner.begin(), inner.end());
  for (const std::string& folder : inner) AddCases(folder, found);
}

Result<std::vector<CaseFolder>> FindRuns(const Flags& flags) {
  std::vector<CaseFolder> runs;
  for (const std::string& folder : flags.cases) {
    const size_t before = runs.size();
    AddCases(folder, &runs);
    if (runs.size() == before) return Invalid("no-cases", "no case in " + folder);
  }
  for (const std::string& module : flags.modules) {
    if (std::filesystem::is_directory(module)) {
      AddCases(module, &runs);
    } else {
      runs.push_back({module, flags.inputs});
    }
  }
  if (runs.empty()) return Invalid("no-module", "no module given; --help shows how");
  return runs;
}

Result<RunSettings> SettingsOf(const Flags& flags) {
  RunSettings settings;
  settings.replicas = flags.replicas;
  settings.partitions = flags.partitions;
  settings.seed = flags.seed;
  settings.order = static_cast<ReductionOrder>(flags.order);
  settings.accumulate_wide = flags.accumulate == 1;
  settings.expected_key = flags.expected_key;
  settings.keep_outputs = !flags.no_outputs;
  settings.trace_file = flags.trace;
  if (flags.max_loop_steps < 0 || !(flags.timeout.value_or(1) > 0)) {
    return Invalid("flag-value",
                   "--max-loop-steps must not be negative, --timeout must be positive");
  }
  settings.max_loop_steps = flags.max_loop_steps;
  settings.timeout_seconds = flags.timeout.value_or(0);
  settings.memory_limit_bytes =
      flags.memory_limit_bytes ? *flags.memory_limit_bytes : DefaultMemoryLimit();
  HV_ASSIGN(settings.custom_calls, ReadCustomCallDefinitions(flags.custom_calls));
  return settings;
}

Status Print(const Flags& flags, const std::vector<CaseRun>& runs, bool many) {
  for (const CaseRun& run : runs) {
    for (const std::string& note : run.notes) {
      if (!flags.quiet) std::fprintf(stderr, "note: %s\n", note.c_str());
    }
  }
  const bool color =
      WantsColor(kColors[static_cast<size_t>(flags.color)], isatty(1) != 0, LaunchedRanks() > 0);
  if (!many && runs[0].error && !runs[0].agrees) {
    std::fputs(FormatError(*runs[0].error).c_str(), stderr);
  }
  std::string document;
  if (!flags.json.empty()) {
    document =
        (many ? RunsJson(runs, !flags.no_outputs) : RunJson(runs[0], !flags.no_outputs)) + "\n";
  }
  if (!flags.json.empty()) HV_RETURN_IF_ERROR(WriteOutput(flags.json, document));
  if (flags.json == "-") return {};
  if (!many) {
    const RunTextOptions options{!flags.no_outputs && !flags.quiet, flags.verbose, color};
    return WriteOutput("-", RunText(runs[0], options));
  }
  std::string text;
  for (const CaseRun& run : runs) {
    if (!flags.quiet || run.exit_code != kExitOk) text += RunLine(run, color);
  }
  return WriteOutput("-", text + RunsSummary(runs));
}

int Run(const Flags& flags, Session* session) {
  const Result<std::vector<CaseFolder>> found = FindRuns(flags);
  if (!found) return Fail(found.error(), session->IsFirst());
  const Result<RunSettings> settings = SettingsOf(flags);
  if (!settings) return Fail(settings.error(), session->IsFirst());
  std::vector<CaseRun> runs;
  int code = kExitOk;
  for (const CaseFolder& files : *found) {
    runs.push_back(RunCase(files.module_path, files.case_path, *settings, &session->transport()));
    code = WorseExitCode(code, runs.back().exit_code);
  }
  if (!session->IsFirst()) return code;
  const Status printed = Print(flags, runs, runs.size() > 1 || !flags.cases.empty());
  return printed ? code : WorseExitCode(code, Fail(printed.error(), true));
}

int Main(int argc, char** argv) {
  Flags flags;
  CommandLine line("run_hlo", "Executes HLO modules on every device of their mesh.");
  Declare(&line, &flags);
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  if (!flags.list_ops.empty()) {
    return PrintOnce(flags.list_ops == "markdown" ? OpTableMarkdown() : ListOps());
  }
  std::vector<std::string> inputs = flags.modules;
  inputs.push_back(flags.inputs);
  return RunOnRanks(flags.workers, inputs, argc, argv,
                    [&](Session* session) { return Run(flags, session); });
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) {
  hv::PrepareStreams();
  return hv::Main(argc, argv);
}
