// Every mutant on every law: killed, or shown equivalent by a proof. docs/mutants.md lists what came
// of it; a sample is verified anew each time, all of it nightly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "hlo/parser.h"
#include "hlo/printer.h"
#include "passes/registry.h"
#include "tests/fuzz/judge.h"
#include "tests/fuzz/mutants.h"
#include "tests/unit/generated_table.h"

namespace hv {
namespace {

const std::vector<Mesh> kMeshes = {{2, 3}, {3, 2}, {1, 2}, {1, 3}, {1, 4},
                                   {1, 6}, {1, 8}, {1, 12}, {4, 1}};
const std::vector<std::string> kTypes = {"f32", "s32"};

// Laws that come in many variants are drawn more often.
int64_t DrawsOf(const Law& law) {
  const bool rich = law.name == "OwnShard" || law.name == "OffsetSpelling" ||
                    law.name == "ScatterGather" || law.name == "Independent";
  return rich ? 8 : 2;
}

// A right pair and how well it is proved.
struct RightPair {
  SketchPair sketches;
  std::string before;
  Level level;
};

// What is only tested gives no ground to judge mutants on.
void AddIfProved(SketchPair pair, std::vector<RightPair>* list) {
  const std::string before = pair.before.Text();
  const CaseReport report = VerifyTexts({before, pair.after.Text(), pair.before.mesh});
  EXPECT_NE(report.verdict, Verdict::kInvalid) << pair.laws[0] << " " << report.reason;
  if (report.verdict != Verdict::kProved) return;
  list->push_back({std::move(pair), before, report.level});
}

// The laws on all meshes, as far as they are proved.
const std::vector<RightPair>& RightPairs() {
  static const std::vector<RightPair> pairs = [] {
    std::vector<RightPair> list;
    uint64_t seed = 0;
    for (const Law& law : Laws()) {
      for (const Mesh& mesh : kMeshes) {
        for (const std::string& type : kTypes) {
          for (int64_t draw = 0; draw < DrawsOf(law); ++draw) {
            auto pair = PairOfLaw(law, mesh, type, ++seed);
            if (pair) AddIfProved(std::move(*pair), &list);
          }
        }
      }
    }
    return list;
  }();
  return pairs;
}

// What became of the applications of one mutant.
struct Outcome {
  int64_t applications = 0, weaker = 0, equivalent = 0, open = 0;
  std::map<std::string, int64_t> killed;  // by verdict and method

  void Add(const CaseReport& report, Level right) {
    ++applications;
    if (report.verdict == Verdict::kProved) {
      ++(report.level < right || !report.precision.empty() ? weaker : equivalent);
    } else if (report.verdict == Verdict::kTested && !report.precision.empty()) {
      ++weaker;
    } else if (report.verdict == Verdict::kTested || report.verdict == Verdict::kUnknown) {
      ++open;
    } else {
      ++killed[MethodOf(report)];
    }
  }

  static std::string MethodOf(const CaseReport& report) {
    const std::string verdict(ToString(report.verdict));
    if (report.verdict != Verdict::kRefuted) return verdict;
    const bool codes = std::any_of(report.evidence.begin(), report.evidence.end(), [](const auto& e) {
      return e.method == "random codes" && e.detail.find("differs") != std::string::npos;
    });
    return verdict + (codes ? " (exact codes)" : " (native run)");
  }

