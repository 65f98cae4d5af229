// Completes collectives all of whose operands this rank can read, its own and those that other
// ranks of the node have published: every result is made straight from the members' operands, or is
// one of them. A large all-reduce among ranks is split: each reduces a slice of the elements into
// its own result, and copies the others' slices from theirs.
#pragma once

#include "sim/fetch.h"

namespace hv {

// Are all operands at hand, with nothing to find out from them first? The same answer on every rank
// that has a member.
bool CompletesDirectly(const RunContext& context, const Placement& placement,
                       const Fetcher& fetcher, const Meeting& meeting);

class DirectCompletion {
 public:
  DirectCompletion(RunContext* context, Fetcher* fetcher, const Meeting& meeting);
  ~DirectCompletion();
  DirectCompletion(DirectCompletion&&) noexcept;

  // What other ranks wait for: the slices of a split reduction.
  void Reduce();
  // Hands every local member its result. A domain that cannot make one fails the members.
  void Finish();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace hv
