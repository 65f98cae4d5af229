#include "verify/decide.h"

#include <gtest/gtest.h>

namespace hv {
namespace {

Findings Clean() {
  Findings findings;
  findings.evidence.push_back({"random codes", "4 runs", 5e-19});
  findings.evidence.push_back({"native run", "integers", std::nullopt});
  return findings;
}

TEST(Decide, ProofIsProvedAtItsLevel) {
  Findings f = Clean();
  f.proof = Proof{Level::kReassociation, "", "power sums"};
  const Decision d = Decide(f);
  EXPECT_EQ(d.verdict, Verdict::kProved);
  EXPECT_EQ(d.level, Level::kReassociation);
}

TEST(Decide, ConfirmedDifferenceIsRefuted) {
  Findings f = Clean();
  f.suspicion = "differs";
  f.confirmed = true;
  EXPECT_EQ(Decide(f).verdict, Verdict::kRefuted);
}

TEST(Decide, SuspicionAloneIsUnknownInWords) {
  Findings f = Clean();
  f.suspicion = "differs over the reals by less than rounding shows";
  const Decision d = Decide(f);
  EXPECT_EQ(d.verdict, Verdict::kUnknown);
  EXPECT_EQ(d.reason, f.suspicion);
}

// A named rounding of a constant is a proof at level real; that codes differ takes nothing away.
TEST(Decide, ProofOutranksSuspicion) {
  Findings f = Clean();
  f.suspicion = "differs";
  f.proof = Proof{Level::kReal, "", "normal forms agree, constant rounded"};
  const Decision d = Decide(f);
  EXPECT_EQ(d.verdict, Verdict::kProved);
  EXPECT_EQ(d.level, Level::kReal);
}

TEST(Decide, NothingFoundIsTestedWithTheBestBound) {
  EXPECT_EQ(Decide(Clean()).reason, "no difference found; chance of a miss at most 5e-19");
  Findings codes = Clean();
  codes.evidence.pop_back();
  const Decision alone = Decide(codes);
  EXPECT_EQ(alone.verdict, Verdict::kTested);
  EXPECT_EQ(alone.reason,
            "no difference found by exact codes alone (no native run could tell); chance of a miss at "
            "most 5e-19");
  Findings unbounded;
  unbounded.evidence.push_back({"native run", "", std::nullopt});
  EXPECT_EQ(Decide(unbounded).reason, "no difference found; no bound on the chance of a miss");
}

TEST(Decide, ProofAgainstConfirmedDifferenceIsAnInternalError) {
  Findings f = Clean();
  f.proof = Proof{Level::kBitwise, "", "value numbering"};
  EXPECT_FALSE(Decide(f).internal_error);
  f.confirmed = true;
  EXPECT_TRUE(Decide(f).internal_error);
}

TEST(Decide, InconsistencyOutranksWeakProofsOnly) {
  Findings f = Clean();
  f.inconsistent = true;
  f.proof = Proof{Level::kReassociation, "", "power sums"};
  EXPECT_EQ(Decide(f).verdict, Verdict::kInconsistent);
  f.inconsistent = false;
  f.suspected_drift = "the terms of two replicas differ";
  EXPECT_EQ(Decide(f).verdict, Verdict::kUnknown);
  f.proof->level = Level::kBitwise;
  EXPECT_EQ(Decide(f).verdict, Verdict::kProved);
}

TEST(Decide, StallsAreDeadlocksEvenWhereValuesAgree) {
  Findings f = Clean();
  f.proof = Proof{Level::kBitwise, "", "value numbering"};
  f.stalled = "after";
  EXPECT_EQ(Decide(f).verdict, Verdict::kDeadlock);
}

TEST(Decide, WhatCannotRunIsUnknown) {
  Findings f;
  f.cannot_run = "fft is not supported";
  EXPECT_EQ(Decide(f).verdict, Verdict::kUnknown);
  Findings discarded;
  discarded.all_discarded = true;
  EXPECT_EQ(Decide(discarded).verdict, Verdict::kUnknown);
}

}  // namespace
}  // namespace hv
