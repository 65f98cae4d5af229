#include "verify/examination.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "hlo/op.h"
#include "hlo/printer.h"
#include "verify/consistency.h"
#include "verify/describe.h"
#include "verify/module_constants.h"
#include "verify/native_input.h"
#include "verify/prover.h"
#include "verify/truth_runs.h"

namespace hv {
namespace {

constexpr double kQuickWork = 1e4;
constexpr int64_t kQuickTrials = 12;
constexpr double kMostWorkAfterProof = 2e7;  // elements on all devices
constexpr double kWorkOfAStep = 256;
constexpr double kMostWorkOfSuspect = 2e8;
constexpr int64_t kTrialsOfASuspectedDrift = 16;
constexpr size_t kMostMentioned = 96;
constexpr double kMostWorkOfMentioned = 2e6;
constexpr int64_t kExtremesTried = 32, kMostExtremeRuns = 8;

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

// The same, and what it takes to get to each instruction on each device.
double EffortOf(const Pair& pair) {
  double steps = 0;
  for (Side side : kSides) {
    for (const Computation& computation : pair.of(side).computations) {
      steps += static_cast<double>(computation.instructions.size());
    }
  }
  return WorkOf(pair) + kWorkOfAStep * steps * static_cast<double>(pair.mesh.devices());
}

// One run tries as many extremes as there are integer inputs; few of them are run more often.
int64_t TrialsOfExtremes(const InputSpace& space) {
  int64_t integers = 0;
  for (const InputSlot& slot : space.slots()) {
    if (IsInteger(slot.shape->type)) integers += slot.shape->element_count;
  }
  return integers == 0 ? 0 : std::clamp<int64_t>(kExtremesTried / integers, 1, kMostExtremeRuns);
}

// Calls with side effects in the order of the text: runs cannot see what they do.
std::vector<std::string> EffectsOf(const Module& module) {
  std::vector<std::string> effects;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode != Opcode::kCustomCall || !HasSideEffect(instruction)) continue;
      effects.push_back(fmt::format("{} {}", instruction.Text(Attr::kCustomCallTarget),
                                    instruction.Text(Attr::kBackendConfig)));
    }
  }
  return effects;
}

}  // namespace

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

Examination::Examination(const Pair& pair, const Scenario& scenario, InputAssumptions assumptions,
                         std::vector<std::optional<InputRange>> ranges)
    : pair_(pair),
      plan_(scenario.inputs),
      assumptions_(std::move(assumptions)),
      space_(SpaceOf(pair, scenario, assumptions_)),
      ranges_(std::move(ranges)),
      elided_(ElidedConstantsOf(pair)),
      exact_(pair, space_, plan_, ranges_) {}

void Examination::Run() {
  if (plan_.mode != Mode::kTest) Prove();
  // A proof is checked by running all the same, unless that takes long.
  if (findings_.proof && EffortOf(pair_) > kMostWorkAfterProof) return;
  const bool given = plan_.per_device != nullptr || plan_.for_all != nullptr;
  if (suspect_ && !given) return;
  codes_ = exact_.Run(!findings_.proof && plan_.mode != Mode::kTest);
  AddAll(codes_.evidence, &findings_.evidence);
  if (!findings_.proof) findings_.proof = codes_.proof;
  findings_.precision = codes_.precision;
  discarded_ += codes_.discarded;
  if (NoteStalls()) return;
  const NativeRuns native(pair_, space_, plan_, ranges_, codes_);
  if (codes_.difference) RefuteSuspicion(native);
  if (!refutation_) RunNative(native);
  if (stall_) return;
  if (!refutation_ && !findings_.proof) RunTruths(native);
  Summarize();
  if (!refutation_ && !consistency_known_) NoteConsistency(native);
}

// Normal forms of all outputs: a proof, or else a hint where to look.
void Examination::Prove() {
  if (SameModule(pair_.before, pair_.after, nullptr)) {
    consistency_known_ = true;
    assumes_end_ = !LoopsEnd(pair_.before);
    findings_.proof = Proof{Level::kBitwise, "", "the modules are the same"};
    findings_.evidence.push_back({"comparison of the modules", "no difference", 0.0});
    return;
  }
  ProofOptions options;
  options.representative = [this](DeviceId device, int64_t parameter) {
    return space_.RepresentativeOf(device, parameter);
  };
  options.explain = plan_.explain_proof;
  const ProofResult result = ProvePair(pair_.before, pair_.after, pair_.mesh, options);
  normal_forms_ = result.explanation;
  if (result.difference) summands_ = result.difference->summands;
  if (result.suspect) {
    if (result.difference) suspect_device_ = result.difference->device;
    return ExamineSuspect(*result.suspect);
  }
  const bool drifts = result.outcome == ProofOutcome::kInconsistent;
  if (result.outcome != ProofOutcome::kProved && !drifts) return;
  consistency_known_ = !drifts && !result.by_induction;
  assumes_end_ = result.assumes_end;
  if (drifts) findings_.suspected_drift = result.reason;
  Proof proof{LevelOf(result.level), FirstWord(result.precision), result.detail};
  if (result.by_induction) proof.method += ", a loop by induction";
  if (!result.sub_class.empty()) proof.method += ", " + result.sub_class;
  if (!result.precision.empty()) proof.method += ", precision " + result.precision;
  findings_.evidence.push_back({result.method, proof.method, 0.0});
  findings_.proof = std::move(proof);
}

