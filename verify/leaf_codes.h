// Distinct pseudo-random codes for the elements of all inputs: a keyed permutation of 61-bit
// numbers, so that no two leaves share a code and no rewrite can be tuned to the codes. 0 and 1
// never occur (1 is the code of the affine part). Source: exact inputs as an error-correcting code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hv {

class CodePermutation {
 public:
  // Ids below this have distinct codes in [2, 2^61 - 31), numbers of both fields.
  static constexpr uint64_t kMaxId = (uint64_t{1} << 61) - 33;

  CodePermutation(uint64_t seed, uint64_t stream);
  uint64_t operator()(uint64_t id) const;

 private:
  uint64_t Permute(uint64_t x) const;

  static constexpr int kRounds = 8;
  std::array<uint64_t, kRounds> keys_;
};

// Both words of the leaves' codes, one of each field, raised to a power.
class LeafCodes {
 public:
  explicit LeafCodes(uint64_t seed) : first_(seed, 1), second_(seed, 2) {}
  // Word `component` (0 or 1) of the code of leaf `id` to the power `power`.
  uint64_t Word(int64_t id, int component, int64_t power = 1) const;

 private:
  CodePermutation first_, second_;
};

}  // namespace hv
