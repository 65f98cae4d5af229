#include "sim/split_reduction.h"

#include <algorithm>

namespace hv {
namespace {

constexpr int64_t kLeastBytes = 32 * 1024;  // below it costs less to reduce everything everywhere

}  // namespace

std::optional<SplitReduction> SplitReduction::Of(const Collective& collective,
                                                 std::vector<Rank> ranks) {
  if (collective.opcode != Opcode::kAllReduce || ranks.size() < 2) return {};
  const auto count = static_cast<int64_t>(ranks.size());
  SplitReduction split(collective, std::move(ranks));
  int64_t bytes = 0;
  for (const Shape* operand : collective.operands) {
    // The outermost that will do: slices are then runs of bytes.
    const auto found = std::find_if(operand->dims.begin(), operand->dims.end(),
                                    [count](int64_t extent) { return extent >= count; });
    if (found == operand->dims.end()) return {};
    split.dimensions_.push_back(static_cast<size_t>(found - operand->dims.begin()));
    bytes += operand->element_count * HostBytes(operand->type);
  }
  if (bytes < kLeastBytes) return {};
  return split;
}

Part SplitReduction::SliceOf(size_t number, size_t operand) const {
  Part slice = WholeOperand(*collective_, 0, static_cast<int64_t>(operand));
  const size_t d = dimensions_[operand];
  const int64_t extent = slice.sizes[d], count = static_cast<int64_t>(ranks_.size());
  const auto n = static_cast<int64_t>(number);
  slice.starts[d] = extent * n / count;
  slice.sizes[d] = extent * (n + 1) / count - slice.starts[d];
  slice.at[d] = slice.starts[d];
  return slice;
}

}  // namespace hv
