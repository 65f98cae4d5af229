// Every case under tests/data that has values to reach: each conformance case (collectives and single
// ops), the bug cases, and the real modules. What an op is still refused for is said by name.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "tests/unit/sim/case_runs.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

std::vector<RecordedCase> CasesIn(const std::string& folder) {
  std::vector<RecordedCase> cases;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(HV_TEST_DATA) / folder)) {
    folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& path : folders) {
    const std::string json = path / "case.json";
    if (!fs::exists(json)) continue;
    for (const char* name : {"module.hlo", "before.hlo"}) {
      if (fs::exists(path / name)) cases.push_back({path / name, json, ""});
    }
    if (CaseFile::Read(json, "expected_outputs_after")) {
      cases.push_back({path / "after.hlo", json, "expected_outputs_after"});
    }
  }
  return cases;
}

struct Tally {
  int agree = 0, unsupported = 0;
};

Tally RunAll(const std::string& folder) {
  Tally tally;
  for (const RecordedCase& test : CasesIn(folder)) {
    std::string why;
    switch (RunOne(test, &why)) {
      case CaseEnding::kAgrees: ++tally.agree; break;
      case CaseEnding::kNoValues: break;
      case CaseEnding::kUnsupported:
        ++tally.unsupported;
        EXPECT_THAT(why, ::testing::HasSubstr("error: "));
        std::printf("unsupported %s: %s", test.module.c_str(), why.c_str());
        break;
      case CaseEnding::kWrong: ADD_FAILURE() << test.module << ": " << why;
    }
  }
  return tally;
}

TEST(Conformance, AllCollectivesAgree) {
  const Tally tally = RunAll("cases/conformance/collectives");
  EXPECT_EQ(tally.agree, 219);
  EXPECT_EQ(tally.unsupported, 0);
}

TEST(Conformance, AllOpsAgree) {
  const Tally tally = RunAll("cases/conformance/ops");
  EXPECT_EQ(tally.agree, 339);
  EXPECT_EQ(tally.unsupported, 0);
}

TEST(Conformance, BugCasesGiveTheRecordedValues) {
  const Tally tally = RunAll("cases/bugs");
  EXPECT_GE(tally.agree, 40);
  EXPECT_EQ(tally.unsupported, 0);
}

TEST(Conformance, AllRealModulesAgree) {
  const Tally tally = RunAll("real/modules");
  EXPECT_EQ(tally.agree, 103);
  EXPECT_EQ(tally.unsupported, 0);
}

// One pair calls a library of its target.
TEST(Conformance, RealPairsAgreeOrAreRefusedByName) {
  const Tally tally = RunAll("real/pairs");
  EXPECT_GE(tally.agree, 90);
  EXPECT_LE(tally.unsupported, 2);
}

}  // namespace
}  // namespace hv
