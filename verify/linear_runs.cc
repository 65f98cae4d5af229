// What more runs tell about linear programs: a proof where codes agree, the wrong summands where
// they do not.
#include <fmt/format.h>

#include "base/philox.h"
#include "verify/code_outputs.h"
#include "verify/exact_runs.h"
#include "verify/linear_forms.h"

namespace hv {
namespace {

constexpr uint64_t kFieldStream = 3;     // of the algebra's own key
constexpr double kPowerSumBudget = 3e8;  // element steps that a proof may take
// Decoding: leaves looked through, sums taken, element steps spent.
constexpr int64_t kMostDecoded = 2000000;
constexpr size_t kMostSums = 64;
constexpr double kDecodeBudget = 1e8;

}  // namespace

uint64_t ExactRuns::FieldSeed() const { return CounterRng(plan_.seed, kFieldStream).Word(0); }

bool ExactRuns::AgreeInPowers(CodeDomain* domain, int64_t from, int64_t to,
                              CodeFindings* findings) {
  for (int64_t t = from; t < to; ++t) {
    Codes codes;
    codes.kind = Codes::Kind::kPowers;
    codes.power = t;
    CodeFindings ignored;
    auto outcomes = RunBoth(domain, codes, &ignored);
    if (!outcomes || ignored.stall[0] || ignored.stall[1]) return false;
    findings->difference =
        FirstCodeDifference(*domain, (*outcomes)[0].outputs, (*outcomes)[1].outputs);
    if (findings->difference) return false;
  }
  return true;
}

// Sums of powers that determine the forms prove what forms can. Signs that cancel are seen in a run
// without them: forms that agree with and without have the same summands of each sign.
void ExactRuns::RunPowerSums(CodeFindings* findings) {
  ArithmeticFacts both = findings->facts[0];
  both.Merge(findings->facts[1]);
  const auto sums = PowerSumsNeeded(both, findings->weight, space_.id_count());
  if (!sums) return;
  const double cost = static_cast<double>(*sums) * static_cast<double>(both.elements);
  if (cost > kPowerSumBudget * (plan_.mode == Mode::kProve ? 30 : 1)) return;
  if (!AgreeInPowers(field_.get(), kCodeRuns, *sums, findings)) return;
  findings->evidence.push_back(
      {"power sums", fmt::format("{} sums of distinct codes determine every weight", *sums), 0.0});
  findings->proof = ProofOfEqualForms(findings->facts[0], findings->facts[1]);
  if (!findings->proof) return;
  findings->proof->method = findings->evidence.back().detail;
  if (!both.negative || findings->proof->level != Level::kReassociation) return;
  CodeFindings gross;
  const auto unsigned_field = MakeGrossFieldDomain(FieldSeed());
  if (!AgreeInPowers(unsigned_field.get(), 0, *sums, &gross)) findings->proof.reset();
}

// After minus before at one place, of codes to a power.
std::optional<Fp> ExactRuns::ExcessAt(const OutputPlace& place, int64_t power) {
  Codes codes;
  codes.kind = Codes::Kind::kPowers;
  codes.power = power;
  CodeFindings ignored;
  auto outcomes = RunBoth(field_.get(), codes, &ignored);
  if (!outcomes || ignored.stall[0] || ignored.stall[1]) return std::nullopt;
  const auto at = [&](size_t side) {
    const std::vector<Value> leaves = Leaves((*outcomes)[side].outputs.at(place.device));
    const Value codes_there = field_->Finish(leaves[static_cast<size_t>(place.output)]);
    return Fp::Of(field_->CodeAt(codes_there, place.element)[0]);
  };
  return at(1) - at(0);
}

// Few sums first; twice as many as long as they do not explain two more than were decoded.
std::vector<WrongSummand> ExactRuns::WrongSummands(const CodeFindings& findings) {
  ArithmeticFacts both = findings.facts[0];
  both.Merge(findings.facts[1]);
  const bool tells = findings.difference && both.IsLinear() && !both.elided &&
                     findings.concrete_parameters.empty() && space_.id_count() <= kMostDecoded;
  if (!tells) return {};
  const auto code_of = [this](int64_t leaf) { return Fp::Of(leaf_codes_.Word(leaf, 0)); };
  std::vector<Fp> sums;
  for (size_t count = 8; count <= kMostSums; count *= 2) {
    if (static_cast<double>(count) * static_cast<double>(both.elements) > kDecodeBudget) break;
    while (sums.size() < count + 2) {
      const auto sum = ExcessAt(*findings.difference, static_cast<int64_t>(sums.size()));
      if (!sum) return {};
      sums.push_back(*sum);
    }
    auto wrong =
        DecodeSums(std::span(sums).first(count), space_.id_count(), code_of, 2 * findings.weight);
    if (wrong && SumOf(*wrong, code_of, count) == sums[count] &&
        SumOf(*wrong, code_of, count + 1) == sums[count + 1]) {
      return std::move(*wrong);
    }
  }
  return {};
}

}  // namespace hv
