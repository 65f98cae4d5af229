// rewrite_hlo: applies passes to an HLO module, prints the result, says of every candidate why it
// did or did not match. Exit codes: 0, or 2 for a bad command line, bad HLO or a pass that broke
// the module.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "hlo/parser.h"
#include "hlo/printer.h"
#include "hlo/validator.h"
#include "passes/registry.h"
#include "tools/command_line.h"
#include "tools/decision_output.h"
#include "tools/output_file.h"
#include "tools/program.h"
#include "verify/report_model.h"

namespace hv {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::string passes;
  std::string output = "-";
  std::optional<int64_t> replicas, partitions;
  bool explain = false, list_passes = false, all = false, allow_dearer = false, json = false;
  std::string module_name;  // for errors, once known
};

std::optional<int> ReadArguments(int argc, char** argv, Arguments* a) {
  CommandLine line("rewrite_hlo", "Applies passes to an HLO module and prints the result.");
  line.Positionals("module.hlo", &a->files, "HLO text to rewrite; - is standard input");
  line.Text("--passes", &a->passes, "passes, a,b{option=value,...}; none: parse, validate, print");
  line.Text("-o,--output", &a->output, "file to write when everything succeeded; - is stdout");
  line.Flag("--explain", &a->explain, "say on stderr why each candidate did or did not match");
  line.Flag("--list-passes", &a->list_passes, "list the passes and leave");
  line.Flag("--all", &a->all, "with --list-passes: the deliberately wrong twins too");
  line.Integer("--replicas", &a->replicas, "replica count, if the module header has none");
  line.Integer("--partitions", &a->partitions, "partition count, if the module header has none");
  line.Flag("--allow-dearer", &a->allow_dearer,
            "let guarded passes fire where the old collective stays for other readers");
  line.Flag("--json", &a->json, "decisions and result as one JSON document on stdout");
  return line.Parse(argc, argv);
}

Result<int64_t> Choose(std::optional<int64_t> asked, std::optional<int64_t> header, int64_t deduced,
                       const char* what) {
  if (asked && *asked < 1) {
    return Invalid("mesh-count", std::string(what) + " must be at least 1");
  }
  if (asked && header && *asked != *header) {
    return Invalid("mesh-contradicts-header", std::string("the module header says ") + what + "=" +
                                                  std::to_string(*header) + ", the command line " +
                                                  std::to_string(*asked));
  }
  return asked ? *asked : header.value_or(deduced);
}

Result<DeviceCounts> ChooseCounts(const Arguments& a, const Module& module) {
  const DeviceCounts deduced = DeduceCounts(module);
  DeviceCounts counts;
  HV_ASSIGN(counts.replicas,
            Choose(a.replicas, module.replica_count, deduced.replicas, "replica_count"));
  HV_ASSIGN(counts.partitions,
            Choose(a.partitions, module.num_partitions, deduced.partitions, "num_partitions"));
  return counts;
}

Result<std::vector<PassCall>> ChoosePasses(const Arguments& a) {
  HV_ASSIGN(std::vector<PassCall> calls, ParsePasses(a.passes));
  for (PassCall& call : calls) {
    const auto option = call.options.find("allow_dearer");
    if (a.allow_dearer && option != call.options.end()) option->second = "true";
  }
  return calls;
}

Status Rewrite(Arguments* a) {
  if (a->files.size() != 1) return Invalid("command-line", "expected one HLO module (- is stdin)");
  HV_ASSIGN(const std::vector<PassCall> calls, ChoosePasses(*a));
  HV_ASSIGN(const Module module, ParseModuleFile(a->files[0]));
  a->module_name = module.name;
  HV_ASSIGN(const DeviceCounts counts, ChooseCounts(*a, module));
  HV_RETURN_IF_ERROR(Validate(module, counts));

  const PipelineResult result = RunPasses(calls, module, counts);
  if (a->explain) {
    for (const RewriteDecision& decision : result.decisions) {
      std::fprintf(stderr, "%s\n", ExplainLine(module, decision).c_str());
    }
  }
  if (!result.broken_by.empty()) {
    Error error = result.broken;
    for (Diagnostic& diagnostic : error.diagnostics) {
      diagnostic.message =
          "pass " + result.broken_by + " made an invalid module: " + diagnostic.message;
    }
    return tl::make_unexpected(std::move(error));
  }
  const std::string text = PrintModule(result.module);
  if (!a->json || a->output != "-") HV_RETURN_IF_ERROR(WriteOutput(a->output, text));
  if (!a->json) return {};
  return WriteOutput("-", RewriteJson(module, result, a->output == "-" ? text : ""));
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (const std::optional<int> exit_code = ReadArguments(argc, argv, &arguments)) return *exit_code;
  const Status status =
      arguments.list_passes ? WriteOutput("-", ListPasses(arguments.all)) : Rewrite(&arguments);
  if (status) return kExitOk;
  Fail(status.error(), true);
  if (!arguments.json) return kExitBadInput;
  const Status told = WriteOutput("-", RewriteErrorJson(arguments.module_name, status.error()));
  return told ? kExitBadInput : Fail(told.error(), true);
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) {
  hv::PrepareStreams();
  return hv::Main(argc, argv);
}
