// verify_rewrite: does a rewrite of collectives compute the same? Exit codes: 0 every case as
// expected, 2 bad input, 10 a missed expectation, 11 something unknown, 70 internal error; the same
// on every rank. Verdicts go to standard output, diagnostics to standard error, both from rank 0.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "report/json.h"
#include "report/junit.h"
#include "report/text.h"
#include "sim/mpi_session.h"
#include "tools/command_line.h"
#include "tools/decision_output.h"
#include "tools/output_file.h"
#include "tools/run_output.h"
#include "tools/self_launch.h"
#include "verify/flags.h"
#include "verify/verify.h"

namespace hv {
namespace {

constexpr std::string_view kFailOn[] = {"unknown", "refuted"};
constexpr std::string_view kLevels[] = {"real", "reassociation", "bitwise"};
constexpr std::string_view kColors[] = {"auto", "always", "never"};

struct Flags {
  ScenarioFlags scenario;
  std::string json, junit;
  int64_t ranks = 0;
  int fail_on = 0, color = 0, mode = -1, expect = -1, min_level = -1;
  bool explain = false, print_schema = false, list_ops = false, list_passes = false;
  bool quiet = false, verbose = false;
};

void DeclareScenario(CommandLine* line, Flags* f) {
  ScenarioFlags& s = f->scenario;
  line->Positionals("scenario", &s.files,
                    "scenario files, folders of them, before.hlo after.hlo, or one HLO file");
  line->Text("--passes", &s.passes, "rewrite one HLO file: PASS,PASS{option=value},...");
  line->Text("--pass-command", &s.pass_command,
             "rewrite one HLO file by a command that reads and writes HLO text");
  line->Integer("--replicas", &s.replicas, "replicas, if the module header does not say");
  line->Integer("--partitions", &s.partitions, "partitions, if the module header does not say");
  line->Integer("--seed", &s.seed, "seed of codes and generated inputs");
  line->Integer("--trials", &s.trials, "native runs of each kind where codes cannot tell");
  line->Choice("--mode", kModeWords, &f->mode, "prove tries longer for a proof");
  line->Real("--timeout", &s.timeout_seconds, "seconds a pass command may take");
  line->Choice("--expect", kExpectationWords, &f->expect, "the verdict that is right");
  line->Choice("--min-level", kLevels, &f->min_level, "weakest proof that will do");
  line->Text("--inputs", &s.inputs, "case.json with explicit inputs, run besides the others");
  line->Text("--ranges", &s.ranges, "ranges of generated inputs: PARAMETER=LOW:HIGH,...");
  line->Text("--replicated", &s.replicated, "parameters equal on all devices: 0,2");
  line->Flag("--ignore-claims", &s.ignore_claims, "do not assume what shardings claim");
  line->Text("--machine", &s.machine, "machine for the cost of collectives, a name or a file");
  line->Real("--max-cost-ratio", &s.max_cost_ratio, "fail a rewrite that costs more than this");
}

void Declare(CommandLine* line, Flags* f) {
  DeclareScenario(line, f);
  line->Integer("-n,--ranks", &f->ranks, "start again under mpirun on this many ranks");
  line->Choice("--fail-on", kFailOn, &f->fail_on, "refuted: an UNKNOWN verdict does not fail");
  line->OptionalText("--json", &f->json, "print one JSON document, or write it to a file");
  line->Text("--junit", &f->junit, "write a JUnit report");
  line->Flag("--explain", &f->explain, "print what the passes decided about each candidate");
  line->Flag("--print-schema", &f->print_schema, "print the JSON schema of scenarios and stop");
  line->Flag("--list-ops", &f->list_ops, "list the op table and stop");
  line->Flag("--list-passes", &f->list_passes, "list the passes and stop");
  line->Choice("--color", kColors, &f->color, "color of the text");
  line->Flag("-q,--quiet", &f->quiet, "print missed expectations and totals only");
  line->Flag("-v,--verbose", &f->verbose, "print every case in full");
}

// Choices that distinguish "not given" from a word.
void Resolve(Flags* f) {
  if (f->mode >= 0) f->scenario.mode = static_cast<Mode>(f->mode);
  if (f->expect >= 0) f->scenario.expect = static_cast<Expectation>(f->expect);
  if (f->min_level >= 0) {
    f->scenario.min_level = ParseLevel(kLevels[static_cast<size_t>(f->min_level)]);
  }
}

void PrintDiagnostics(const Report& report) {
  for (const CaseReport& c : report.cases) {
    if (c.diagnostics.empty() || c.as_expected) continue;
    std::fputs(FormatError(Error{ErrorKind::kInvalid, c.diagnostics}).c_str(), stderr);
  }
}

Status Print(const Flags& flags, const Report& report) {
  PrintDiagnostics(report);
  if (!flags.junit.empty()) {
    HV_RETURN_IF_ERROR(
        WriteOutput(flags.junit, RenderJunit(report, static_cast<FailOn>(flags.fail_on))));
  }
  if (!flags.json.empty() && flags.json != "-") {
    HV_RETURN_IF_ERROR(WriteOutput(flags.json, RenderJson(report)));
  }
  if (flags.json == "-") {
    std::fputs(RenderJson(report).c_str(), stdout);
    return {};
  }
  TextOptions options;
  options.verbosity = flags.quiet                      ? Verbosity::kQuiet
                      : flags.verbose || flags.explain ? Verbosity::kVerbose
                                                       : Verbosity::kNormal;
  options.color =
      WantsColor(kColors[static_cast<size_t>(flags.color)], isatty(1) != 0, LaunchedRanks() > 0);
  std::fputs(RenderText(report, options).c_str(), stdout);
  return {};
}

int Fail(const Error& error, bool is_first) {
  if (is_first) std::fputs(FormatError(error).c_str(), stderr);
  return kExitBadInput;
}

// Rank 0 prints, so it alone knows whether that worked.
int CodeOfFirstRank(int code, Transport* transport) {
  return std::stoi(transport->AllGather(std::to_string(code))[0]);
}

int Run(const Flags& flags) {
  Result<std::unique_ptr<Session>> session = StartSession();
  if (!session) return Fail(session.error(), true);
  const bool is_first = (*session)->IsFirst();
  const Result<std::vector<Scenario>> scenarios = CollectScenarios(flags.scenario);
  if (!scenarios) return Fail(scenarios.error(), is_first);
  const VerifyOptions options{std::string(ProgramVersion()), static_cast<FailOn>(flags.fail_on)};
  const Report report = Verify(*scenarios, options, &(*session)->transport());
  int code = report.exit_code;
  if (is_first) {
    if (const Status printed = Print(flags, report); !printed) code = Fail(printed.error(), true);
  }
  std::fflush(nullptr);
  return CodeOfFirstRank(code, &(*session)->transport());
}

int Main(int argc, char** argv) {
  Flags flags;
  CommandLine line("verify_rewrite", "Verifies rewrites of collectives in HLO modules.");
  Declare(&line, &flags);
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  Resolve(&flags);
  const std::string listing = flags.print_schema  ? std::string(ScenarioSchema())
                              : flags.list_ops    ? ListOps()
                              : flags.list_passes ? ListPasses(false)
                                                  : "";
  if (!listing.empty()) {
    if (IsFirstLaunched()) std::fputs(listing.c_str(), stdout);
    return kExitOk;
  }
  if (flags.ranks > 0 && LaunchedRanks() == 0) return LaunchRanks(flags.ranks, argc, argv);
  return Run(flags);
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) { return hv::Main(argc, argv); }
