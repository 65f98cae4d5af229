// Every bug of tests/data gives the verdict its case.json states, and every module equals itself.
#include <gtest/gtest.h>

#include "verify/flags.h"
#include "verify/verify.h"

namespace hv {
namespace {

Report VerifyFolder(const std::string& folder) {
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  return Verify(LoadScenarios(HV_TEST_DATA + folder), {}, transport.get());
}

TEST(Cases, EveryBugHasItsVerdict) {
  const Report report = VerifyFolder("/cases/bugs");
  EXPECT_EQ(report.cases.size(), 54u);
  for (const CaseReport& c : report.cases) {
    EXPECT_TRUE(c.as_expected) << c.name << ": " << c.missed << "; " << c.reason;
  }
}

// The same through two HLO files on the command line: `verify_rewrite before after --expect=...`.
TEST(Cases, EveryBugHasItsVerdictAsAPairOfFiles) {
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  for (const Scenario& scenario : LoadScenarios(HV_TEST_DATA "/cases/bugs")) {
    ScenarioFlags flags;
    flags.files = {scenario.before.path, scenario.after.path};
    flags.expect = scenario.expect;
    flags.replicas = scenario.replicas;
    flags.partitions = scenario.partitions;
    const auto pair = CollectScenarios(flags);
    ASSERT_TRUE(pair) << scenario.name;
    const CaseReport c = Verify(*pair, {}, transport.get()).cases[0];
    EXPECT_TRUE(c.as_expected) << c.file << ": " << c.missed << "; " << c.reason;
  }
}

// Every module equals itself, bit for bit.
TEST(Cases, EveryModuleEqualsItself) {
  std::vector<Scenario> scenarios;
  for (const char* folder : {"/cases/bugs", "/real/pairs"}) {
    for (const Scenario& pair : LoadScenarios(std::string(HV_TEST_DATA) + folder)) {
      for (const HloSource& side : {pair.before, pair.after}) {
        Scenario identity = pair;
        identity.before = identity.after = side;
        identity.expect = Expectation::kProved;
        scenarios.push_back(std::move(identity));
      }
    }
  }
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  for (const CaseReport& c : Verify(scenarios, {}, transport.get()).cases) {
    if (c.verdict == Verdict::kInvalid || c.verdict == Verdict::kDeadlock) continue;
    EXPECT_TRUE(c.as_expected) << c.file << ": " << c.missed << "; " << c.reason;
    if (c.verdict == Verdict::kProved) {
      EXPECT_EQ(c.level, Level::kBitwise) << c.file;
    }
  }
}

}  // namespace
}  // namespace hv
