// Damaged modules, scenarios and command lines, thousands of each: whatever comes, there is an
// answer in bounded time, and it is never "internal error". HV_DAMAGE=FIRST:COUNT runs other items
// than the usual ones: a single one again, or many more over night.
#include "tests/bad/damage.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/check.h"
#include "base/standard_input.h"
#include "passes/registry.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/text.h"
#include "tests/bad/bad_table.h"
#include "tools/verify_command.h"
#include "verify/verify.h"

namespace hv {
namespace {

constexpr uint64_t kSeed = 20;
constexpr unsigned kLongestSeconds = 60;  // for one item, on the slowest machine with sanitizers

struct Text {
  std::string name, text;
};

// Small files below the folders that end in `ending`, sorted.
std::vector<Text> Corpus(const std::vector<std::string>& folders, const std::string& ending) {
  namespace fs = std::filesystem;
  constexpr size_t kLargest = 3000;
  std::vector<Text> texts;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(HV_SOURCE_DIR "/" + folder)) {
      if (entry.path().extension() != ending) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::string text{std::istreambuf_iterator<char>(file), {}};
      if (text.size() <= kLargest) texts.push_back({entry.path(), std::move(text)});
    }
  }
  std::sort(texts.begin(), texts.end(),
            [](const Text& a, const Text& b) { return a.name < b.name; });
  EXPECT_GT(texts.size(), 20u);
  return texts;
}

char current[256];  // which item is at work

// Too late (SIGALRM), or a crash.
void SayWhatEndsIt(int signal) {
  std::signal(signal, SIG_DFL);
  if (write(STDERR_FILENO, current, strnlen(current, sizeof current)) >= 0) raise(signal);
}

// Calls `run` for `count` items from `first` on, unless the environment asks for others.
template <class Run>
void ForItems(uint64_t first, uint64_t count, const char* what, const Run& run) {
  if (const char* asked = std::getenv("HV_DAMAGE")) {
    std::sscanf(asked, "%lu:%lu", &first, &count);
  }
  ProvideStandardInput("");
  for (int signal : {SIGALRM, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(signal, SayWhatEndsIt);
  for (uint64_t item = first; item < first + count; ++item) {
    const CheckContext context(std::string("damaging ") + what + " " + std::to_string(item));
    std::snprintf(current, sizeof current, "%s %lu does not end, or crashes\n", what, item);
    alarm(kLongestSeconds);
    run(item, Damage(kSeed, item));
  }
  alarm(0);
}

// Everything that is done with scenarios, short of writing files.
void Judge(std::vector<Scenario> scenarios, const std::string& shown) {
  const CheckContext context("judging\n" + shown);
  for (Scenario& scenario : scenarios) {
    if (!scenario.pass_command.empty()) return;  // damaged commands are not for running
    scenario.memory_limit_bytes = 16 << 20;
    scenario.timeout_seconds = 2;
    scenario.inputs.trials = 1;
  }
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  const Report report = Verify(scenarios, {}, transport.get());
  EXPECT_NE(report.exit_code, kExitInternal) << RenderText(report, {}) << shown;
  EXPECT_FALSE(RenderText(report, {Verbosity::kVerbose, true}).empty());
  EXPECT_FALSE(RenderJson(report).empty());
  EXPECT_FALSE(RenderJunit(report, FailOn::kUnknown).empty());
}

void DamageModules(uint64_t first, uint64_t count) {
  const std::vector<Text> corpus =
      Corpus({"tests/golden", "scenarios/hlo", "tests/data/cases/bugs"}, ".hlo");
  ForItems(first, count, "module", [&](uint64_t item, Damage damage) {
    const Text& whole = corpus[item % corpus.size()];
    const std::string damaged = damage.Of(whole.text, corpus[damage.Below(corpus.size())].text);
    Scenario scenario;
    scenario.name = "damaged";
    scenario.before = {"", whole.text, "whole.hlo"};
    scenario.after = {"", damaged, "damaged.hlo"};
    if (damage.Below(4) == 0) {
      scenario.before.text = damaged;
      scenario.after = {};
      for (const PassRow& row : Passes()) scenario.passes.emplace_back(row.key);
    }
    Judge({scenario}, damaged);
  });
}

TEST(Damage, ModulesOne) { DamageModules(0, 7000); }
TEST(Damage, ModulesTwo) { DamageModules(7000, 7000); }

TEST(Damage, Scenarios) {
  const std::vector<Text> corpus = Corpus({"scenarios"}, ".json");
  ForItems(0, 5000, "scenario", [&](uint64_t item, Damage damage) {
    const Text& whole = corpus[item % corpus.size()];
    const std::string damaged = damage.Of(whole.text, corpus[damage.Below(corpus.size())].text);
    const auto document = JsonDocument::Parse(whole.name, damaged);
    if (document) return Judge(ReadScenarios(*document), damaged);
    EXPECT_FALSE(FormatError(document.error()).empty());
  });
}

// Arguments are separated by newlines.
constexpr std::string_view kCommandLines[] = {
    "scenarios/truth-02-shuffled-group-p4.json\n--expect=not_equivalent\n-q\n--json=x\n--junit=y",
    "scenarios/hlo/single_group_line8.hlo\n--passes=all_reduce_dynamic_slice_to_reduce_scatter\n"
    "--min-level\nbitwise\n--machine=trn2\n--max-cost-ratio=1.5",
    "scenarios/hlo/swap_p2.hlo\n--passes\naws_neuron_rewrite_all_reduce_dynamic_slice,"
    "all_reduce_dynamic_slice_to_reduce_scatter{allow_dearer=true}\n--replicas=1\n--partitions=2",
    "scenarios/hlo/swap_p2.hlo\nscenarios/hlo/swap_p2.hlo\n--seed=7\n--trials=3\n--mode=test\n"
    "--ranges=0=-1:1,x=0:7\n--replicated=0,2\n--ignore_claims\n--timeout=3.5",
    "scenarios\n-n\n8\n--fail-on=refuted\n--color=always\n-v\n--explain\n--memory-limit=4GiB",
    "--inputs=tests/data/cases/bugs/b67-done-of-the-other-start/case.json\n-\n-\n--self-test",
};

// What would be said on the terminal goes nowhere.
class Silence {
 public:
  ~Silence() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(err_);
  }

 private:
  std::ostringstream said_;
  std::streambuf* const out_ = std::cout.rdbuf(said_.rdbuf());
  std::streambuf* const err_ = std::cerr.rdbuf(said_.rdbuf());
};

TEST(Damage, CommandLines) {
  const Silence silence;
  const std::filesystem::path folder = std::filesystem::current_path();
  std::filesystem::current_path(HV_SOURCE_DIR);
  ForItems(0, 3000, "command line", [&](uint64_t item, Damage damage) {
    const std::string damaged =
        damage.Of(std::string(kCommandLines[item % std::size(kCommandLines)]),
                  kCommandLines[damage.Below(std::size(kCommandLines))]);
    std::vector<std::string> words{"verify_rewrite"};
    std::istringstream lines(damaged);
    for (std::string line; std::getline(lines, line);) words.push_back(line.c_str());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    VerifyFlags flags;
    const auto code =
        ParseVerifyCommand(static_cast<int>(arguments.size()), arguments.data(), &flags);
    if (code) {
      EXPECT_TRUE(*code == kExitOk || *code == kExitBadInput) << damaged;
      return;
    }
    const auto scenarios = CollectScenarios(flags.scenario);
    if (scenarios && scenarios->size() < 5) Judge(*scenarios, damaged);
  });
  std::filesystem::current_path(folder);
}

}  // namespace
}  // namespace hv
