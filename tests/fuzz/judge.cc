#include "tests/fuzz/judge.h"

#include <optional>

#include "hlo/parser.h"
#include "sim/transport.h"
#include "verify/examine.h"

namespace hv {
namespace {

Scenario ScenarioOf(const PairTexts& pair) {
  Scenario scenario;
  scenario.name = "random pair";
  scenario.before.text = pair.before;
  scenario.before.label = "before.hlo";
  scenario.after.text = pair.after;
  scenario.after.label = "after.hlo";
  return scenario;
}

bool HasBound(const CaseReport& report) {
  for (const Evidence& e : report.evidence) {
    if (e.miss_bound) return true;
  }
  return false;
}

// Does running both modules on the product's own counterexample show a difference?
bool CounterexampleHolds(const PairTexts& texts, const Module& before, const Module& after) {
  const Scenario scenario = ScenarioOf(texts);
  const Examined examined = Examine(scenario);
  if (!examined.refutation) return false;
  const Pair pair{before, after, texts.mesh};
  const InputSpace space = SpaceOf(pair, scenario, examined.assumptions);
  const std::vector<std::optional<InputRange>> ranges(space.slots().size());
  const SlotFill fill = FillNative(examined.refutation->input, space, ranges, scenario.inputs);
  return DiffersOn(before, after, texts.mesh, MakeInputs(before, space, fill),
                   MakeInputs(after, space, fill));
}

// A law may let replicas drift apart: then it is right to say so.
std::string FaultOfEquivalent(const CaseReport& report, Truth truth) {
  if (report.verdict == Verdict::kInconsistent && truth == Truth::kDrifts) return "";
  if (truth != Truth::kNoDifference) return "generator: the pair is not equivalent";
  switch (report.verdict) {
    case Verdict::kProved:
    case Verdict::kTested:
    case Verdict::kUnknown:
      return "";
    case Verdict::kInvalid:
      return "generator: " + report.reason;
    default:
      return "false alarm: " + std::string(ToString(report.verdict)) + ", " + report.reason;
  }
}

}  // namespace

CaseReport VerifyTexts(const PairTexts& pair) {
  const auto transport = MakeLocalTransport();
  return Verify({ScenarioOf(pair)}, {}, transport.get()).cases[0];
}

std::string FaultOf(const PairTexts& pair, PairKind kind, const CaseReport& report, Truth* truth) {
  const auto before = ParseModule("before.hlo", pair.before);
  const auto after = ParseModule("after.hlo", pair.after);
  if (report.verdict == Verdict::kInvalid || !before || !after) {
    return kind == PairKind::kEquivalent ? "generator: " + report.reason : "";
  }
  TruthOptions options;
  options.one_hot = kind == PairKind::kSpoilt;
  options.stall = report.verdict == Verdict::kDeadlock;
  options.drift = report.verdict == Verdict::kInconsistent;
  // Where the precision got narrower, whole numbers that bf16 holds must still agree.
  if (!report.precision.empty()) options.exact_up_to = 64;
  std::string why;
  const Truth found = FindTruth(*before, *after, pair.mesh, options, &why);
  if (truth != nullptr) *truth = found;
  if (kind == PairKind::kEquivalent) return FaultOfEquivalent(report, found);
  const bool differs = found == Truth::kDifferent || found == Truth::kStalls;
  switch (report.verdict) {
    case Verdict::kProved:
      return differs ? "wrong PROVED: " + why : "";
    case Verdict::kTested:  // without a bound it promises nothing
      return differs && HasBound(report) ? "wrong TESTED with a bound: " + why : "";
    case Verdict::kRefuted:
      if (differs || CounterexampleHolds(pair, *before, *after)) return "";
      return "false alarm: REFUTED, and its counterexample shows nothing";
    case Verdict::kDeadlock:
      return found == Truth::kStalls ? "" : "false alarm: DEADLOCK";
    case Verdict::kInconsistent:
      return found != Truth::kNoDifference ? "" : "unconfirmed: INCONSISTENT";
    default:
      return "";
  }
}

}  // namespace hv
