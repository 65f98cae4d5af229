#include "verify/minimize_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/time_limit.h"
#include "hlo/printer.h"
#include "verify/examination.h"
#include "verify/flags.h"
#include "verify/prepare.h"
#include "verify/reopened.h"
#include "verify/restrict_module.h"

namespace hv {
namespace {

constexpr double kMostWorkOfAPart = 2e8;  // elements
constexpr int64_t kMostTries = 200;
constexpr int64_t kMostSteps = 4000000;  // instructions x devices of all that is tried

bool Fails(Verdict verdict) {
  return verdict == Verdict::kRefuted || verdict == Verdict::kInconsistent ||
         verdict == Verdict::kDeadlock;
}

// Is the module after a text, rather than what passes make of the module before?
bool IsPair(const Scenario& scenario) { return !scenario.after.empty(); }

// "%name" of a printed instruction.
std::string NameIn(const std::string& printed) { return printed.substr(0, printed.find(' ')); }

// Where the failure begins, by name: the first instruction with a value of its own, or those that
// wait. Empty if that is not known.
std::set<std::string> OriginOf(const CaseReport& report) {
  std::set<std::string> names;
  if (report.counterexample && !report.counterexample->first_diverging_after.empty()) {
    names.insert(NameIn(report.counterexample->first_diverging_after));
  }
  for (const WaitingDevice& waiting : report.waiting) names.insert(waiting.instruction);
  return names;
}

DeviceId WrongDevice(const CaseReport& report, const Mesh& mesh) {
  if (report.counterexample) return DeviceId(report.counterexample->device_id);
  for (int64_t d = 0; d < mesh.devices() && !report.waiting.empty(); ++d) {
    if (mesh.NameOf(DeviceId(d)) == report.waiting.front().device) return DeviceId(d);
  }
  return DeviceId(0);
}

class Search {
 public:
  Search(const Scenario& scenario, const Pair& pair, Verdict verdict, Examined* examined)
      : scenario_(scenario),
        pair_(pair),
        mesh_(pair.mesh),
        verdict_(verdict),
        examined_(examined) {}

  // Passes are run anew first; if they do no harm on any smaller mesh, what they made of the module
  // is cut like the module itself.
  void Run() {
    if (!IsPair(scenario_) && TryAll(/*remakes=*/true)) return;
    if (TryAll(/*remakes=*/false) || tried_ == 0) return;
    std::string note = fmt::format("no smaller mesh that fails in this way: {} tried", tried_);
    if (!why_.empty()) note += fmt::format(", some cannot be made ({})", why_);
    examined_->report.notes.push_back(std::move(note));
  }

 private:
  bool TryAll(bool remakes) {
    std::vector<const Module*> modules{&pair_.before};
    if (!remakes) modules.push_back(&pair_.after);
    const DeviceId wrong = WrongDevice(examined_->report, mesh_);
    int64_t instructions = 0, steps = 0, tries = 0;
    for (const Module* module : modules) {
      for (const Computation& c : module->computations) {
        instructions += static_cast<int64_t>(c.instructions.size());
      }
    }
    for (const SmallerMesh& mesh : SmallerMeshes(modules, mesh_, wrong)) {
      steps += instructions * mesh.part.devices();
      if (++tries > kMostTries || steps > kMostSteps || TimeLimit::IsOver()) return false;
      if (Try(modules, mesh)) return true;
    }
    return false;
  }

  bool Try(const std::vector<const Module*>& modules, const SmallerMesh& mesh) {
    ++tried_;
    std::string why;
    const LostSource lost = modules.size() == 1 ? LostSource::kReroute : LostSource::kRefuse;
    const auto restricted = RestrictModules(modules, mesh_, mesh.part, lost, &why);
    if (!restricted) return NotMade(why);
    SmallerFailure failure;
    failure.replicas = mesh.part.mesh().replicas;
    failure.partitions = mesh.part.mesh().partitions;
    failure.closed = mesh.closed;
    failure.remade = modules.size() == 1;
    failure.before_hlo = PrintModule(restricted->front());
    if (!failure.remade) failure.after_hlo = PrintModule(restricted->back());
    const Scenario smaller = SmallerScenario(scenario_, failure);
    Examined found = Examine(smaller);
    if (!found.report.diagnostics.empty()) return NotMade(found.report.reason);
    if (Decide(found.findings).verdict != verdict_) return false;
    if (!mesh.closed && !failure.remade && !BeginsTheSame(found.report)) return false;
    for (const DeviceId device : mesh.part.DevicesIn(mesh_)) {
      failure.devices.push_back(mesh_.NameOf(device));
    }
    Take(smaller, std::move(failure), std::move(found));
    return true;
  }

  bool NotMade(const std::string& why) {
    if (why_.empty()) why_ = why;
    return false;
  }

  // A pair whose groups lost members may differ for reasons of its own.
  bool BeginsTheSame(const CaseReport& report) const {
    const std::set<std::string> now = OriginOf(report), was = OriginOf(examined_->report);
    return !now.empty() && std::includes(was.begin(), was.end(), now.begin(), now.end());
  }

