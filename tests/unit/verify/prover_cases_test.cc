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

// Runs every pair of a folder; the equivalent ones that are not proved must be exactly `unproved`.
void RunFolder(const std::string& folder, const std::set<std::string>& unproved) {
  std::set<std::string> open;
  for (const fs::path& path : CasesIn(folder)) {
    const nlohmann::json about = CaseFile(path);
    const std::string name = path.filename().string(), expected = about["expected"];
    if (expected == "invalid") continue;
    auto before = ParseModuleFile((path / "before.hlo").string());
    auto after = ParseModuleFile((path / "after.hlo").string());
    ASSERT_TRUE(before.has_value() && after.has_value()) << path;
    const Mesh mesh{about["replica_count"], about["partition_count"]};
    const ProofResult result = ProvePair(*before, *after, mesh, {});
    if (expected != "equivalent") {
      EXPECT_NE(result.outcome, ProofOutcome::kProved) << name << ": " << Summary(result);
    } else if (result.outcome != ProofOutcome::kProved) {
      open.insert(name);
      EXPECT_TRUE(unproved.contains(name)) << name << ": " << Summary(result);
    }
  }
  EXPECT_EQ(open, unproved);
}

// Why each is open stands in docs/proof.md.
TEST(ProverCases, Bugs) {
  RunFolder("cases/bugs", {"b55-logical-and-by-counting-fixed"});
}

TEST(ProverCases, RealPairs) {
  RunFolder("real/pairs", {"ragged_all_to_all_decomposer__ragged_exchange"});
}

}  // namespace
}  // namespace hv
