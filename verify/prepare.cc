#include "verify/prepare.h"

#include <fmt/format.h>

#include "hlo/custom_call_definitions.h"
#include "hlo/parser.h"
#include "hlo/printer.h"
#include "hlo/validator.h"
#include "passes/registry.h"
#include "verify/pass_command.h"

namespace hv {
namespace {

Result<Module> Read(const HloSource& source) {
  if (!source.path.empty()) return ParseModuleFile(source.path);
  return ParseModule(source.label, source.text);
}

// The counts of a scenario win where the header is silent; a contradiction is an error.
Result<DeviceCounts> CountsOf(const Module& module, const Scenario& scenario) {
  DeviceCounts counts = DeduceCounts(module);
  const auto take = [&](const std::optional<int64_t>& stated, const std::optional<int64_t>& given,
                        std::string_view what, int64_t* count) -> Status {
    if (!given) return {};
    if (stated && *stated != *given) {
      return Invalid(
          "devices-contradict",
          fmt::format("the scenario asks for {} {}, the module states {}", *given, what, *stated),
          {module.context->file});
    }
    *count = *given;
    return {};
  };
  HV_RETURN_IF_ERROR(take(module.replica_count, scenario.replicas, "replicas", &counts.replicas));
  HV_RETURN_IF_ERROR(
      take(module.num_partitions, scenario.partitions, "partitions", &counts.partitions));
  return counts;
}

Status NotComparable(const Pair& pair, const std::string& why) {
  return Invalid("not-comparable", fmt::format("the modules cannot be compared: {}", why),
                 {pair.after.context->file});
}

std::vector<const Shape*> ParameterShapes(const Module& module) {
  std::vector<const Shape*> shapes(module.Entry().parameters.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    shapes[i] = module.Entry().At(module.Entry().parameters[i]).shape;
  }
  return shapes;
}

Status CheckComparable(const Pair& pair) {
  const auto before = ParameterShapes(pair.before), after = ParameterShapes(pair.after);
  if (before.size() != after.size()) {
    return NotComparable(
        pair, fmt::format("{} parameters before, {} after", before.size(), after.size()));
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (SameShape(*before[i], *after[i])) continue;
    return NotComparable(
        pair, fmt::format("parameter {} is {} before, {} after", i, ToString(*before[i], false),
                          ToString(*after[i], false)));
  }
  const Shape& old_result = *pair.before.Entry().Root().shape;
  const Shape& new_result = *pair.after.Entry().Root().shape;
  if (SameShape(old_result, new_result)) return {};
  return NotComparable(pair, fmt::format("the result is {} before, {} after",
                                         ToString(old_result, false), ToString(new_result, false)));
}

std::vector<PassDecision> Translate(const std::vector<RewriteDecision>& decisions) {
  std::vector<PassDecision> translated;
  for (const RewriteDecision& d : decisions) {
    translated.push_back({d.pass, d.instruction, d.fired, d.reason});
  }
  return translated;
}

std::string Joined(const std::vector<std::string>& passes) {
  std::string list;
  for (const std::string& pass : passes) list += (list.empty() ? "" : ",") + pass;
  return list;
}

std::variant<Prepared, PrepareError> RunOwnPasses(const Scenario& scenario, Module before,
                                                  DeviceCounts counts) {
  auto calls = ParsePasses(Joined(scenario.passes));
  if (!calls) {
    Error error = std::move(calls).error();
    for (Diagnostic& d : error.diagnostics) {
      if (d.place.file.empty()) d.place.file = scenario.file;
    }
    return PrepareError{std::move(error), false, {}};
  }
  PipelineResult result = RunPasses(*calls, before, counts);
  std::vector<PassDecision> decisions = Translate(result.decisions);
  if (!result.broken_by.empty()) {
    for (Diagnostic& d : result.broken.diagnostics) {
      d.notes.push_back("made by pass " + result.broken_by);
    }
    return PrepareError{std::move(result.broken), true, std::move(decisions)};
  }
  Prepared prepared{
      {std::move(before), std::move(result.module), Mesh{counts.replicas, counts.partitions}, 0},
      result.changed,
      std::move(decisions)};
  return prepared;
}

// A module after that comes as text; it takes the device counts of the one before where it states
// none.
std::variant<Prepared, PrepareError> ReadAfter(const HloSource& source, bool from_pass,
                                               Module before, DeviceCounts counts) {
  const auto failed = [&](Error error) { return PrepareError{std::move(error), from_pass, {}}; };
  auto after = Read(source);
  if (!after) return failed(std::move(after).error());
  Pair pair{std::move(before), std::move(*after), Mesh{counts.replicas, counts.partitions}, 0};
  const Module& m = pair.after;
  if (m.replica_count.value_or(counts.replicas) != counts.replicas ||
      m.num_partitions.value_or(counts.partitions) != counts.partitions) {
    return failed(
        NotComparable(pair, fmt::format("{} x {} devices before, {} x {} after", counts.replicas,
                                        counts.partitions, m.replicas(), m.partitions()))
            .error());
  }
  if (auto valid = Validate(m, counts); !valid) return failed(std::move(valid).error());
  const bool changed = !SameModule(pair.before, pair.after, nullptr);
  return Prepared{std::move(pair), changed, {}};
}

std::variant<Prepared, PrepareError> RunCommand(const Scenario& scenario, Module before,
                                                DeviceCounts counts) {
  auto text = RunPassCommand(scenario.pass_command, PrintModule(before), scenario.timeout_seconds);
  if (!text) return PrepareError{std::move(text).error(), true, {}};
  return ReadAfter({"", std::move(*text), "<output of pass command>"}, true, std::move(before),
                   counts);
}

// After the passes, which saw the custom-calls: both modules call the same definitions.
Status DefineCustomCalls(const Scenario& scenario, Pair* pair) {
  if (scenario.custom_calls.empty()) return {};
  HV_ASSIGN(const auto definitions, ReadCustomCallDefinitions(scenario.custom_calls));
  for (Module* module : {&pair->before, &pair->after}) {
    HV_RETURN_IF_ERROR(DefineCustomCalls(definitions, module));
    HV_RETURN_IF_ERROR(Validate(*module, {pair->mesh.replicas, pair->mesh.partitions}));
  }
  return {};
}

}  // namespace

std::variant<Prepared, PrepareError> Prepare(const Scenario& scenario) {
  const auto failed = [](Error error) { return PrepareError{std::move(error), false, {}}; };
  auto before = Read(scenario.before);
  if (!before) return failed(std::move(before).error());
  auto counts = CountsOf(*before, scenario);
  if (!counts) return failed(std::move(counts).error());
  if (auto valid = Validate(*before, *counts); !valid) return failed(std::move(valid).error());
  auto prepared =
      !scenario.after.empty() ? ReadAfter(scenario.after, false, std::move(*before), *counts)
      : !scenario.pass_command.empty() ? RunCommand(scenario, std::move(*before), *counts)
                                       : RunOwnPasses(scenario, std::move(*before), *counts);
  if (Prepared* ok = std::get_if<Prepared>(&prepared)) {
    ok->pair.memory_limit_bytes = scenario.memory_limit_bytes;
    if (auto comparable = CheckComparable(ok->pair); !comparable) {
      return PrepareError{std::move(comparable).error(), scenario.after.empty(),
                          std::move(ok->decisions)};
    }
    if (auto defined = DefineCustomCalls(scenario, &ok->pair); !defined) {
      return failed(std::move(defined).error());
    }
  }
  return prepared;
}

}  // namespace hv
