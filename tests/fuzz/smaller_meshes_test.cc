// Random pairs with one step spoilt, looked for on smaller meshes: what is found there fails by
// itself, on fewer devices. HV_FUZZ_CASES sets how many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/fuzz/judge.h"
#include "tests/fuzz/mutants.h"

namespace hv {
namespace {

Scenario ScenarioOf(const std::string& before, const std::string& after, const Mesh& mesh) {
  Scenario scenario;
  scenario.before = {"", before, "before.hlo"};
  scenario.after = {"", after, "after.hlo"};
  scenario.replicas = mesh.replicas;
  scenario.partitions = mesh.partitions;
  return scenario;
}

CaseReport VerdictOn(const Scenario& scenario) {
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  return Verify({scenario}, {}, transport.get()).cases[0];
}

TEST(SmallerMeshes, WhatFailsThereFailsByItself) {
  const char* wanted = std::getenv("HV_FUZZ_CASES");
  const uint64_t cases = wanted == nullptr ? 300 : std::strtoull(wanted, nullptr, 10);
  int64_t failed = 0, smaller = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    const SketchPair pair = RandomPair(seed);
    Draw draw(seed, 4);
    std::vector<Spoilt> spoilt;
    for (const int64_t m : draw.Permutation(static_cast<int64_t>(AllMutants().size()))) {
      spoilt = SpoilEach(AllMutants()[static_cast<size_t>(m)], pair.after, seed);
      if (!spoilt.empty()) break;
    }
    if (spoilt.empty()) continue;
    Scenario whole =
        ScenarioOf(pair.before.Text(), draw.Of(spoilt).sketch.Text(), pair.before.mesh);
    whole.minimize_topology = true;
    const CaseReport c = VerdictOn(whole);
    failed += c.verdict == Verdict::kRefuted || c.verdict == Verdict::kDeadlock ? 1 : 0;
    if (!c.smaller) continue;
    ++smaller;
    const SmallerFailure& s = *c.smaller;
    EXPECT_LT(s.replicas * s.partitions, c.replicas * c.partitions) << "seed " << seed;
    const CaseReport alone =
        VerdictOn(ScenarioOf(s.before_hlo, s.after_hlo, {s.replicas, s.partitions}));
    EXPECT_EQ(alone.verdict, c.verdict) << "seed " << seed << ": " << alone.reason;
  }
  EXPECT_GT(failed, static_cast<int64_t>(cases / 4));
  EXPECT_GT(smaller, failed / 4) << failed << " failed";
}

}  // namespace
}  // namespace hv
