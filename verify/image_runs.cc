// Runs in images of the programs other than the fields: sets of leaves for maxima, minima,
// conjunctions and disjunctions, which are idempotent as no fingerprint is; Z/2^64 for integers,
// whose forms may differ by multiples of 2^w.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "base/text.h"
#include "verify/code_outputs.h"
#include "verify/exact_runs.h"

namespace hv {
namespace {

constexpr uint64_t kIntegerStream = uint64_t{1} << 41;  // apart from other uses of the seed
constexpr double kBudget = 3e8;                         // element steps
constexpr int64_t kMostIntegerRuns = 64;

}  // namespace

uint64_t ExactRuns::ImageWord(const Codes& codes, int64_t leaf) const {
  if (codes.kind == Codes::Kind::kWrapped) {
    return CounterRng(plan_.seed, kIntegerStream + codes.trial).Word(static_cast<uint64_t>(leaf));
  }
  const int64_t lane = leaf - codes.power;
  return lane >= 0 && lane < 64 ? uint64_t{1} << lane : 0;
}

// A lattice operation of leaves is known by the set of its operands: with one leaf in each bit, as
// many runs as it takes for all leaves decide for all inputs.
void ExactRuns::RunSets(CodeFindings* findings) {
  ArithmeticFacts both = findings->facts[0];
  both.Merge(findings->facts[1]);
  if (!both.IsLattice()) return;
  const int64_t runs = (space_.id_count() + 63) / 64;
  if (static_cast<double>(runs) * static_cast<double>(both.elements) > kBudget) return;
  const std::unique_ptr<CodeDomain> sets = MakeSetDomain();
  for (int64_t run = 0; run < runs; ++run) {
    Codes codes;
    codes.kind = Codes::Kind::kSets;
    codes.power = 64 * run;
    CodeFindings ignored;
    auto outcomes = RunBoth(sets.get(), codes, &ignored);
    if (!outcomes) return;
    const auto place = FirstCodeDifference(*sets, (*outcomes)[0].outputs, (*outcomes)[1].outputs);
    if (!place) continue;
    findings->difference = place;
    return;
  }
  findings->difference.reset();
  findings->evidence.push_back(
      {"sets of operands",
       fmt::format("the {} of each output is taken over the same inputs", *both.lattice.begin()),
       0.0});
  const Level level = both.OnlyIntegers() ? Level::kBitwise : Level::kReassociation;
  findings->proof = Proof{level, "", findings->evidence.back().detail};
}

// Integer forms that differ may still agree modulo 2^w.
void ExactRuns::RunIntegers(CodeFindings* findings) {
  ArithmeticFacts both = findings->facts[0];
  both.Merge(findings->facts[1]);
  if (!findings->difference || !both.held.empty() || !findings->concrete_parameters.empty()) return;
  const double affordable = kBudget / std::max(1.0, static_cast<double>(both.elements));
  const auto runs = static_cast<int64_t>(std::min<double>(affordable, kMostIntegerRuns));
  const std::unique_ptr<CodeDomain> wrap = MakeWrapDomain(FieldSeed());
  for (int64_t run = 0; run < runs; ++run) {
    Codes codes;
    codes.kind = Codes::Kind::kWrapped;
    codes.trial = static_cast<uint64_t>(run);
    CodeFindings ignored;
    auto outcomes = RunBoth(wrap.get(), codes, &ignored);
    if (!outcomes) return;
    if (FirstCodeDifference(*wrap, (*outcomes)[0].outputs, (*outcomes)[1].outputs)) return;
  }
  if (runs == 0) return;
  findings->difference.reset();
  // A linear form that is not zero modulo 2^w is even or less often zero.
  std::optional<double> bound;
  if (both.IsLinear()) bound = std::ldexp(1, -static_cast<int>(runs));
  findings->evidence.push_back(
      {"integer codes", CountOf(runs, "run") + " over Z/2^64 agree", bound});
}

}  // namespace hv
