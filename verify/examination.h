// The examination of one prepared pair under one set of assumptions about its inputs: proofs, runs
// in code domains, native runs, a counterexample. It gathers findings; verify/decide makes the
// verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/counterexample.h"
#include "verify/decide.h"
#include "verify/divergence.h"
#include "verify/elided.h"
#include "verify/exact_runs.h"
#include "verify/examine.h"
#include "verify/native_runs.h"
#include "verify/prover.h"

namespace hv {

// Elements that a run of both modules makes, loops counted once.
double WorkOf(const Pair& pair);

class Examination {
 public:
  // References must outlive it.
  Examination(const Pair& pair, const Scenario& scenario, InputAssumptions assumptions,
              std::vector<std::optional<InputRange>> ranges);

  void Run();

  Findings& findings() { return findings_; }
  const CodeFindings& codes() const { return codes_; }
  const InputSpace& space() const { return space_; }
  const InputAssumptions& assumptions() const { return assumptions_; }
  const ElidedConstants& elided() const { return elided_; }
  std::optional<Refutation>& refutation() { return refutation_; }
  const std::optional<Stall>& stall() const { return stall_; }
  const std::string& normal_forms() const { return normal_forms_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::optional<SuspectReport>& suspect() const { return suspect_; }
  // Where the values of a suspect are known to differ.
  std::optional<DeviceId> suspect_device() const { return suspect_device_; }
  // The proof takes it that loops end whose trip count is not known.
  bool assumes_end() const { return assumes_end_; }

  // Of a refutation.
  Divergence FirstDivergence() const;
  std::string Explanation() const;

  // For all inputs, replicas included: whatever runs may add.
  bool IsProved() const { return findings_.proof.has_value() && consistency_known_; }

  // Before is undefined or cannot finish wherever control differs by device.
  bool ControlDiverges() const;

 private:
  void Prove();
  void ExamineSuspect(const Suspect& suspect);
  bool NoteStalls();
  void RefuteSuspicion(const NativeRuns& native);
  void RunTruths(const NativeRuns& native);
  void RunNative(const NativeRuns& native);
  void RunTrials(const NativeRuns& native, NativeInput input, const std::string& what);
  void RunTrials(const NativeRuns& native, NativeInput input, const std::string& what,
                 int64_t trials);
  void TryNative(const NativeRuns& native, const NativeInput& input, const std::string& what);
  void Summarize();
  std::string Suspicion(const OutputPlace& place) const;
  void NoteConsistency(const NativeRuns& native);

  const Pair& pair_;
  const InputPlan& plan_;
  InputAssumptions assumptions_;
  InputSpace space_;
  std::vector<std::optional<InputRange>> ranges_;
  ElidedConstants elided_;
  ExactRuns exact_;
  CodeFindings codes_;
  Findings findings_;
  std::vector<WrongSummand> wrong_;  // where codes differ
  std::optional<Refutation> refutation_;
  std::optional<Stall> stall_;
  std::vector<std::string> notes_;
  std::optional<SuspectReport> suspect_;
  std::optional<DeviceId> suspect_device_;
  std::string normal_forms_;                 // lines, if asked for
  std::string summands_;                     // how sums differ, in the words of the prover
  std::optional<Error> native_error_;        // what kept native runs from running
  int64_t native_runs_ = 0, discarded_ = 0;  // runs that told something; undefined before
  bool consistency_known_ = false;           // the prover has judged whether replicas stay equal
  bool native_agrees_ = false;
  std::string open_difference_;  // on inputs that the user gives, not certain to be one
  bool assumes_end_ = false;
};

}  // namespace hv
