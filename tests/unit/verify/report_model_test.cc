#include "verify/report_model.h"

#include <gtest/gtest.h>

namespace hv {
namespace {

CaseReport Judged(Verdict verdict, Demand demand, Level level = Level::kBitwise) {
  CaseReport report;
  report.verdict = verdict;
  report.level = verdict == Verdict::kProved ? level : Level::kNone;
  JudgeExpectation(demand, &report);
  return report;
}

int CodeOf(Verdict verdict, Expectation expect, FailOn fail_on = FailOn::kUnknown) {
  Demand demand;
  demand.expect = expect;
  return ExitCodeOf(Judged(verdict, demand), fail_on);
}

TEST(ReportModel, ExitCodeOfEveryVerdictThatEquivalentMeets) {
  constexpr int kCodes[kVerdictCount] = {0, 0, 10, 10, 10, 2, 11};
  for (int v = 0; v < kVerdictCount; ++v) {
    EXPECT_EQ(CodeOf(static_cast<Verdict>(v), Expectation::kEquivalent), kCodes[v]) << v;
  }
}

TEST(ReportModel, ExpectationsAreMet) {
  EXPECT_EQ(CodeOf(Verdict::kTested, Expectation::kProved), 10);
  EXPECT_EQ(CodeOf(Verdict::kRefuted, Expectation::kNotEquivalent), 0);
  EXPECT_EQ(CodeOf(Verdict::kInconsistent, Expectation::kNotEquivalent), 0);
  EXPECT_EQ(CodeOf(Verdict::kProved, Expectation::kNotEquivalent), 10);
  EXPECT_EQ(CodeOf(Verdict::kDeadlock, Expectation::kDeadlock), 0);
  EXPECT_EQ(CodeOf(Verdict::kInvalid, Expectation::kInvalid), 0);
  EXPECT_EQ(CodeOf(Verdict::kUnknown, Expectation::kUnsupported), 11);
  EXPECT_EQ(CodeOf(Verdict::kUnknown, Expectation::kEquivalent, FailOn::kRefuted), 0);
}

TEST(ReportModel, UnchangedFailsIfAPassFired) {
  Demand demand;
  demand.expect = Expectation::kUnchanged;
  EXPECT_TRUE(Judged(Verdict::kProved, demand).as_expected);
  demand.fired = true;
  EXPECT_FALSE(Judged(Verdict::kProved, demand).as_expected);
}

TEST(ReportModel, WeakProofsMissTheMinimumLevel) {
  EXPECT_TRUE(Judged(Verdict::kProved, {}, Level::kReassociation).as_expected);
  EXPECT_FALSE(Judged(Verdict::kProved, {}, Level::kReal).as_expected);
  Demand demand;
  demand.min_level = Level::kReal;
  EXPECT_TRUE(Judged(Verdict::kProved, demand, Level::kReal).as_expected);
  CaseReport wider;
  wider.verdict = Verdict::kProved;
  wider.level = Level::kReal;
  wider.precision = "wider";
  JudgeExpectation({}, &wider);
  EXPECT_TRUE(wider.as_expected);
}

TEST(ReportModel, DearerRewriteMissesTheCostRatio) {
  Demand demand;
  demand.max_cost_ratio = 1.0;
  CaseReport report;
  report.verdict = Verdict::kProved;
  report.level = Level::kBitwise;
  report.cost = CostReport{"m", {}, {}};
  report.cost->before.seconds = 1.0;
  report.cost->after.seconds = 1.5;
  JudgeExpectation(demand, &report);
  EXPECT_EQ(report.missed, "costs 1.5 times as much, more than 1");
  EXPECT_EQ(ExitCodeOf(report, FailOn::kUnknown), 10);
  report.cost.reset();
  JudgeExpectation(demand, &report);
  EXPECT_EQ(report.missed, "max_cost_ratio is given, but no machine to compute costs for");
}

TEST(ReportModel, InvalidModuleOfAPassIsAMissedExpectation) {
  CaseReport report;
  report.verdict = Verdict::kInvalid;
  report.invalid_from_pass = true;
  JudgeExpectation({}, &report);
  EXPECT_EQ(ExitCodeOf(report, FailOn::kUnknown), 10);
}

TEST(ReportModel, ExitCodesAreOrdered) {
  EXPECT_EQ(WorseExitCode(11, 2), 2);
  EXPECT_EQ(WorseExitCode(2, 10), 10);
  EXPECT_EQ(WorseExitCode(10, 70), 70);
  EXPECT_EQ(WorseExitCode(0, 11), 11);
  EXPECT_EQ(WorseExitCode(0, 0), 0);
}

}  // namespace
}  // namespace hv
