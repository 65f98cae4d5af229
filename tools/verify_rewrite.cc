// verify_rewrite: does a rewrite of collectives compute the same? Exit codes: 0 every case as
// expected, 2 bad input, 10 a missed expectation, 11 something unknown, 70 internal error; the same
// on every rank. Verdicts go to standard output, diagnostics to standard error, both from rank 0.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include "base/text.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/sarif.h"
#include "report/summary.h"
#include "report/text.h"
#include "sim/self_test.h"
#include "tools/command_line.h"
#include "tools/decision_output.h"
#include "tools/output_file.h"
#include "tools/program.h"
#include "tools/run_output.h"
#include "tools/smaller_output.h"
#include "tools/verify_command.h"
#include "verify/verify.h"

namespace hv {
namespace {

void PrintDiagnostics(const Report& report) {
  for (const CaseReport& c : report.cases) {
    if (c.diagnostics.empty() || c.as_expected) continue;
    std::fputs(FormatError(Error{ErrorKind::kInvalid, c.diagnostics}).c_str(), stderr);
  }
}

Status Print(const VerifyFlags& flags, const Report& report) {
  PrintDiagnostics(report);
  const std::pair<std::string, std::function<std::string()>> files[] = {
      {flags.junit, [&] { return RenderJunit(report, flags.fail_on); }},
      {flags.sarif, [&] { return RenderSarif(report, flags.fail_on); }},
      {flags.summary, [&] { return RenderSummary(report); }},
      {flags.json, [&] { return RenderJson(report); }}};
  for (const auto& [file, render] : files) {
    if (!file.empty()) HV_RETURN_IF_ERROR(WriteOutput(file, render()));
  }
  if (!flags.write_minimized.empty()) {
    HV_RETURN_IF_ERROR(WriteSmallerModules(report, flags.write_minimized));
  }
  if (flags.json == "-") return {};
  const bool color = WantsColor(flags.color, isatty(1) != 0, LaunchedRanks() > 0);
  return WriteOutput("-", RenderText(report, {flags.verbosity, color}));
}

int RunSelfTest(Session* session) {
  const SelfTestResult result = SelfTest(&session->transport());
  if (!session->IsFirst()) return kExitOk;
  const int64_t ranks = session->transport().size();
  if (result.difference.empty()) {
    const Status told = WriteOutput("-", fmt::format("self-test: {} checks agree on {}\n",
                                                     result.checks, CountOf(ranks, "rank")));
    return told ? kExitOk : Fail(told.error(), true);
  }
  fmt::print(stderr, "error: self-test: {}\n", result.difference);
  return kExitInternal;
}

int Run(const VerifyFlags& flags, Session* session) {
  if (flags.self_test) return RunSelfTest(session);
  const Result<std::vector<Scenario>> scenarios = CollectScenarios(flags.scenario);
  if (!scenarios) return Fail(scenarios.error(), session->IsFirst());
  const VerifyOptions options{std::string(ProgramVersion()), flags.fail_on};
  const Report report = Verify(*scenarios, options, &session->transport());
  if (!session->IsFirst()) return report.exit_code;
  const Status printed = Print(flags, report);
  return printed ? report.exit_code : WorseExitCode(report.exit_code, Fail(printed.error(), true));
}

int Main(int argc, char** argv) {
  VerifyFlags flags;
  if (const std::optional<int> code = ParseVerifyCommand(argc, argv, &flags)) return *code;
  if (flags.print_schema) return PrintOnce(std::string(ScenarioSchema()));
  if (flags.list_ops) return PrintOnce(ListOps());
  if (flags.list_passes) return PrintOnce(ListPasses(false));
  std::vector<std::string> inputs = flags.scenario.files;
  inputs.push_back(flags.scenario.inputs);
  return RunOnRanks(flags.workers, inputs, argc, argv,
                    [&](Session* session) { return Run(flags, session); });
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) {
  hv::PrepareStreams();
  return hv::Main(argc, argv);
}
