#include "verify/examine.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "base/text.h"
#include "base/time_limit.h"
#include "hlo/printer.h"
#include "verify/claims.h"
#include "verify/describe.h"
#include "verify/examination.h"
#include "verify/flags.h"
#include "verify/minimize_topology.h"
#include "verify/schedule.h"

namespace hv {
namespace {

// Is there anything that assumptions about the inputs could clear?
bool Doubtful(const Findings& f) {
  return f.confirmed || !f.suspicion.empty() || f.inconsistent || !f.suspected_drift.empty() ||
         !f.stalled.empty() || f.all_discarded;
}

Counterexample DescribeRefutation(const Scenario& scenario, const Pair& pair,
                                  Examination* examination) {
  const Refutation& refutation = *examination->refutation();
  Counterexample c = DescribeCounterexample(pair, examination->space(), refutation);
  c.reproduce = ReproduceCommand(scenario);
  c.explanation = examination->Explanation();
  const Divergence divergence = examination->FirstDivergence();
  if (!divergence.clamp.empty()) {
    c.explanation += (c.explanation.empty() ? "" : "; ") + divergence.clamp;
  }
  c.first_diverging_before = divergence.before;
  c.first_diverging_after = divergence.after;
  return c;
}

Status AddCost(const Scenario& scenario, const Pair& pair, CaseReport* report) {
  if (scenario.machine.empty()) return {};
  const TimeLimit share(scenario.timeout_seconds / 2);
  auto cost = CompareCosts(pair, scenario.machine, &report->notes);
  if (!cost && cost.error().kind == ErrorKind::kTime) {
    report->notes.emplace_back("half of the time was over before the costs were known");
    return {};
  }
  HV_ASSIGN(report->cost, std::move(cost));
  return {};
}

void Invalidate(Error error, bool from_pass, Examined* examined) {
  CaseReport& report = examined->report;
  report.verdict = error.kind == ErrorKind::kInvalid ? Verdict::kInvalid : Verdict::kUnknown;
  report.unsupported = error.kind == ErrorKind::kUnsupported || error.kind == ErrorKind::kMemory;
  report.reason = error.diagnostics.front().message;
  report.diagnostics = std::move(error.diagnostics);
  for (Diagnostic& d : report.diagnostics) {
    if (d.place.file.empty()) d.place.file = report.file;  // what a scenario asks of its module
  }
  report.invalid_from_pass = from_pass;
}

Status CheckParameters(const Scenario& scenario, const InputSpace& space) {
  for (int64_t parameter : scenario.inputs.replicated) {
    if (parameter < space.parameter_count()) continue;
    return Invalid("scenario-parameter",
                   fmt::format("replicated: the module has no parameter {}", parameter),
                   {scenario.file});
  }
  return {};
}

// Values given explicitly are there for every device, one per parameter, and fit.
Status CheckGivenInputs(const InputPlan& plan, const InputSpace& space) {
  if (plan.per_device == nullptr && plan.for_all == nullptr) return {};
  NativeInput given;
  given.values = NativeInput::Values::kExplicit;
  const SlotFill fill = FillNative(given, space, {}, plan);
  for (int64_t device = 0; device < space.mesh().devices(); ++device) {
    const Json* list = plan.for_all;
    if (plan.per_device != nullptr) {
      list = plan.per_device->Find(space.mesh().NameOf(DeviceId(device)));
    }
    const auto expected = static_cast<size_t>(space.parameter_count());
    if (list != nullptr && list->items().size() != expected) {
      return list->MakeError("scenario-inputs", fmt::format("expected {} values", expected));
    }
    for (size_t slot = 0; slot < space.slots().size(); ++slot) {
      const auto value = fill(space.slots()[slot].shape, static_cast<int64_t>(slot), device);
      if (!value) return tl::make_unexpected(value.error());
    }
  }
  return {};
}

// The first examination assumes nothing; where control that differs by device makes no sense it is
// shared; short of a proof the module's claims are tried. They count if they bring a proof or clear
// a doubt.
std::unique_ptr<Examination> ExamineUnderAssumptions(
    const Pair& pair, const Scenario& scenario,
    const std::vector<std::optional<InputRange>>& ranges, std::vector<std::string>* printed) {
  InputAssumptions assumptions;
  auto run = [&] {
    auto examination = std::make_unique<Examination>(pair, scenario, assumptions, ranges);
    examination->Run();
    return examination;
  };
  auto examination = run();
  if (examination->ControlDiverges()) {
    assumptions.shared = examination->codes().concrete_parameters;
    for (int64_t p : assumptions.shared) {
      printed->push_back(fmt::format("parameter {} decides control: equal on all devices", p));
    }
    examination = run();
  }
  const bool doubtful = Doubtful(examination->findings());
  const std::vector<Claim> claims = ClaimsOf(pair.before, pair.mesh);
  const bool settled = examination->findings().proof && !doubtful;
  if (claims.empty() || scenario.ignore_claims || settled) return examination;
  assumptions.claims = true;
  auto claimed = run();
  if (!doubtful && !claimed->findings().proof) return examination;
  for (const Claim& claim : claims) printed->push_back(claim.text);
  return claimed;
}

}  // namespace

InputSpace SpaceOf(const Pair& pair, const Scenario& scenario,
                   const InputAssumptions& assumptions) {
  InputSpace space(pair.before, pair.mesh);
  if (assumptions.claims) {
    for (const Claim& claim : ClaimsOf(pair.before, pair.mesh)) {
      space.Share(claim.parameter, claim.group_of_device);
    }
  }
  const std::vector<int64_t> all(static_cast<size_t>(pair.mesh.devices()), 0);
  for (int64_t parameter : scenario.inputs.replicated) space.Share(parameter, all);
  for (int64_t parameter : assumptions.shared) space.Share(parameter, all);
  return space;
}

namespace {

// Takes over what an examination found.
void Conclude(const Scenario& scenario, const Pair& pair, Examination* examination,
              Examined* examined) {
  CaseReport& report = examined->report;
  report.evidence = examination->findings().evidence;
  for (const std::string& note : examination->notes()) report.notes.push_back(note);
  for (std::string_view line : SplitText(examination->normal_forms(), '\n')) {
    if (!line.empty()) report.normal_forms.emplace_back(line);
  }
  for (std::string& note : NotesOnSchedule(pair)) report.notes.push_back(std::move(note));
  for (const std::string& constant : examination->elided().shared) {
    report.assumptions.push_back(
        fmt::format("elided constant {} is equal in both modules", constant));
  }
  if (examination->assumes_end() && examination->findings().proof) {
    report.assumptions.emplace_back("loops whose trip count is not known end, in both modules alike");
  }
  report.suspect = examination->suspect();
  report.stalled = examination->findings().stalled;
  if (examination->stall()) DescribeStall(pair.mesh, *examination->stall(), &report);
  if (examination->refutation()) {
    report.counterexample = DescribeRefutation(scenario, pair, examination);
  }
  examined->findings = std::move(examination->findings());
  examined->assumptions = examination->assumptions();
  examined->refutation = std::move(examination->refutation());
}

void ExaminePrepared(const Scenario& scenario, Prepared prepared, Examined* examined) {
  const Pair& pair = prepared.pair;
  CaseReport& report = examined->report;
  report.replicas = pair.mesh.replicas;
  report.partitions = pair.mesh.partitions;
  report.decisions = std::move(prepared.decisions);
  examined->demand.fired = prepared.fired;
  const InputSpace space(pair.before, pair.mesh);
  auto ranges = ResolveRanges(space, scenario.inputs);
  Status checked = CheckParameters(scenario, space);
  if (!ranges) checked = tl::make_unexpected(std::move(ranges).error());
  if (checked) checked = CheckGivenInputs(scenario.inputs, space);
  if (checked) checked = AddCost(scenario, pair, &report);
  if (!checked) return Invalidate(std::move(checked).error(), false, examined);
  auto examination = ExamineUnderAssumptions(pair, scenario, *ranges, &report.assumptions);
  const bool proved = examination->IsProved();
  Conclude(scenario, pair, examination.get(), examined);
  if (report.suspect && examination->suspect_device()) {
    RefuteOnClosedPart(scenario, pair, *examination->suspect_device(), examined);
  }
  const bool again = examined->refutation || scenario.minimize_topology || scenario.measure;
  if (again && !scenario.pass_command.empty()) {
    examined->rewritten = PrintModule(pair.after);
  }
  if (TimeLimit::IsOver() && !proved) RunOutOfTime(scenario, examined);
}

}  // namespace

void RunOutOfTime(const Scenario& scenario, Examined* examined) {
  examined->findings = {};
  examined->findings.cannot_run =
      fmt::format("timeout: not decided within {:g} s", scenario.timeout_seconds);
  examined->refutation.reset();
  CaseReport& report = examined->report;
  report.counterexample.reset();
  report.smaller.reset();
  report.stalled.clear();
  report.waiting.clear();
  report.cycle.clear();
}

Examined Examine(const Scenario& scenario) {
  const TimeLimit limit(scenario.timeout_seconds);
  const auto start = std::chrono::steady_clock::now();
  Examined examined;
  examined.report.name = scenario.name;
  examined.report.file = scenario.file;
  examined.demand = {scenario.expect, scenario.min_level, scenario.max_cost_ratio, false};
  if (scenario.error) {
    Invalidate(*scenario.error, false, &examined);
  } else {
    auto prepared = Prepare(scenario);
    if (PrepareError* failed = std::get_if<PrepareError>(&prepared)) {
      examined.report.decisions = std::move(failed->decisions);
      Invalidate(std::move(failed->error), failed->from_pass, &examined);
    } else {
      ExaminePrepared(scenario, std::move(std::get<Prepared>(prepared)), &examined);
      if (scenario.minimize_topology) MinimizeTopology(scenario, &examined);
    }
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  examined.report.seconds = elapsed.count();
  return examined;
}

}  // namespace hv