  void Take(const Scenario& scenario, SmallerFailure failure, Examined found) {
    if (failure.remade) {
      failure.after_hlo = found.rewritten;
      const auto made = Prepare(Settled(scenario, found));
      if (const Prepared* prepared = std::get_if<Prepared>(&made)) {
        failure.after_hlo = PrintModule(prepared->pair.after);
      }
    }
    failure.counterexample = found.report.counterexample;
    if (failure.counterexample) failure.counterexample->reproduce.clear();
    failure.cycle = found.report.cycle;
    examined_->report.smaller = std::move(failure);
    examined_->smaller.push_back(std::move(found));
  }

  const Scenario& scenario_;
  const Pair& pair_;
  const Mesh mesh_;
  const Verdict verdict_;
  Examined* examined_;
  int64_t tried_ = 0;
  std::string why_;  // the first that could not be made
};

// "1,3": the names of devices of the part in the whole mesh.
std::string NameInWhole(const std::string& name, const Mesh& part,
                        const std::vector<std::string>& originals) {
  for (int64_t d = 0; d < part.devices(); ++d) {
    if (part.NameOf(DeviceId(d)) == name) return originals[static_cast<size_t>(d)];
  }
  return name;
}

// The counterexample of a closed part, told of the whole mesh.
Counterexample InWhole(Counterexample c, const SubMesh& part, const Mesh& whole,
                       const std::vector<std::string>& originals) {
  c.device_id = part.DevicesIn(whole)[static_cast<size_t>(c.device_id)].value;
  c.device = whole.NameOf(DeviceId(c.device_id));
  for (InputElement& e : c.elements) e.device = NameInWhole(e.device, part.mesh(), originals);
  c.explanation.clear();  // it names devices of the part
  return c;
}

}  // namespace

void RefuteOnClosedPart(const Scenario& scenario, const Pair& pair, DeviceId suspect,
                        Examined* examined) {
  const Module* modules[] = {&pair.before, &pair.after};
  const SubMesh part = ClosedPartOf(suspect, modules, pair.mesh);
  std::string why;
  const bool open = Decide(examined->findings).verdict == Verdict::kUnknown;
  const bool free = !examined->assumptions.claims && examined->assumptions.shared.empty();
  if (!open || !free || part.devices() == pair.mesh.devices()) return;
  const auto restricted = RestrictModules(modules, pair.mesh, part, LostSource::kRefuse, &why);
  if (!restricted) return;
  if (WorkOf({restricted->front(), restricted->back(), part.mesh()}) > kMostWorkOfAPart) return;
  SmallerFailure failure{part.mesh().replicas,
                         part.mesh().partitions,
                         {},
                         true,
                         false,
                         {},
                         {},
                         PrintModule(restricted->front()),
                         PrintModule(restricted->back())};
  for (const DeviceId d : part.DevicesIn(pair.mesh)) {
    failure.devices.push_back(pair.mesh.NameOf(d));
  }
  Scenario smaller = SmallerScenario(scenario, failure);
  smaller.inputs.mode = Mode::kTest;
  Examined found = Examine(smaller);
  if (!found.refutation || !found.report.assumptions.empty()) return;
  failure.counterexample = found.report.counterexample;
  failure.counterexample->reproduce.clear();
  examined->report.counterexample =
      InWhole(*failure.counterexample, part, pair.mesh, failure.devices);
  examined->report.counterexample->reproduce = ReproduceCommand(scenario);
  examined->report.smaller = std::move(failure);
  examined->report.evidence.push_back(
      {"native run", "the devices of the smaller mesh, which depend on no others", std::nullopt});
  examined->findings.evidence = examined->report.evidence;
  examined->findings.confirmed = true;
  examined->smaller.push_back(std::move(found));
}

Scenario SmallerScenario(const Scenario& scenario, const SmallerFailure& failure) {
  Scenario smaller = scenario;
  smaller.before = {"", failure.before_hlo, "<module before on a smaller mesh>"};
  if (!failure.remade) {
    smaller.after = {"", failure.after_hlo, "<module after on a smaller mesh>"};
    smaller.passes.clear();
    smaller.pass_command.clear();
  }
  smaller.replicas = failure.replicas;
  smaller.partitions = failure.partitions;
  smaller.custom_calls.clear();  // they are part of the modules by now
  smaller.inputs.per_device = smaller.inputs.for_all = nullptr;
  smaller.inputs.explain_proof = false;
  smaller.machine.clear();
  smaller.max_cost_ratio.reset();
  smaller.measure = false;
  smaller.minimize_topology = false;
  return smaller;
}

void MinimizeTopology(const Scenario& scenario, Examined* examined) {
  const Verdict verdict = Decide(examined->findings).verdict;
  const bool done = examined->report.smaller.has_value();
  if (!examined->report.diagnostics.empty() || !Fails(verdict) || done) return;
  const auto original = Prepare(Settled(scenario, *examined));
  const Prepared* prepared = std::get_if<Prepared>(&original);
  if (prepared == nullptr) return;
  if (examined->assumptions.claims) {
    examined->report.notes.emplace_back(
        "no smaller mesh was tried: the failure obeys shardings, which are made for this one");
    return;
  }
  if (prepared->pair.mesh.devices() > kMostDevicesToCut) {
    examined->report.notes.push_back(
        fmt::format("no smaller mesh was tried: more than {} devices", kMostDevicesToCut));
    return;
  }
  Search(scenario, prepared->pair, verdict, examined).Run();
}

}  // namespace hv
