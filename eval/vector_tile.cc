// Which vectors to use: asked of the processor and, where both would do, measured.
#include "eval/vector_tile.h"

#include <algorithm>
#include <chrono>

namespace hv::tile {
namespace {

constexpr int64_t kDepth = 128;

// One tile on data that stays in the first-level cache.
struct Trial {
  const float* a;
  const float* b;
  float* c;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    static constexpr Segment kAll[1] = {{0, 0}};
    Multiply<float, kVectorBytes, kRows>(PackedRows<float, kRows>{a}, b,
                                         kColumns<float, kVectorBytes>, kAll, kDepth, true, c,
                                         kColumns<float, kVectorBytes>);
  }
};

// Seconds for the same number of products with either kind of tile.
double Measure(Vectors vectors, const Trial& trial) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (int i = 0; i < (vectors == Vectors::kAvx512 ? 4 : 8); ++i) RunOn(vectors, trial);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// In turns, so that both meet the same machine.
Vectors Choose() {
  alignas(64) float a[12 * kDepth] = {}, b[32 * kDepth] = {}, c[12 * 32];
  const Trial trial{a, b, c};
  double narrow = 1, wide = 1;
  for (int attempt = 0; attempt < 5; ++attempt) {
    narrow = std::min(narrow, Measure(Vectors::kAvx512Of32Bytes, trial));
    wide = std::min(wide, Measure(Vectors::kAvx512, trial));
  }
  return wide < narrow ? Vectors::kAvx512 : Vectors::kAvx512Of32Bytes;
}

}  // namespace

Vectors FastestVectors() {
  const Isa usable = UsableIsa();
  if (usable != Isa::kAvx512) return usable == Isa::kAvx2 ? Vectors::kAvx2 : Vectors::kBaseline;
  static const Vectors chosen = Choose();
  return chosen;
}

}  // namespace hv::tile
