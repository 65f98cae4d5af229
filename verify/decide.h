// How evidence becomes a verdict: the deciding table as a pure function. Layers (value numbering,
// prover, exact runs, native runs) produce Findings; nothing here runs anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/report_model.h"

namespace hv {

// A proof for all inputs at this topology.
struct Proof {
  Level level = Level::kNone;
  std::string precision;  // at level real: "wider", "narrower", "mixed", or empty
  std::string method;
};

struct Findings {
  std::optional<Proof> proof;
  std::string precision;         // sums moved to other types, which codes do not see: "wider", ...
  std::string stalled;           // "before" or "after": cannot finish; empty if both can
  bool confirmed = false;        // a native run shows a difference that no rounding explains
  bool inconsistent = false;     // replicas that agreed before no longer do
  std::string suspected_drift;   // terms of replicas that agreed before differ after, in words
  std::string suspicion;         // an exact difference that no native run confirms, in words
  std::string cannot_run;        // what kept every run from telling; empty if one could
  bool unsupported = false;      // suspicion or cannot_run names something that is refused
  bool all_discarded = false;    // before is undefined on every input tried
  std::vector<Evidence> evidence;
};

struct Decision {
  Verdict verdict = Verdict::kUnknown;
  Level level = Level::kNone;
  std::string precision;
  std::string reason;
  bool internal_error = false;  // layers contradict each other: exit 70
};

Decision Decide(const Findings& findings);

// Smallest bound among the evidence, absent if none has one.
std::optional<double> MissBoundOf(const std::vector<Evidence>& evidence);

}  // namespace hv
