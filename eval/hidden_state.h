// The hidden random state that rng and rng-get-and-update-state draw from: a counter for each such
// instruction of each device. The same seed gives the same numbers, for any number of ranks; they are
// ours, not a compiler's. Source: XLA operation semantics, RngUniform, RngNormal; hlo_ops 3.16.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>

#include "eval/native_kernels.h"

namespace hv {

class HiddenState {
 public:
  explicit HiddenState(uint64_t seed) : seed_(seed) {}

  // rng: words of Philox4x32-10 with the seed as key, counted by (draws so far, instruction, device).
  // rng-get-and-update-state: a 128-bit counter from 0x7012395 on, as XLA:CPU keeps one, seed or not.
  Result<Value> Draw(const KernelCall& call, std::span<const Value> operands, int64_t replica,
                     int64_t partition);

 private:
  // Computation and instruction by name, replica, partition.
  using Place = std::tuple<std::string, std::string, int64_t, int64_t>;

  Value GetAndUpdate(const KernelCall& call, const Place& place);
  Result<Value> Fill(const KernelCall& call, std::span<const Value> operands, const Place& place);

  uint64_t seed_;
  std::map<Place, unsigned __int128> counters_;
};

}  // namespace hv
