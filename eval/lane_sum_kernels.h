// The loops of eval/lane_sum.h, which says what they compute.
#pragma once

#include <cstdint>

namespace hv::lanes {

constexpr int64_t kLanes = 8;
constexpr int64_t kBlock = 64;    // terms of which each lane adds its eight from zero
constexpr int64_t kChunk = 1024;  // terms

struct Kernels {
  // out[r] = the sum of the chunk of `terms` terms at first + r * stride, for r < rows.
  void (*rows)(const float* first, int64_t stride, int64_t rows, int64_t terms, double* out);
  // sums[i] += the sum from zero of terms[k][i] for k < rows, at most kLanes; i < columns.
  void (*columns)(const float* const* terms, int64_t rows, double* sums, int64_t columns);
};

Kernels FastestKernels();

}  // namespace hv::lanes
