#include "verify/decide.h"

#include <fmt/format.h>

#include <algorithm>

namespace hv {
namespace {

Decision Verdicted(Verdict verdict, std::string reason) {
  Decision decision;
  decision.verdict = verdict;
  decision.reason = std::move(reason);
  return decision;
}

Decision Proved(const Proof& proof) {
  Decision decision = Verdicted(Verdict::kProved, proof.method);
  decision.level = proof.level;
  decision.precision = proof.precision;
  return decision;
}

// What codes cannot tell (rounding, overflow, what is special about NaN) only native runs show.
std::string TestedReason(const std::vector<Evidence>& evidence) {
  const bool ran = std::any_of(evidence.begin(), evidence.end(),
                               [](const Evidence& e) { return e.method == "native run"; });
  const std::optional<double> bound = MissBoundOf(evidence);
  return fmt::format("no difference found{}; {}",
                     ran ? "" : " by exact codes alone (no native run could tell)",
                     bound ? fmt::format("chance of a miss at most {:.2g}", *bound)
                           : "no bound on the chance of a miss");
}

}  // namespace

std::optional<double> MissBoundOf(const std::vector<Evidence>& evidence) {
  std::optional<double> best;
  for (const Evidence& e : evidence) {
    if (e.miss_bound) best = std::min(best.value_or(1), *e.miss_bound);
  }
  return best;
}

Decision Decide(const Findings& f) {
  if (f.proof && f.confirmed) {
    Decision decision = Verdicted(Verdict::kUnknown,
                                  "proved (" + f.proof->method + "), and yet a native run differs");
    decision.internal_error = true;
    return decision;
  }
  if (!f.stalled.empty()) {
    return Verdicted(Verdict::kDeadlock, "the module " + f.stalled + " the rewrite cannot finish");
  }
  if (f.confirmed) return Verdicted(Verdict::kRefuted, "a native run on the ranks differs");
  // A proof that keeps every bit keeps replicas equal; a weaker one does not.
  const bool bitwise = f.proof && f.proof->level == Level::kBitwise;
  if (f.inconsistent && !bitwise) {
    return Verdicted(Verdict::kInconsistent,
                     "values that were the same on several devices before may differ after");
  }
  if (!f.suspected_drift.empty() && !bitwise) {
    return Verdicted(Verdict::kUnknown,
                     "proved up to rounding, but " + f.suspected_drift + "; no run shows it");
  }
  if (f.proof) return Proved(*f.proof);
  if (!f.suspicion.empty()) return Verdicted(Verdict::kUnknown, f.suspicion);
  if (f.all_discarded) {
    return Verdicted(Verdict::kUnknown, "the module before is undefined on every input tried");
  }
  if (!f.cannot_run.empty()) return Verdicted(Verdict::kUnknown, f.cannot_run);
  Decision tested = Verdicted(Verdict::kTested, TestedReason(f.evidence));
  tested.precision = f.precision;
  if (!f.precision.empty()) tested.level = Level::kReal;
  return tested;
}

}  // namespace hv
