// Verdicts on pairs of small modules written in tests.
#pragma once

#include <memory>
#include <string>

#include "verify/verify.h"

namespace hv {

inline constexpr char kSum[] =
    "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n";

inline std::string ModuleOf(const std::string& header, const std::string& entry,
                            const std::string& computations = kSum) {
  return "HloModule m, " + header + "\n" + computations + "ENTRY e {\n" + entry + "}\n";
}

inline Scenario PairOf(const std::string& before, const std::string& after) {
  Scenario scenario;
  scenario.name = "pair";
  scenario.before.text = before;
  scenario.before.label = "before.hlo";
  scenario.after.text = after;
  scenario.after.label = "after.hlo";
  return scenario;
}

inline CaseReport VerdictOf(const Scenario& scenario) {
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  return Verify({scenario}, {}, transport.get()).cases[0];
}

inline CaseReport VerdictOf(const std::string& header, const std::string& before,
                            const std::string& after) {
  return VerdictOf(PairOf(ModuleOf(header, before), ModuleOf(header, after)));
}

}  // namespace hv
