// Transposes square blocks of elements in registers, whatever vectors the caller is compiled for.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "eval/vector_isa.h"

namespace hv {

// Elements of a vector of 16 bytes.
template <class T>
constexpr int kBlockSide = 16 / static_cast<int>(sizeof(T));

// The lower or upper halves of two vectors, element by element in turns.
template <int kHalf, class V, int... kLane>
HV_INLINE V Interleave(V a, V b, std::integer_sequence<int, kLane...>) {
  constexpr int kCount = sizeof...(kLane);
  return __builtin_shufflevector(a, b, (kLane / 2 + kLane % 2 * kCount + kHalf * kCount / 2)...);
}

// A square block of vectors: interleaving the first half of its rows with the second, as often as
// the side halves, transposes it.
template <class T>
HV_INLINE void TransposeBlock(const T* in, int64_t in_row, T* out, int64_t out_row) {
  typedef T V __attribute__((vector_size(16)));
  constexpr int kSide = kBlockSide<T>;
  constexpr auto kAll = std::make_integer_sequence<int, kSide>();
  V rows[kSide], next[kSide];
  for (int r = 0; r < kSide; ++r) std::memcpy(&rows[r], in + r * in_row, sizeof(V));
  for (int step = 1; step < kSide; step *= 2) {
    for (int r = 0; r < kSide / 2; ++r) {
      next[2 * r] = Interleave<0>(rows[r], rows[r + kSide / 2], kAll);
      next[2 * r + 1] = Interleave<1>(rows[r], rows[r + kSide / 2], kAll);
    }
    for (int r = 0; r < kSide; ++r) rows[r] = next[r];
  }
  for (int r = 0; r < kSide; ++r) std::memcpy(out + r * out_row, &rows[r], sizeof(V));
}

}  // namespace hv
