// Rewrites that real compilers made: none is misjudged, and docs/real_pairs.md lists what was found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/generated_table.h"
#include "verify/verify.h"

namespace hv {
namespace {

// What a verdict rests on: the argument of a proof, otherwise everything that was run.
std::string MethodOf(const CaseReport& c) {
  std::string methods;
  std::set<std::string> seen;
  for (const Evidence& e : c.evidence) {
    if (c.verdict == Verdict::kProved && e.miss_bound == 0.0) return e.method;
    if (seen.insert(e.method).second) methods += (methods.empty() ? "" : ", ") + e.method;
  }
  return methods;
}

std::string ReasonOf(const CaseReport& c) {
  if (!c.counterexample) return c.reason;
  const Counterexample& x = *c.counterexample;
  if (!x.explanation.empty()) return x.explanation;
  std::string index;
  for (int64_t i : x.index) index += (index.empty() ? "" : ",") + std::to_string(i);
  return fmt::format("device {}, output {}, [{}]: {} became {}", x.device, x.output, index,
                     x.before, x.after);
}

std::string RowOf(const CaseReport& c) {
  std::string reason = ReasonOf(c);
  for (const std::string& assumption : c.assumptions) reason += "; assumed: " + assumption;
  std::replace(reason.begin(), reason.end(), '|', '/');
  return fmt::format("| {} | {} | {} | {} | {} |\n", c.name, ToString(c.verdict),
                     ToString(c.level), MethodOf(c), reason);
}

TEST(RealPairs, NoneIsMisjudgedAndThePageListsThem) {
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  const Report report =
      Verify(LoadScenarios(std::string(HV_TEST_DATA) + "/real/pairs"), {}, transport.get());
  EXPECT_EQ(report.cases.size(), 91u);
  std::string table =
      "| pair | verdict | level | method | reason |\n| --- | --- | --- | --- | --- |\n";
  for (const CaseReport& c : report.cases) {
    EXPECT_TRUE(c.as_expected) << c.name << ": " << c.missed << "; " << c.reason;
    table += RowOf(c);
  }
  std::string totals = "| verdict | pairs |\n| --- | --- |\n";
  for (int v = 0; v < kVerdictCount; ++v) {
    const int64_t count = report.totals.by_verdict[v];
    if (count > 0) totals += fmt::format("| {} | {} |\n", ToString(static_cast<Verdict>(v)), count);
  }
  ExpectTableInPage("real_pairs.md", totals);
  ExpectTableInPage("real_pairs.md", table);
}

}  // namespace
}  // namespace hv
