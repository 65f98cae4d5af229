// Random pairs, half of them equivalent by construction, half with one step spoilt: the verifier
// never cries wolf and never calls a wrong rewrite fine. HV_FUZZ_FIRST and HV_FUZZ_CASES choose
// other seeds than the sample's; the nightly slices run 100 000 pairs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "hlo/parser.h"
#include "hlo/printer.h"
#include "passes/registry.h"
#include "tests/fuzz/judge.h"
#include "tests/fuzz/mutants.h"

namespace hv {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t usual) {
  const char* wanted = std::getenv(name);
  return wanted == nullptr ? usual : std::strtoull(wanted, nullptr, 10);
}

// What the passes make of `text`; nothing if they leave it alone or break it.
std::optional<std::string> Rewritten(const std::string& text, const std::string& passes) {
  const auto module = ParseModule("before.hlo", text);
  const auto calls = ParsePasses(passes);
  if (!module || !calls) return std::nullopt;
  const PipelineResult result = RunPasses(*calls, *module, DeduceCounts(*module));
  if (!result.changed || !result.broken_by.empty()) return std::nullopt;
  return PrintModule(result.module);
}

struct Case {
  PairTexts texts;
  PairKind kind = PairKind::kEquivalent;
  std::string made;  // laws and mutant
};

// One mutant that applies, at one of its sites.
bool Spoil(const SketchPair& pair, uint64_t seed, Case* made) {
  Draw draw(seed, 2);
  const auto mutants = AllMutants();
  for (const int64_t i : draw.Permutation(static_cast<int64_t>(mutants.size()))) {
    std::vector<Spoilt> all = SpoilEach(mutants[static_cast<size_t>(i)], pair.after, seed);
    if (all.empty()) continue;
    const Spoilt& spoilt = draw.Of(all);
    made->texts.after = spoilt.sketch.Text();
    made->kind = PairKind::kSpoilt;
    made->made += "mutant " + std::to_string(spoilt.mutant->number) + " at " + spoilt.step;
    return true;
  }
  return false;
}

Case CaseOf(uint64_t seed) {
  const SketchPair pair = RandomPair(seed);
  Case made{{pair.before.Text(), pair.after.Text(), pair.before.mesh}, PairKind::kEquivalent, ""};
  for (const std::string& law : pair.laws) made.made += law + " ";
  Draw draw(seed, 3);
  if (draw.OneIn(8)) {
    // A guarded pass keeps the meaning; its wrong twins may not.
    const bool twin = draw.OneIn(2);
    const auto rows = twin ? Mutants() : Passes();
    const std::string pass(
        twin ? rows[static_cast<size_t>(draw.Below(static_cast<int64_t>(rows.size())))].key
             : draw.OneIn(2) ? "all_reduce_dynamic_slice_to_reduce_scatter{allow_dearer=true}"
                             : "delete_identity_collectives");
    if (const auto after = Rewritten(made.texts.before, pass)) {
      made.texts.after = *after;
      made.made += pass;
      if (twin) made.kind = PairKind::kSpoilt;
      return made;
    }
  }
  if (draw.OneIn(2)) Spoil(pair, seed, &made);
  return made;
}

// Figures of a run, by kind and verdict.
using Figures = std::map<std::string, int64_t>;

void Judge(uint64_t seed, Figures* figures) {
  const Case c = CaseOf(seed);
  const CaseReport report = VerifyTexts(c.texts);
  Truth truth = Truth::kNoDifference;
  const std::string fault = FaultOf(c.texts, c.kind, report, &truth);
  const bool spoilt = c.kind == PairKind::kSpoilt;
  const bool differs = truth == Truth::kDifferent || truth == Truth::kStalls;
  std::string kind = spoilt ? "spoilt, no difference shown: " : "equivalent: ";
  if (spoilt && differs) kind = "spoilt, different: ";
  ++(*figures)[kind + std::string(ToString(report.verdict))];
  EXPECT_EQ(fault, "") << "seed " << seed << ", " << c.made << "\n"
                       << report.reason << "\n"
                       << c.texts.before << c.texts.after;
}

Figures JudgeAll(uint64_t first, uint64_t count) {
  Figures figures;
  for (uint64_t seed = first; seed < first + count; ++seed) Judge(seed, &figures);
  for (const auto& [what, number] : figures) std::cout << number << " " << what << "\n";
  return figures;
}

TEST(RandomPairs, NoFalseAlarmAndNoWrongProof) {
  const Figures figures =
      JudgeAll(FromEnvironment("HV_FUZZ_FIRST", 0), FromEnvironment("HV_FUZZ_CASES", 3000));
  const auto count = [&](const std::string& what) {
    const auto found = figures.find(what);
    return found == figures.end() ? 0 : found->second;
  };
  // The generator does what it should: both kinds occur, and the verifier is not merely silent.
  EXPECT_GT(count("equivalent: PROVED"), 10 * count("equivalent: UNKNOWN"));
  EXPECT_GT(count("spoilt, different: REFUTED"), 10 * count("spoilt, different: UNKNOWN"));
}

class NightlyPairs : public ::testing::TestWithParam<uint64_t> {};

TEST_P(NightlyPairs, NoFalseAlarmAndNoWrongProof) { JudgeAll(GetParam() * 10000, 10000); }

INSTANTIATE_TEST_SUITE_P(Slices, NightlyPairs, ::testing::Range(uint64_t{0}, uint64_t{10}));

}  // namespace
}  // namespace hv
