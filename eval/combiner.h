// A reducer applied to spans of elements in a domain's own representation. What reduces, folds or
// scatters is written once over this interface and element widths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "hlo/module.h"

namespace hv {

// Runs of elements to combine into runs of accumulators: where each starts in either array.
struct Stretches {
  const int64_t* into = nullptr;
  const int64_t* from = nullptr;
  size_t count = 0;
};

// Starts to bring the first of `bytes` bytes into the cache: kBytes, if that is not 0.
template <int64_t kBytes = 0>
void PrefetchLines(const void* from, int64_t bytes, bool to_write) {
  constexpr int64_t kLine = 64, kMost = 4 * kLine;  // then the processor has seen the pattern
  const auto* line = static_cast<const std::byte*>(from);
  const int64_t end = std::min(kBytes > 0 ? kBytes : bytes, kMost);
  for (int64_t at = 0; at < end; at += kLine) {
    to_write ? __builtin_prefetch(line + at, 1) : __builtin_prefetch(line + at, 0);
  }
}

class Combiner {
 public:
  virtual ~Combiner() = default;
  // accumulators[k][i] = f(accumulators[..][i], values[..][i])[k] for i < count.
  virtual Status Combine(std::span<std::byte* const> accumulators,
                         std::span<const std::byte* const> values, size_t count) = 0;
  // May several threads use it at once, on accumulators of their own?
  virtual bool IsStateless() const { return false; }
  // Are the bits the same however neighbours are grouped, their order kept?
  virtual bool MayRegroup() const { return false; }
  // Combines stretches of `length` elements of `widths` bytes each, one stretch after the other.
  // Those of `ahead` come next.
  virtual Status CombineStretches(std::span<std::byte* const> accumulators,
                                  std::span<const std::byte* const> values,
                                  std::span<const int> widths, const Stretches& stretches,
                                  const Stretches& ahead, int64_t length);
  // Folds `count` values into one accumulator, in order, where that is fast; false if it is not
  // done.
  virtual bool FoldRun(std::byte* accumulator, const std::byte* values, size_t count) {
    static_cast<void>(accumulator), static_cast<void>(values), static_cast<void>(count);
    return false;
  }
  // Is FoldRun faster than combining many accumulators side by side?
  virtual bool PrefersRuns() const { return false; }
};

// Which of the reducer's parameters come first.
enum class ReducerOrder : uint8_t { kAccumulatorFirst, kValueFirst };

// `computation` on native values of the given types (one per accumulator).
Result<std::unique_ptr<Combiner>> MakeNativeCombiner(
    const Module& module, ComputationIndex computation, std::span<const ElementType> types,
    ReducerOrder order = ReducerOrder::kAccumulatorFirst);

// Does the computation return its parameter number `parameter` as it is (scatter that overwrites)?
bool ReturnsParameter(const Module& module, ComputationIndex computation, int64_t parameter);

}  // namespace hv