// The modules are too large to be run, so what differs is run by itself. That refutes nothing: the
// values at its border may never be such.
void Examination::ExamineSuspect(const Suspect& suspect) {
  suspect_ =
      SuspectReport{suspect.before_name,         suspect.after_name,        suspect.reason, "",
                    PrintModule(suspect.before), PrintModule(suspect.after)};
  findings_.suspicion = fmt::format(
      "{} after is not proved to be what {} was before: {}; the modules are too large to be run as "
      "a "
      "whole",
      suspect.after_name, suspect.before_name, suspect.reason);
  const Pair region{suspect.before, suspect.after, pair_.mesh};
  if (WorkOf(region) > kMostWorkOfSuspect) return;
  Scenario plain;
  plain.inputs.seed = plan_.seed;
  plain.inputs.mode = Mode::kTest;
  auto ranges = ResolveRanges(InputSpace(region.before, region.mesh), plain.inputs);
  if (!ranges) return;
  Examination alone(region, plain, {}, std::move(*ranges));
  alone.Run();
  if (!alone.refutation()) return;
  const Counterexample found = DescribeCounterexample(region, alone.space(), *alone.refutation());
  suspect_->counterexample = fmt::format("device ({}): before {}, after {} on some input",
                                         found.device, found.before, found.after);
  findings_.suspicion +=
      "; run alone they differ, so the modules do if the values that they are made of can occur";
}

bool Examination::NoteStalls() {
  if (!codes_.stall[0] && !codes_.stall[1]) return false;
  const size_t side = codes_.stall[1] ? 1 : 0;
  findings_.stalled = ToString(kSides[side]);
  stall_ = codes_.stall[side];
  if (codes_.stall[0] && codes_.stall[1]) {
    notes_.emplace_back("the module before cannot finish either");
  }
  return true;
}

void Examination::RefuteSuspicion(const NativeRuns& native) {
  NativeInput like;
  like.seed = plan_.seed;
  like.control = codes_.concrete_parameters;
  wrong_ = exact_.WrongSummands(codes_);
  refutation_ = RefuteByCodes(space_, &exact_, native, like, wrong_);
}

// Truth values, and whatever hangs on them, decided by enumeration: that clears suspicions, since
// codes of predicates know no logic, and runs what has no codes because data decides where control
// goes.
void Examination::RunTruths(const NativeRuns& native) {
  TruthRuns runs(pair_, space_, plan_.seed);
  if (!codes_.difference && !codes_.error && !runs.EnumeratesInputs()) return;
  auto found = runs.Run();
  if (!found) return;
  if (found->agree) {
    codes_.difference.reset();
    codes_.error.reset();
    if (plan_.mode != Mode::kTest) findings_.proof = std::move(found->proof);
    findings_.precision = found->precision;
    findings_.evidence.push_back(std::move(found->evidence));
  } else if (found->counterexample) {
    NativeInput input;
    input.values = NativeInput::Values::kFixed;
    input.active = std::move(found->counterexample);
    TryNative(native, input, "enumerated inputs");
  }
}

// Explicit inputs, integers and reals. Bits that agree are evidence; certain differences refute.
void Examination::RunNative(const NativeRuns& native) {
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
  NativeInput extremes = integers;
  extremes.values = NativeInput::Values::kExtremes;
  int64_t tried = TrialsOfExtremes(space_);
  const bool decides = !codes_.concrete_parameters.empty() && !findings_.proof;
  if (decides && WorkOf(pair_) < kQuickWork) {  // however much other data there is
    tried = std::max(tried, plan_.trials * kMostExtremeRuns);
  }
  RunTrials(native, extremes, "extreme integers", tried);
  if (findings_.proof) return;
  NativeInput mentioned = integers;
  mentioned.values = NativeInput::Values::kDictionary;
  mentioned.dictionary = NumbersMentioned(pair_, kMostMentioned);
  RunTrials(native, mentioned, "constants of the modules",
            std::min(static_cast<int64_t>(mentioned.dictionary.size()),
                     static_cast<int64_t>(kMostWorkOfMentioned / std::max(1.0, WorkOf(pair_)))));
}

void Examination::RunTrials(const NativeRuns& native, NativeInput input, const std::string& what) {
  // Where codes cannot go, runs stand alone: more of them while they are quick.
  const bool alone = codes_.error || !codes_.concrete_parameters.empty();
  const int64_t each = WorkOf(pair_) < kQuickWork ? kQuickTrials : 1;
  RunTrials(native, std::move(input), what, alone ? plan_.trials * each : 1);
}

void Examination::RunTrials(const NativeRuns& native, NativeInput input, const std::string& what,
                            int64_t trials) {
  for (int64_t trial = 0; trial < trials && !refutation_ && !stall_; ++trial) {
    input.trial = static_cast<uint64_t>(trial);
    TryNative(native, input, what);
  }
}

