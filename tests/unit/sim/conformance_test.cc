// Every case under tests/data that has values to reach: each conformance case (collectives and single
// ops), the bug cases, and the real modules. What an op is still refused for is said by name.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "sim/case_file.h"
#include "sim/compare.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string module, json, key;
};

std::vector<Case> CasesIn(const std::string& folder) {
  std::vector<Case> cases;
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

enum class Ending { kAgrees, kNoValues, kUnsupported, kWrong };

// Runs a case in this process; `why` tells what is wrong or unsupported.
Ending RunOne(const Case& test, std::string* why) {
  const Result<CaseFile> file = CaseFile::Read(test.json, test.key);
  if (!file || file->outcome() != CaseFile::Outcome::kValues) return Ending::kNoValues;
  const Result<Module> module = ParseModuleFile(test.module);
  if (!module) return *why = FormatError(module.error()), Ending::kWrong;
  const Mesh mesh{file->replicas().value_or(1), file->partitions().value_or(1)};
  if (const Status valid = Validate(*module, {mesh.replicas, mesh.partitions}); !valid) {
    return *why = FormatError(valid.error()), Ending::kWrong;
  }
  const auto domain = MakeNativeDomain();
  const auto transport = MakeLocalTransport();
  RunOptions options;
  options.domain = domain.get();
  options.transport = transport.get();
  const Result<RunOutcome> outcome = RunModule(
      *module, mesh, [&](DeviceId d, int64_t p) { return file->Input(*module, mesh, d, p); }, options);
  if (!outcome) {
    *why = FormatError(outcome.error());
    return outcome.error().kind == ErrorKind::kUnsupported ? Ending::kUnsupported : Ending::kWrong;
  }
  if (outcome->stall) return *why = outcome->stall->ToString(), Ending::kWrong;
  for (const auto& [device, value] : outcome->outputs) {
    const auto expected = file->Expected(*module, mesh, device);
    if (!expected) return *why = FormatError(expected.error()), Ending::kWrong;
    const std::vector<Value> leaves = Leaves(value);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const auto difference = Compare(leaves[i], (*expected)[i], file->tolerance());
      if (!difference) continue;
      *why = mesh.NameOf(device) + ": " + difference->got + " instead of " + difference->expected;
      return Ending::kWrong;
    }
  }
  return Ending::kAgrees;
}

struct Tally {
  int agree = 0, unsupported = 0;
};

Tally RunAll(const std::string& folder) {
  Tally tally;
  for (const Case& test : CasesIn(folder)) {
    std::string why;
    switch (RunOne(test, &why)) {
      case Ending::kAgrees: ++tally.agree; break;
      case Ending::kNoValues: break;
      case Ending::kUnsupported:
        ++tally.unsupported;
        EXPECT_THAT(why, ::testing::HasSubstr("error: "));
        std::printf("unsupported %s: %s", test.module.c_str(), why.c_str());
        break;
      case Ending::kWrong: ADD_FAILURE() << test.module << ": " << why;
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
