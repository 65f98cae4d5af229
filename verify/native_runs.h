// Native runs of both modules: real HLO arithmetic, in this process or across all ranks. What a
// difference between two native runs proves is decided here: rounding never counts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/transport.h"
#include "verify/exact_runs.h"
#include "verify/native_input.h"
#include "verify/pair.h"

namespace hv {

struct NativeDifference {
  OutputPlace place;
  std::string before, after;
};

struct NativeComparison {
  std::optional<NativeDifference>
      difference;  // one that no order of summation and no rounding explains
  bool same_bits = false;
  bool undefined = false;      // the module before is undefined or cannot finish on this input
  std::optional<Stall> stall;  // the module after cannot finish, though the one before can
  std::optional<Error> error;  // what kept one of them from running
};

class NativeRuns {
 public:
  // References must outlive it. `findings`: of the exact runs of the same pair.
  NativeRuns(const Pair& pair, const InputSpace& space, const InputPlan& plan,
             const std::vector<std::optional<InputRange>>& ranges, const CodeFindings& findings);

  // Local outputs of both sides on `transport` (collective over its ranks). The first side that
  // fails or stalls ends the run; there are no outputs then.
  struct Ran {
    std::array<Outputs, 2> outputs;
    std::array<std::optional<Stall>, 2> stall;
    std::array<std::optional<Error>, 2> error;
    bool finished() const { return !stall[0] && !stall[1] && !error[0] && !error[1]; }
  };
  Ran Run(const NativeInput& input, Transport* transport,
          ReductionOrder order = ReductionOrder::kGroup,
          const std::array<ValueObserver, 2>& observers = {}) const;

  // In this process, local sums added one by one in their own type.
  Ran RunInOrder(const NativeInput& input, Transport* transport, ReductionOrder order) const;

  // Runs in this process and says what that shows.
  NativeComparison Compare(const NativeInput& input) const;
  std::optional<NativeDifference> CertainDifference(const NativeInput& input) const {
    return Compare(input).difference;
  }

  // Largest q so that integers in [-q, q] keep every float of either module exact; 0 if none.
  double ExactLimit() const;

 private:
  Ran RunIn(Domain* domain, const NativeInput& input, Transport* transport, ReductionOrder order,
            const std::array<ValueObserver, 2>& observers) const;
  bool AlwaysExact() const;
  bool IsExactOn(const NativeInput& input) const;
  DifferenceFilter FilterFor(const NativeInput& input) const;

  const Pair& pair_;
  const InputSpace& space_;
  const InputPlan& plan_;
  const std::vector<std::optional<InputRange>>& ranges_;
  ArithmeticFacts facts_;  // of both sides
  double weight_ = 1;
  bool known_ = false;  // are the facts those of a complete run?
};

}  // namespace hv