void Examination::TryNative(const NativeRuns& native, const NativeInput& input,
                            const std::string& what) {
  if (refutation_ || stall_) return;
  NativeComparison found = native.Compare(input);
  if (found.undefined) {
    ++discarded_;
  } else if (found.stall) {
    findings_.stalled = ToString(Side::kAfter);
    stall_ = std::move(found.stall);
  } else if (found.error) {
    native_error_ = std::move(found.error);
  } else {
    ++native_runs_;
  }
  if (found.difference) {
    refutation_ = Reduce(space_, native, Refutation{input, std::move(*found.difference)});
  }
  const bool compared = !found.undefined && !found.stall && !found.error && !found.difference;
  if (compared && !found.same_bits && input.values == NativeInput::Values::kExplicit) {
    open_difference_ =
        what + ": results differ, by what rounding, NaN or a sign of zero may explain";
  }
  if (!found.same_bits) return;
  native_agrees_ = true;
  const std::string detail = what + ": equal bits in group order";
  if (findings_.evidence.empty() || findings_.evidence.back().detail != detail) {
    findings_.evidence.push_back({"native run", detail, std::nullopt});
  }
}

// What is left open, and why.
void Examination::Summarize() {
  if (discarded_ > 0) {
    notes_.push_back(CountOf(discarded_, "run") +
                     " discarded: the module before is undefined or cannot finish on "
                     "these inputs");
  }
  findings_.all_discarded = discarded_ > 0 && native_runs_ == 0 && findings_.evidence.empty();
  findings_.confirmed = refutation_.has_value();
  if (refutation_) return;
  if (findings_.proof && !open_difference_.empty()) notes_.push_back(open_difference_);
  const bool cannot_confirm = native_error_ && native_runs_ == 0;
  if (codes_.difference) {
    findings_.suspicion = Suspicion(*codes_.difference);
    findings_.unsupported = cannot_confirm && native_error_->kind != ErrorKind::kInvalid;
  } else if (codes_.error && !native_agrees_) {
    const Error& error = cannot_confirm ? *native_error_ : *codes_.error;
    findings_.cannot_run = error.Message();
    findings_.unsupported = error.kind != ErrorKind::kInvalid;
  } else if (!findings_.proof && codes_.signs_of_zero && !native_agrees_) {
    findings_.cannot_run = "results hang on the sign of a zero, which codes do not know";
  } else if (!findings_.proof && !open_difference_.empty()) {
    findings_.cannot_run = open_difference_;
  } else if (!findings_.proof && EffectsOf(pair_.before) != EffectsOf(pair_.after)) {
    findings_.cannot_run = "the calls with side effects differ, and runs do not show what they do";
  }
}

std::string Examination::Suspicion(const OutputPlace& place) const {
  const std::string where =
      fmt::format("output {} of device {}", place.output, pair_.mesh.NameOf(place.device));
  if (native_error_ && native_runs_ == 0) {
    const bool by_value = !elided_.shared.empty() || !elided_.unmatched.empty();
    return fmt::format("exact codes differ at {}, and no native run can tell: {}", where,
                       by_value ? ReasonOfElided(elided_) : native_error_->Message());
  }
  if (codes_.facts[0].OnlyIntegers() && codes_.facts[1].OnlyIntegers()) {
    return fmt::format("exact codes differ at {}: no native run shows a difference", where);
  }
  const bool linear = codes_.facts[0].IsLinear() && codes_.facts[1].IsLinear();
  return fmt::format(
      "{} at {}: no native run shows a difference that rounding cannot explain",
      linear ? "differs over the reals by less than rounding shows" : "exact codes differ", where);
}

// Terms that differ may still be equal bits, so a drift counts if a run shows it.
void Examination::NoteConsistency(const NativeRuns& native) {
  const bool suspected = !findings_.suspected_drift.empty();
  const std::string drift =
      FindDrift(pair_, native, plan_.seed, suspected ? kTrialsOfASuspectedDrift : 2);
  findings_.inconsistent = !drift.empty();
  if (!findings_.inconsistent) return;
  if (suspected) notes_.push_back(findings_.suspected_drift);
  notes_.push_back(drift);
}

Divergence Examination::FirstDivergence() const {
  const NativeRuns native(pair_, space_, plan_, ranges_, codes_);
  return FindDivergence(pair_, native, *refutation_);
}

// In words: all summands that are wrong, else what the counterexample shows.
std::string Examination::Explanation() const {
  const OutputPlace& place = refutation_->difference.place;
  const bool here = codes_.difference && codes_.difference->device == place.device &&
                    codes_.difference->output == place.output &&
                    codes_.difference->element == place.element;
  std::string text;
  if (here) text = ExplainSummands(space_, place.device, wrong_);
  if (text.empty()) text = ExplainUnit(space_, *refutation_);
  return text.empty() ? summands_ : text;
}

bool Examination::ControlDiverges() const {
  return (codes_.stall[0].has_value() || findings_.all_discarded) &&
         !codes_.concrete_parameters.empty();
}

}  // namespace hv