  std::string Text() const {
    std::string list;
    for (const auto& [method, count] : killed) {
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", method, count);
    }
    return fmt::format("{} | {} | {} | {} | {}", applications, list, weaker, equivalent, open);
  }
};

using Visit = std::function<void(const Mutant&, const RightPair&, const Spoilt&)>;

// Every application of every mutant, always in the same order.
void ForEachApplication(const Visit& visit) {
  for (const Mutant& mutant : AllMutants()) {
    for (const RightPair& pair : RightPairs()) {
      for (const Spoilt& spoilt : SpoilEach(mutant, pair.sketches.after, 1)) {
        visit(mutant, pair, spoilt);
      }
    }
  }
}

CaseReport VerifySpoilt(const RightPair& pair, const Spoilt& spoilt) {
  return VerifyTexts({pair.before, spoilt.sketch.Text(), spoilt.sketch.mesh});
}

std::string Words(const Mutant& mutant, const RightPair& pair, const Spoilt& spoilt,
                  const CaseReport& report) {
  return fmt::format("mutant {} ({}) of {} at {}: {}, {}\n{}{}", mutant.number, mutant.doc,
                     pair.sketches.laws[0], spoilt.step, ToString(report.verdict), report.reason,
                     pair.before, spoilt.sketch.Text());
}

std::string RowStart(const Mutant& mutant) {
  return fmt::format("| {} | {} | {} | ", mutant.number, mutant.doc, mutant.marks);
}

constexpr char kHeads[] =
    "| | what is wrong | marks | applied | killed by | weaker proof | equivalent, proved | open |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |\n";

// One in 25 applications, and how many there are of each mutant.
TEST(Mutants, ASampleIsAsThePageSays) {
  const Result<std::string> page = ReadFile(std::string(HV_SOURCE_DIR) + "/docs/mutants.md");
  ASSERT_TRUE(page);
  std::map<int, int64_t> applications;
  int64_t number = 0;
  ForEachApplication([&](const Mutant& mutant, const RightPair& pair, const Spoilt& spoilt) {
    ++applications[mutant.number];
    if (++number % 25 != 0) return;
    const CaseReport report = VerifySpoilt(pair, spoilt);
    Outcome outcome;
    outcome.Add(report, pair.level);
    EXPECT_EQ(outcome.open, 0) << Words(mutant, pair, spoilt, report);
    const size_t row = page->find(RowStart(mutant));
    ASSERT_NE(row, std::string::npos) << RowStart(mutant);
    const std::string line = page->substr(row, page->find('\n', row) - row);
    for (const auto& [method, count] : outcome.killed) {
      EXPECT_NE(line.find(method), std::string::npos) << Words(mutant, pair, spoilt, report);
    }
  });
  for (const Mutant& mutant : AllMutants()) {
    const std::string row = RowStart(mutant) + std::to_string(applications[mutant.number]) + " |";
    EXPECT_NE(page->find(row), std::string::npos) << row;
  }
}

TEST(NightlyMutants, NoneSurvivesAndThePageListsThem) {
  std::map<int, Outcome> outcomes;
  ForEachApplication([&](const Mutant& mutant, const RightPair& pair, const Spoilt& spoilt) {
    const CaseReport report = VerifySpoilt(pair, spoilt);
    Outcome& outcome = outcomes[mutant.number];
    const int64_t open = outcome.open;
    outcome.Add(report, pair.level);
    EXPECT_EQ(outcome.open, open) << Words(mutant, pair, spoilt, report);
  });
  std::string table = kHeads;
  for (const Mutant& mutant : AllMutants()) {
    table += RowStart(mutant) + outcomes[mutant.number].Text() + " |\n";
    EXPECT_GT(outcomes[mutant.number].applications, 0) << mutant.doc;
  }
  ExpectTableInPage("mutants.md", table);
}

// Modules for the wrong twins of the passes: both sides of the laws, and those of the scenarios.
std::vector<std::string> ModulesForTwins() {
  std::vector<std::string> texts;
  for (const RightPair& pair : RightPairs()) {
    texts.push_back(pair.before);
    texts.push_back(pair.sketches.after.Text());
  }
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(HV_SOURCE_DIR) + "/scenarios/hlo")) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    if (const auto module = ParseModuleFile(path)) texts.push_back(PrintModule(*module));
  }
  return texts;
}

// What became of `twin` on every `stride`-th module.
Outcome OutcomeOf(const PassRow& twin, const std::vector<std::string>& texts, size_t stride) {
  const auto calls = ParsePasses(std::string(twin.key));
  Outcome outcome;
  for (size_t i = texts.size() % stride; i < texts.size(); i += stride) {
    const auto module = ParseModule("before.hlo", texts[i]);
    EXPECT_TRUE(module) << texts[i];
    const DeviceCounts counts = DeduceCounts(*module);
    if (!Validate(*module, counts)) continue;
    const PipelineResult result = RunPasses(*calls, *module, counts);
    if (!result.changed && result.broken_by.empty()) continue;
    const CaseReport report = VerifyTexts(
        {texts[i], PrintModule(result.module), {counts.replicas, counts.partitions}});
    const int64_t open = outcome.open;
    outcome.Add(report, Level::kReassociation);
    EXPECT_EQ(outcome.open, open) << twin.key << ": " << report.reason << "\n" << texts[i];
  }
  return outcome;
}

TEST(Mutants, ASampleOfWrongTwinsIsKilledOrEquivalent) {
  const std::vector<std::string> texts = ModulesForTwins();
  for (const PassRow& twin : Mutants()) OutcomeOf(twin, texts, 20);
}

TEST(NightlyMutants, WrongTwinsAreKilledOrEquivalentAndThePageListsThem) {
  const std::vector<std::string> texts = ModulesForTwins();
  std::string table =
      "| wrong twin | what it does wrong | changed | killed by | weaker proof | equivalent, proved "
      "| open |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const PassRow& twin : Mutants()) {
    const Outcome outcome = OutcomeOf(twin, texts, 1);
    EXPECT_FALSE(outcome.killed.empty()) << twin.key;
    table += fmt::format("| {} | {} | {} |\n", twin.key, twin.doc, outcome.Text());
  }
  ExpectTableInPage("mutants.md", table);
}

}  // namespace
}  // namespace hv
