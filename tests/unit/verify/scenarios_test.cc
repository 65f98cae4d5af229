// The scenarios the project ships: passes fire exactly where they are said to, so that no scenario
// passes by doing nothing; and every program equals itself. The verdicts are tests/mpi's part.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "verify/prepare.h"
#include "verify/scenario.h"
#include "verify/verify.h"

namespace hv {
namespace {

std::vector<Scenario> Shipped() { return LoadScenarios(HV_SOURCE_DIR "/scenarios"); }

TEST(Scenarios, PassesFireWhereTheyAreSaidTo) {
  ASSERT_GE(Shipped().size(), 45u);
  for (const Scenario& scenario : Shipped()) {
    ASSERT_FALSE(scenario.error) << scenario.file;
    const auto prepared = Prepare(scenario);
    if (scenario.expect == Expectation::kInvalid) {
      EXPECT_TRUE(std::holds_alternative<PrepareError>(prepared)) << scenario.file;
      continue;
    }
    ASSERT_TRUE(std::holds_alternative<Prepared>(prepared)) << scenario.file;
    if (scenario.passes.empty()) continue;
    EXPECT_EQ(std::get<Prepared>(prepared).fired, scenario.expect != Expectation::kUnchanged)
        << scenario.file;
  }
}

// Nothing that is equivalent is merely tested.
TEST(Scenarios, EquivalentOnesAreProved) {
  std::vector<Scenario> equivalent;
  for (Scenario& scenario : Shipped()) {
    if (scenario.expect != Expectation::kEquivalent) continue;
    scenario.expect = Expectation::kProved;
    equivalent.push_back(std::move(scenario));
  }
  ASSERT_GE(equivalent.size(), 45u);
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  for (const CaseReport& c : Verify(equivalent, {}, transport.get()).cases) {
    EXPECT_EQ(c.verdict, Verdict::kProved) << c.file << ": " << c.reason;
  }
}

TEST(Scenarios, EveryProgramEqualsItself) {
  std::set<std::string> seen;
  std::vector<Scenario> identities;
  for (const Scenario& scenario : Shipped()) {
    for (const HloSource* source : {&scenario.before, &scenario.after}) {
      if (source->path.empty() || !seen.insert(source->path).second) continue;
      Scenario identity;
      identity.name = source->path;
      identity.before = identity.after = *source;
      if (source == &scenario.after && scenario.expect == Expectation::kDeadlock) {
        identity.expect = Expectation::kDeadlock;
      }
      identity.replicas = scenario.replicas;
      identity.partitions = scenario.partitions;
      identities.push_back(std::move(identity));
    }
  }
  ASSERT_GE(identities.size(), 45u);
  const auto transport = MakeLocalTransport();
  const Report report = Verify(identities, {}, transport.get());
  for (const CaseReport& c : report.cases) {
    const bool left_out = c.name.find("left_out") != std::string::npos;
    EXPECT_EQ(c.as_expected, !left_out)
        << c.name << ": " << ToString(c.verdict) << ": " << c.reason;
  }
}

}  // namespace
}  // namespace hv
