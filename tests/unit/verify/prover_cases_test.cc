// Every pair of the bug cases and of the real pairs: what is equivalent is proved where the
// fragment allows, what is not is never proved.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "hlo/parser.h"
#include "passes/registry.h"
#include "verify/prover.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> CasesIn(const std::string& folder) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(std::string(HV_TEST_DATA) + "/" + folder)) {
    if (fs::exists(entry.path() / "after.hlo")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

nlohmann::json CaseFile(const fs::path& folder) {
  std::ifstream in(folder / "case.json");
  return nlohmann::json::parse(in);
}

std::string Summary(const ProofResult& result) {
  switch (result.outcome) {
    case ProofOutcome::kProved:
    case ProofOutcome::kInconsistent:
      return std::string(result.outcome == ProofOutcome::kProved ? "proved " : "INCONSISTENT ") +
             std::string(ToString(result.level)) +
             (result.sub_class.empty() ? "" : ", " + result.sub_class) +
             (result.precision.empty() ? "" : ", precision " + result.precision) + " " +
             result.reason;
    case ProofOutcome::kNotProved:
      return "not proved: " + result.reason;
    case ProofOutcome::kUnsupported:
      return "unsupported: " + result.reason;
    case ProofOutcome::kStalled:
      return "stalled: " + result.reason;
  }
  return "";
}

// The equivalent pairs of a folder that are not proved. What is not equivalent must not be.
std::set<std::string> UnprovedOf(const std::string& folder, const ProofOptions& options,
                                 std::string* words) {
  std::set<std::string> open;
  for (const fs::path& path : CasesIn(folder)) {
    const nlohmann::json about = CaseFile(path);
    const std::string name = path.filename().string(), expected = about["expected"];
    if (expected == "invalid") continue;
    auto before = ParseModuleFile((path / "before.hlo").string());
    auto after = ParseModuleFile((path / "after.hlo").string());
    EXPECT_TRUE(before.has_value() && after.has_value()) << path;
    if (!before || !after) continue;
    const Mesh mesh{about["replica_count"], about["partition_count"]};
    const ProofResult result = ProvePair(*before, *after, mesh, options);
    if (expected != "equivalent") {
      EXPECT_NE(result.outcome, ProofOutcome::kProved) << name << ": " << Summary(result);
    } else if (result.outcome != ProofOutcome::kProved) {
      open.insert(name);
      *words += name + ": " + Summary(result) + "\n";
    }
  }
  return open;
}

// The equivalent pairs of a folder that are not proved must be exactly `unproved`.
void RunFolder(const std::string& folder, const std::set<std::string>& unproved) {
  std::string words;
  EXPECT_EQ(UnprovedOf(folder, {}, &words), unproved) << words;
}

// As if every module were too large to be run: only values are numbered and regions proved.
void RunFolderByRegions(const std::string& folder, const std::set<std::string>& unproved) {
  ProofOptions options;
  options.most_work = 0;
  std::string words;
  EXPECT_EQ(UnprovedOf(folder, options, &words), unproved) << words;
}

// Why each is open stands in docs/proof.md.
TEST(ProverCases, Bugs) {
  RunFolder("cases/bugs", {});
}

TEST(ProverCases, RealPairs) {
  RunFolder("real/pairs", {"ragged_all_to_all_decomposer__ragged_exchange"});
}

TEST(ProverCases, BugsByRegions) {
  RunFolderByRegions("cases/bugs", {});
}

// All devices at once, wherever a module runs so.
TEST(ProverCases, InLockstep) {
  for (const char* folder : {"cases/bugs", "real/pairs"}) {
    ProofOptions options;
    options.most_work = 0;
    std::string words;
    const std::set<std::string> one_by_one = UnprovedOf(folder, options, &words);
    options.lockstep_from = 1;
    EXPECT_EQ(UnprovedOf(folder, options, &words), one_by_one);
  }
}

// Loops taken apart are proved as a whole only.
TEST(ProverCases, RealPairsByRegions) {
  RunFolderByRegions("real/pairs", {"loop_double_buffer_transformer__accumulate_then_reduce",
                                    "loop_double_buffer_transformer__loop_gather_layers",
                                    "ragged_all_to_all_decomposer__ragged_exchange"});
}

// Real modules against themselves, and against what the guarded passes make of them.
TEST(ProverCases, RealModules) {
  const auto calls =
      ParsePasses("all_reduce_dynamic_slice_to_reduce_scatter,delete_identity_collectives");
  ASSERT_TRUE(calls.has_value());
  int changed = 0;
  for (const auto& entry :
       fs::directory_iterator(std::string(HV_TEST_DATA) + "/real/modules")) {
    const std::string name = entry.path().filename().string();
    const nlohmann::json about = CaseFile(entry.path());
    auto module = ParseModuleFile((entry.path() / "module.hlo").string());
    auto again = ParseModuleFile((entry.path() / "module.hlo").string());
    ASSERT_TRUE(module.has_value() && again.has_value()) << name;
    const Mesh mesh{about["replica_count"], about["partition_count"]};
    const ProofResult same = ProvePair(*module, *again, mesh, {});
    EXPECT_EQ(same.outcome, ProofOutcome::kProved) << name << ": " << Summary(same);
    EXPECT_EQ(same.level, ProofLevel::kBitwise) << name;
    PipelineResult passed =
        RunPasses(*calls, *module, DeviceCounts{mesh.replicas, mesh.partitions});
    if (!passed.changed) continue;
    ++changed;
    const ProofResult after = ProvePair(*module, passed.module, mesh, {});
    EXPECT_EQ(after.outcome, ProofOutcome::kProved) << name << ": " << Summary(after);
  }
  EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace hv
