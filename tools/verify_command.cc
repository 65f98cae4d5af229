#include "tools/verify_command.h"

#include "sim/mpi_session.h"
#include "tools/command_line.h"
#include "tools/program.h"

namespace hv {
namespace {

constexpr std::string_view kFailOn[] = {"unknown", "refuted"};
constexpr std::string_view kLevels[] = {"real", "reassociation", "bitwise"};
constexpr std::string_view kColors[] = {"auto", "always", "never"};

// Flags, and what of them takes a second look.
struct RawFlags {
  VerifyFlags flags;
  int fail_on = 0, color = 0;
  int mode = -1, expect = -1, min_level = -1, results = -1;  // -1: not given
  bool explain = false, quiet = false, verbose = false;
};

void DeclareScenario(CommandLine* line, RawFlags* raw) {
  ScenarioFlags& s = raw->flags.scenario;
  line->Positionals("scenario", &s.files,
                    "scenario files, folders of them, before.hlo after.hlo, or one HLO file");
  line->Text("--passes", &s.passes, "rewrite one HLO file: PASS,PASS{option=value},...");
  line->Text("--pass-command", &s.pass_command,
             "rewrite one HLO file by a command that reads and writes HLO text");
  line->Texts("--custom-call", &s.custom_calls,
              "TARGET=module.hlo: calls of the target run that module's ENTRY");
  line->Integer("--replicas", &s.replicas, "replicas, if the module header does not say");
  line->Integer("--partitions", &s.partitions, "partitions, if the module header does not say");
  line->Integer("--seed", &s.seed, "seed of codes and generated inputs");
  line->Integer("--trials", &s.trials, "native runs of each kind where codes cannot tell");
  line->Choice("--mode", kModeWords, &raw->mode, "prove tries longer for a proof");
  line->Real("--timeout", &s.timeout_seconds, "seconds a case may take; more: UNKNOWN, timeout");
  line->Bytes("--memory-limit", &s.memory_limit_bytes, "no run that needs more, e.g. 4GiB");
  line->Choice("--expect", kExpectationWords, &raw->expect, "the verdict that is right");
  line->Choice("--min-level", kLevels, &raw->min_level, "weakest proof that will do");
  line->Text("--inputs", &s.inputs, "case.json with explicit inputs, run besides the others");
  line->Text("--ranges", &s.ranges, "ranges of generated inputs: PARAMETER=LOW:HIGH,...");
  line->Text("--replicated", &s.replicated, "parameters equal on all devices: 0,2");
  line->Flag("--explain-proof", &s.explain_proof,
             "print the normal forms that the prover compared");
  line->Flag("--minimize-topology", &s.minimize_topology,
             "look for the smallest mesh on which a case fails");
  line->Flag("--ignore-claims", &s.ignore_claims, "do not assume what shardings claim");
  line->Text("--machine", &s.machine, "machine for the cost of collectives, a name or a file");
  line->Real("--max-cost-ratio", &s.max_cost_ratio, "fail a rewrite that costs more than this");
  line->Flag("--measure", &s.measure, "time before and after on this engine too");
  line->Choice("--collective-results", kCollectiveResultWords, &raw->results,
               "private: every device holds its own copy of what a collective yields");
}

void Declare(CommandLine* line, RawFlags* raw) {
  DeclareScenario(line, raw);
  VerifyFlags* const f = &raw->flags;
  f->workers.Declare(line);
  line->Choice("--fail-on", kFailOn, &raw->fail_on, "refuted: an UNKNOWN verdict does not fail");
  line->OptionalText("--json", &f->json, "print one JSON document, or write it to a file");
  line->Text("--junit", &f->junit, "write a JUnit report");
  line->Text("--sarif", &f->sarif, "write a SARIF report for code scanning");
  line->Text("--summary", &f->summary, "write a summary in GitHub markdown");
  line->Text("--write-minimized", &f->write_minimized,
             "write the modules of the smallest failures to a folder; --minimize-topology");
  line->Flag("--self-test", &f->self_test,
             "check every collective over the ranks in use, before a pass is blamed, and stop");
  line->Flag("--explain", &raw->explain, "print what the passes decided about each candidate");
  line->Flag("--print-schema", &f->print_schema, "print the JSON schema of scenarios and stop");
  line->Flag("--list-ops", &f->list_ops, "list the op table and stop");
  line->Flag("--list-passes", &f->list_passes, "list the passes and stop");
  line->Choice("--color", kColors, &raw->color, "color of the text");
  line->Flag("-q,--quiet", &raw->quiet, "print missed expectations and totals only");
  line->Flag("-v,--verbose", &raw->verbose, "print every case in full");
}

Result<VerifyFlags> Resolve(RawFlags raw) {
  VerifyFlags flags = std::move(raw.flags);
  ScenarioFlags& s = flags.scenario;
  if (raw.mode >= 0) s.mode = static_cast<Mode>(raw.mode);
  if (raw.expect >= 0) s.expect = static_cast<Expectation>(raw.expect);
  if (raw.min_level >= 0) s.min_level = ParseLevel(kLevels[static_cast<size_t>(raw.min_level)]);
  if (raw.results >= 0) s.private_results = raw.results == 1;
  s.minimize_topology |= !flags.write_minimized.empty();
  flags.fail_on = static_cast<FailOn>(raw.fail_on);
  flags.color = kColors[static_cast<size_t>(raw.color)];
  flags.verbosity = raw.quiet                    ? Verbosity::kQuiet
                    : raw.verbose || raw.explain ? Verbosity::kVerbose
                                                 : Verbosity::kNormal;
  return flags;
}

}  // namespace

std::optional<int> ParseVerifyCommand(int argc, char** argv, VerifyFlags* flags) {
  RawFlags raw;
  CommandLine line("verify_rewrite", "Verifies rewrites of collectives in HLO modules.");
  Declare(&line, &raw);
  if (const std::optional<int> code = line.Parse(argc, argv)) return code;
  Result<VerifyFlags> resolved = Resolve(std::move(raw));
  if (!resolved) return Fail(resolved.error(), IsFirstLaunched());
  *flags = std::move(*resolved);
  return {};
}

}  // namespace hv
