// Small reports for the renderers' tests.
#pragma once

#include "verify/report_model.h"

namespace hv {

inline CaseReport RefutedCase() {
  CaseReport c;
  c.name = "shuffled group";
  c.file = "scenarios/shuffled.json";
  c.verdict = Verdict::kRefuted;
  c.reason = "the outputs differ";
  c.replicas = 1;
  c.partitions = 4;
  Counterexample example;
  example.device = "0,1";
  example.device_id = 1;
  example.index = {2, 0};
  example.before = "0";
  example.after = "nan";
  example.inputs = "all elements 0 except";
  example.elements = {{"0,3", 0, "x", {2, 0}, "1"}};
  example.explanation = "device 1 misses the contribution of device 3";
  example.first_diverging_before = "ds.2";
  example.first_diverging_after = "rs.1";
  example.reproduce = "verify_rewrite scenarios/shuffled.json --seed=1";
  c.counterexample = example;
  c.cost = CostReport{"trn2", {}, {}};
  c.cost->before.seconds = 2e-6;
  c.cost->before.bytes = 2048;
  c.cost->after.seconds = 1e-6;
  c.cost->after.bytes = 1024;
  JudgeExpectation({Expectation::kEquivalent, {}, {}, true}, &c);
  return c;
}

// The same on two of its devices.
inline CaseReport SmallerCase() {
  CaseReport c = RefutedCase();
  SmallerFailure smaller;
  smaller.partitions = 2;
  smaller.devices = {"0,1", "0,3"};
  smaller.closed = true;
  smaller.counterexample = c.counterexample;
  smaller.counterexample->device = "0,0";
  smaller.before_hlo = "HloModule b";
  smaller.after_hlo = "HloModule a";
  c.smaller = std::move(smaller);
  return c;
}

inline CaseReport TestedCase() {
  CaseReport c;
  c.name = "in order";
  c.verdict = Verdict::kTested;
  c.reason = "no difference found";
  c.partitions = 8;
  c.evidence = {{"random codes", "4 runs", 5e-19}, {"native run", "1 run", {}}};
  c.decisions = {{"some_pass", "ds.2", true, ""}, {"some_pass", "ds.3", false, "not 1D"}};
  JudgeExpectation({Expectation::kEquivalent, {}, {}, true}, &c);
  return c;
}

inline CaseReport DeadlockCase() {
  CaseReport c;
  c.name = "two orders";
  c.verdict = Verdict::kDeadlock;
  c.reason = "after never finishes";
  c.partitions = 2;
  c.stalled = "after";
  c.waiting = {{"0,0", "ar.1", "all-reduce f32[4] {{0,1}}", {"0,1"}},
               {"0,1", "ar.2", "all-reduce f32[4] {{0,1}}", {"0,0"}}};
  c.cycle = {"0,0", "0,1", "0,0"};
  JudgeExpectation({Expectation::kDeadlock, {}, {}, true}, &c);
  return c;
}

inline Report ReportOf(std::vector<CaseReport> cases) {
  Report report;
  report.version = "0.1.0";
  report.cases = std::move(cases);
  report.seconds = 0.25;
  Summarize(FailOn::kUnknown, &report);
  return report;
}

}  // namespace hv
