// What a verification found, as plain data: one CaseReport per scenario or pair, and the totals.
// The renderers of report/ are pure functions of it; the exit code follows from it alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "verify/cost_report.h"

namespace hv {

enum class Verdict : uint8_t {
  kProved,
  kTested,
  kRefuted,
  kDeadlock,
  kInconsistent,
  kInvalid,
  kUnknown
};
std::string_view ToString(Verdict verdict);  // "PROVED", ...
inline constexpr int kVerdictCount = 7;

// How strong a proof is; ordered, weakest first.
enum class Level : uint8_t { kNone, kReal, kReassociation, kBitwise };
std::string_view ToString(Level level);  // "real", "reassociation", "bitwise"; "" for kNone
std::optional<Level> ParseLevel(std::string_view text);

enum class Expectation : uint8_t {
  kEquivalent,
  kProved,
  kNotEquivalent,
  kDeadlock,
  kInvalid,
  kUnchanged,
  kUnsupported
};
inline constexpr std::string_view kExpectationWords[] = {
    "equivalent", "proved", "not_equivalent", "deadlock", "invalid", "unchanged", "unsupported"};
constexpr std::string_view ToString(Expectation e) {
  return kExpectationWords[static_cast<int>(e)];
}

// One thing that was run or argued. `miss_bound`: chance that a difference exists and this did not
// show it; 0 means certain, absent means no bound.
struct Evidence {
  std::string method;  // "value numbering", "random codes", "power sums", "native run", ...
  std::string detail;
  std::optional<double> miss_bound;
};

// One element of an input: parameter `parameter` of device "r,p" at `index` holds `value`.
struct InputElement {
  std::string device;
  int64_t parameter = 0;
  std::string parameter_name;
  std::vector<int64_t> index;
  std::string value;
};

struct Counterexample {
  std::string device;     // "r,p"
  int64_t device_id = 0;  // r * P + p
  int64_t output = 0;     // leaf of the result, from left to right
  std::vector<int64_t> index;
  std::string before, after;  // the two values
  std::string inputs;         // in words: "all elements 0 except the following", "seed 3, trial 1"
  std::vector<InputElement> elements;  // the exceptions, if inputs are sparse
  std::string explanation;  // "device 5 misses the contribution of device 3"; may be empty
  std::string first_diverging_before, first_diverging_after;  // instructions; may be empty
  std::string reproduce;                                      // a command line
};

// Where modules too large to be run differ: two values that were not proved equal, as a pair of
// modules of their own whose parameters are the values that they are made of.
struct SuspectReport {
  std::string before, after;  // names of the instructions
  std::string difference;     // in words
  std::string counterexample;  // of the region run by itself; may be empty
  std::string before_hlo, after_hlo;
};

// The smallest mesh found on which the case fails in the same way.
struct SmallerFailure {
  int64_t replicas = 1, partitions = 1;
  std::vector<std::string> devices;  // what its devices are in the mesh of the case, in order
  bool closed = false;   // they compute just what they do there; else groups have lost members
  bool remade = false;   // passes made the module after anew, from this module before
  std::optional<Counterexample> counterexample;  // if kRefuted
  std::vector<std::string> cycle;                // if kDeadlock
  std::string before_hlo, after_hlo;
};

// One device that waits for ever.
struct WaitingDevice {
  std::string device;  // "r,p"
  std::string instruction;
  std::string signature;  // operation, shape and groups in words
  std::vector<std::string> waits_for;
};

// What a pass said about one candidate instruction.
struct PassDecision {
  std::string pass;
  std::string instruction;
  bool fired = false;
  std::string reason;  // why not; empty if fired
};

struct CaseReport {
  std::string name;
  std::string file;
  Verdict verdict = Verdict::kUnknown;
  Level level = Level::kNone;  // of kProved; of kTested where precision changed
  std::string precision;       // "wider", "narrower", "mixed" at level real; else empty
  std::string reason;          // one sentence; always set but for kProved
  Expectation expect = Expectation::kEquivalent;
  bool as_expected = false;
  std::string missed;  // why the expectation was missed; empty if it was met
  int64_t replicas = 1, partitions = 1;
  std::optional<Counterexample> counterexample;
  std::optional<SuspectReport> suspect;
  std::optional<SmallerFailure> smaller;  // if it was looked for
  std::vector<Evidence> evidence;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;  // "before deadlocks too", discarded inputs, ...
  std::vector<std::string> normal_forms;  // lines, if asked for: what the prover made of the outputs
  std::string stalled;             // "before", "after": which module, if kDeadlock
  std::vector<WaitingDevice> waiting;
  std::vector<std::string> cycle;  // devices, first repeated last
  std::optional<CostReport> cost;
  std::optional<MeasuredCost> measured;
  std::vector<PassDecision> decisions;
  std::vector<Diagnostic> diagnostics;  // of kInvalid
  bool invalid_from_pass = false;       // a pass or --pass-command made the invalid module
  bool unsupported = false;             // kUnknown because something is refused by name
  double seconds = 0;
};

struct Totals {
  int64_t cases = 0, as_expected = 0;
  int64_t by_verdict[kVerdictCount] = {};
};

enum class FailOn : uint8_t { kUnknown, kRefuted };  // kRefuted: an UNKNOWN does not fail

struct Report {
  std::string version;
  std::vector<CaseReport> cases;
  double seconds = 0;
  Totals totals;
  int exit_code = 0;
};

inline constexpr int kExitOk = 0, kExitBadInput = 2, kExitMissed = 10, kExitUnknown = 11,
                     kExitInternal = 70;

// What a case must reach.
struct Demand {
  Expectation expect = Expectation::kEquivalent;
  std::optional<Level> min_level;  // absent: reassociation, or real where precision widens
  std::optional<double> max_cost_ratio;
  bool fired = false;  // did a pass change the module? (kUnchanged)
};

// Sets expect, as_expected and missed.
void JudgeExpectation(const Demand& demand, CaseReport* report);

// Exit code of one judged case, and of all: 70 > 10 > 2 > 11 > 0.
int ExitCodeOf(const CaseReport& report, FailOn fail_on);
int WorseExitCode(int a, int b);
// Fills totals and exit_code.
void Summarize(FailOn fail_on, Report* report);

}  // namespace hv
