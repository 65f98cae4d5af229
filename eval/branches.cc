// Reads the two spellings of branches.
#include "eval/branches.h"

#include "eval/domain.h"

namespace hv {

std::vector<ComputationIndex> BranchesOf(const Instruction& conditional) {
  if (conditional.Has(Attr::kTrueComputation)) {
    return {conditional.Computation(Attr::kTrueComputation),
            conditional.Computation(Attr::kFalseComputation)};
  }
  const auto list = conditional.List<ComputationIndex>(Attr::kBranchComputations);
  return {list.begin(), list.end()};
}

size_t SelectedBranch(const Value& selector, size_t branches) {
  const int64_t number = IntegersOf(selector)[0];
  if (IsPred(selector.shape()->type)) return number != 0 ? 0 : 1;
  const auto last = static_cast<int64_t>(branches) - 1;
  return static_cast<size_t>(number < 0 || number > last ? last : number);
}

}  // namespace hv
