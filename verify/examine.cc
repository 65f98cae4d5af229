#include "verify/examine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "hlo/printer.h"
#include "verify/claims.h"
#include "verify/consistency.h"
#include "verify/describe.h"
#include "verify/divergence.h"
#include "verify/exact_runs.h"
#include "verify/flags.h"
#include "verify/native_runs.h"
#include "verify/prover.h"

namespace hv {
namespace {

constexpr double kMostWorkAfterProof = 2e7;  // elements on all devices

Level LevelOf(ProofLevel level) {
  switch (level) {
    case ProofLevel::kBitwise:
      return Level::kBitwise;
    case ProofLevel::kReassociation:
      return Level::kReassociation;
    case ProofLevel::kReal:
      break;
  }
  return Level::kReal;
}

std::string FirstWord(const std::string& text) { return text.substr(0, text.find_first_of(" :,")); }

void AddAll(const std::vector<Evidence>& from, std::vector<Evidence>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

// Elements that a run of both modules makes, loops counted once.
double WorkOf(const Pair& pair) {
  double elements = 0;
  for (Side side : kSides) {
    for (const Computation& computation : pair.of(side).computations) {
      for (const Instruction& instruction : computation.instructions) {
        elements += static_cast<double>(instruction.shape->element_count);
      }
    }
  }
  return elements * static_cast<double>(pair.mesh.devices());
}

// The examination of one prepared pair under one set of assumptions.
class Examination {
 public:
  Examination(const Pair& pair, const Scenario& scenario, InputAssumptions assumptions,
              std::vector<std::optional<InputRange>> ranges)
      : pair_(pair),
        plan_(scenario.inputs),
        assumptions_(std::move(assumptions)),
        space_(SpaceOf(pair, scenario, assumptions_)),
        ranges_(std::move(ranges)),
        exact_(pair, space_, plan_, ranges_) {}

  void Run() {
    if (plan_.mode != Mode::kTest) Prove();
    // A proof is checked by running all the same, unless that takes long.
    if (findings_.proof && WorkOf(pair_) > kMostWorkAfterProof) return;
    codes_ = exact_.Run(!findings_.proof && plan_.mode != Mode::kTest);
    AddAll(codes_.evidence, &findings_.evidence);
    if (!findings_.proof) findings_.proof = codes_.proof;
    findings_.precision = codes_.precision;
    if (codes_.discarded > 0) {
      note_ = fmt::format("{} runs discarded: the module before is undefined on their inputs",
                          codes_.discarded);
    }
    if (NoteStalls()) return;
    const NativeRuns native(pair_, space_, plan_, ranges_, codes_);
    if (codes_.difference) {
      NativeInput like;
      like.seed = plan_.seed;
      like.control = codes_.concrete_parameters;
      refutation_ = RefuteByCodes(space_, &exact_, native, like);
    }
    if (!refutation_) RunNative(native);
    if (refutation_) {
      findings_.confirmed = true;
    } else if (codes_.difference) {
      findings_.suspicion = Suspicion(*codes_.difference);
    } else if (codes_.error && !native_agrees_) {
      findings_.cannot_run = codes_.error->Message();
      findings_.unsupported = codes_.error->kind != ErrorKind::kInvalid;
    }
    if (!refutation_ && !consistency_known_) NoteConsistency(native);
  }

  Findings& findings() { return findings_; }
  const CodeFindings& codes() const { return codes_; }
  const InputSpace& space() const { return space_; }
  const InputAssumptions& assumptions() const { return assumptions_; }
  std::optional<Refutation>& refutation() { return refutation_; }
  const std::optional<Stall>& stall() const { return stall_; }
  const std::string& note() const { return note_; }
  const std::string& summands() const { return summands_; }

  Divergence FirstDivergence() {
    const NativeRuns native(pair_, space_, plan_, ranges_, codes_);
    return FindDivergence(pair_, native, refutation_->input);
  }

  // Before cannot finish on inputs whose control differs by device.
  bool ControlDiverges() const {
    return codes_.stall[0].has_value() && !codes_.concrete_parameters.empty();
  }

 private:
  // Normal forms of all outputs: a proof, or else a hint where to look.
  void Prove() {
    if (SameModule(pair_.before, pair_.after, nullptr)) {
      consistency_known_ = true;
      findings_.proof = Proof{Level::kBitwise, "", "the modules are the same"};
      findings_.evidence.push_back({"comparison of the modules", "no difference", 0.0});
      return;
    }
    ProofOptions options;
    options.representative = [this](DeviceId device, int64_t parameter) {
      return space_.RepresentativeOf(device, parameter);
    };
    const ProofResult result = ProvePair(pair_.before, pair_.after, pair_.mesh, options);
    if (result.difference) summands_ = result.difference->summands;
    const bool drifts = result.outcome == ProofOutcome::kInconsistent;
    if (result.outcome != ProofOutcome::kProved && !drifts) return;
    consistency_known_ = true;
    findings_.inconsistent = drifts;
    if (drifts) note_ = result.reason;
    Proof proof{LevelOf(result.level), FirstWord(result.precision), "normal forms agree"};
    if (!result.sub_class.empty()) proof.method += ", " + result.sub_class;
    if (!result.precision.empty()) proof.method += ", precision " + result.precision;
    findings_.evidence.push_back({"symbolic terms", proof.method, 0.0});
    findings_.proof = std::move(proof);
  }

  bool NoteStalls() {
    if (!codes_.stall[0] && !codes_.stall[1]) return false;
    const size_t side = codes_.stall[1] ? 1 : 0;
    findings_.stalled = ToString(kSides[side]);
    stall_ = codes_.stall[side];
    if (codes_.stall[0] && codes_.stall[1]) note_ = "the module before cannot finish either";
    return true;
  }

  std::string Suspicion(const OutputPlace& place) const {
    return fmt::format(
        "exact codes differ at output {} of device {}, but no native run shows a difference that "
        "rounding cannot explain",
        place.output, pair_.mesh.NameOf(place.device));
  }

  // Explicit inputs, integers and reals. Bits that agree are evidence; certain differences refute.
  void RunNative(const NativeRuns& native) {
    if (plan_.per_device != nullptr || plan_.for_all != nullptr) {
      NativeInput input;
      input.values = NativeInput::Values::kExplicit;
      TryNative(native, input, "given inputs");
    }
    const double limit = native.ExactLimit();
    NativeInput integers;
    integers.control = codes_.concrete_parameters;
    integers.seed = plan_.seed;
    integers.limit = limit >= 1 ? std::min(limit, 100.0) : 8;
    RunTrials(native, integers, limit >= 1 ? "exact integers" : "integers");
    NativeInput reals = integers;
    reals.values = NativeInput::Values::kRealNumbers;
    RunTrials(native, reals, "reals");
  }

  void RunTrials(const NativeRuns& native, NativeInput input, const std::string& what) {
    const int64_t trials = codes_.error || !codes_.concrete_parameters.empty() ? plan_.trials : 1;
    for (int64_t trial = 0; trial < trials && !refutation_; ++trial) {
      input.trial = static_cast<uint64_t>(trial);
      TryNative(native, input, what);
    }
  }

  void TryNative(const NativeRuns& native, const NativeInput& input, const std::string& what) {
    if (refutation_) return;
    bool same_bits = false;
    if (auto difference = native.CertainDifference(input, &same_bits)) {
      refutation_ = Reduce(space_, native, Refutation{input, std::move(*difference)});
      return;
    }
    if (!same_bits) return;
    native_agrees_ = true;
    const std::string detail = what + ": equal bits in group order";
    if (findings_.evidence.empty() || findings_.evidence.back().detail != detail) {
      findings_.evidence.push_back({"native run", detail, std::nullopt});
    }
  }

  void NoteConsistency(const NativeRuns& native) {
    const std::string drift = FindDrift(pair_, native, plan_.seed);
    findings_.inconsistent = !drift.empty();
    if (findings_.inconsistent) note_ = drift;
  }

  const Pair& pair_;
  const InputPlan& plan_;
  InputAssumptions assumptions_;
  InputSpace space_;
  std::vector<std::optional<InputRange>> ranges_;
  ExactRuns exact_;
  CodeFindings codes_;
  Findings findings_;
  std::optional<Refutation> refutation_;
  std::optional<Stall> stall_;
  std::string note_;
  std::string summands_;            // how sums differ, in the words of the prover
  bool consistency_known_ = false;  // the prover has judged whether replicas stay equal
  bool native_agrees_ = false;
};

// Is there anything that assumptions about the inputs could clear?
bool Doubtful(const Findings& f) {
  return f.confirmed || !f.suspicion.empty() || f.inconsistent || !f.stalled.empty();
}

Counterexample DescribeRefutation(const Scenario& scenario, const Pair& pair,
                                  Examination* examination) {
  const Refutation& refutation = *examination->refutation();
  Counterexample c = DescribeCounterexample(pair, examination->space(), refutation);
  c.reproduce = ReproduceCommand(scenario);
  if (c.explanation.empty()) c.explanation = examination->summands();
  const Divergence divergence = examination->FirstDivergence();
  c.first_diverging_before = divergence.before;
  c.first_diverging_after = divergence.after;
  return c;
}

Status AddCost(const Scenario& scenario, const Pair& pair, CaseReport* report) {
  if (scenario.machine.empty()) return {};
  HV_ASSIGN(report->cost, CompareCosts(pair, scenario.machine, &report->notes));
  return {};
}

void Invalidate(Error error, bool from_pass, Examined* examined) {
  CaseReport& report = examined->report;
  const bool unsupported = error.kind != ErrorKind::kInvalid;
  report.verdict = unsupported ? Verdict::kUnknown : Verdict::kInvalid;
  report.unsupported = unsupported;
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

// The first examination assumes nothing; where it leaves a doubt, control that must agree is
// shared, then the module's claims are tried. The last one that makes sense stands.
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
  const std::vector<Claim> claims = ClaimsOf(pair.before, pair.mesh);
  if (claims.empty() || scenario.ignore_claims || !Doubtful(examination->findings())) {
    return examination;
  }
  assumptions.claims = true;
  for (const Claim& claim : claims) printed->push_back(claim.text);
  return run();
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
  if (!examination->note().empty()) report.notes.push_back(examination->note());
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
  if (checked) checked = AddCost(scenario, pair, &report);
  if (!checked) return Invalidate(std::move(checked).error(), false, examined);
  auto examination = ExamineUnderAssumptions(pair, scenario, *ranges, &report.assumptions);
  Conclude(scenario, pair, examination.get(), examined);
}

}  // namespace

Examined Examine(const Scenario& scenario) {
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
    }
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  examined.report.seconds = elapsed.count();
  return examined;
}

}  // namespace hv
