// For AVX2, and plain loops. A fused x * 1 + s has the bits of x + s, but runs beside the conversions
// of other terms, where additions would wait for them.
#include "eval/lane_sum_kernels.h"

#include <algorithm>

#include "eval/vector_isa.h"

#if HV_X86
#include <immintrin.h>
#endif

namespace hv::lanes {
namespace {

double SumOfLanes(const double* lanes) {
  double sum = lanes[0];
  for (int64_t l = 1; l < kLanes; ++l) sum += lanes[l];
  return sum;
}

void PlainRows(const float* first, int64_t stride, int64_t rows, int64_t terms, double* out) {
  for (int64_t r = 0; r < rows; ++r, first += stride) {
    double lanes[kLanes] = {};
    for (int64_t at = 0; at < terms; at += kBlock) {
      double block[kLanes] = {};
      const int64_t end = std::min(terms, at + kBlock);
      int64_t t = at;
      for (; t + kLanes <= end; t += kLanes) {
        for (int64_t l = 0; l < kLanes; ++l) block[l] += static_cast<double>(first[t + l]);
      }
      for (int64_t l = 0; t < end; ++t, ++l) block[l] += static_cast<double>(first[t]);
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] += block[l];
    }
    out[r] = SumOfLanes(lanes);
  }
}

void PlainColumns(const float* const* terms, int64_t rows, double* sums, int64_t columns) {
  for (int64_t i = 0; i < columns; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < rows; ++k) sum += static_cast<double>(terms[k][i]);
    sums[i] += sum;
  }
}

#if HV_X86

#define HV_AVX2_INLINE [[gnu::target(HV_AVX2), gnu::always_inline]] inline

// The first `count` of eight floats, zeros for the others.
HV_AVX2_INLINE __m256 FirstFloats(const float* from, int64_t count) {
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i wanted = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), index);
  return _mm256_maskload_ps(from, wanted);
}

// sums[0..3] and sums[4..7] += four floats each.
HV_AVX2_INLINE void AddHalves(__m128 low, __m128 high, __m256d* sums) {
  const __m256d one = _mm256_set1_pd(1);
  sums[0] = _mm256_fmadd_pd(_mm256_cvtps_pd(low), one, sums[0]);
  sums[1] = _mm256_fmadd_pd(_mm256_cvtps_pd(high), one, sums[1]);
}
HV_AVX2_INLINE void AddEight(const float* from, __m256d* sums) {
  AddHalves(_mm_loadu_ps(from), _mm_loadu_ps(from + 4), sums);
}
HV_AVX2_INLINE void AddFirst(const float* from, int64_t count, __m256d* sums) {
  const __m256 terms = FirstFloats(from, count);
  AddHalves(_mm256_castps256_ps128(terms), _mm256_extractf128_ps(terms, 1), sums);
}

// Whole blocks, kBlocks at once: their chains of additions are independent.
template <int kBlocks>
HV_AVX2_INLINE int64_t AddBlocks(const float* from, int64_t t, int64_t terms, __m256d* lanes) {
  for (; t + kBlocks * kBlock <= terms; t += kBlocks * kBlock) {
    __m256d block[kBlocks][2] = {};
    for (int64_t step = 0; step < kBlock; step += kLanes) {
      for (int b = 0; b < kBlocks; ++b) AddEight(from + t + b * kBlock + step, block[b]);
    }
    for (int b = 0; b < kBlocks; ++b) {
      lanes[0] = _mm256_add_pd(lanes[0], block[b][0]);
      lanes[1] = _mm256_add_pd(lanes[1], block[b][1]);
    }
  }
  return t;
}

[[gnu::target(HV_AVX2)]] void Avx2Rows(const float* first, int64_t stride, int64_t rows,
                                       int64_t terms, double* out) {
  for (int64_t r = 0; r < rows; ++r, first += stride) {
    __m256d lanes[2] = {};
    int64_t t = AddBlocks<4>(first, 0, terms, lanes);
    t = AddBlocks<1>(first, t, terms, lanes);
    if (t < terms) {
      __m256d block[2] = {};
      for (; t + kLanes <= terms; t += kLanes) AddEight(first + t, block);
      if (t < terms) AddFirst(first + t, terms - t, block);
      lanes[0] = _mm256_add_pd(lanes[0], block[0]);
      lanes[1] = _mm256_add_pd(lanes[1], block[1]);
    }
    alignas(32) double all[kLanes];
    _mm256_store_pd(all, lanes[0]);
    _mm256_store_pd(all + 4, lanes[1]);
    out[r] = SumOfLanes(all);
  }
}

// kRows 0: as many as `rows` says.
template <int64_t kRows>
HV_AVX2_INLINE void Columns(const float* const* terms, int64_t rows, double* sums,
                            int64_t columns) {
  const int64_t count = kRows == 0 ? rows : kRows;
  const float* from[kLanes];
  std::copy_n(terms, count, from);
  int64_t i = 0;
  for (; i + 2 * kLanes <= columns; i += 2 * kLanes) {  // a line of every row
    __m256d sum[4] = {};
    for (int64_t k = 0; k < count; ++k) {
      AddEight(from[k] + i, sum);
      AddEight(from[k] + i + kLanes, sum + 2);
    }
    for (int v = 0; v < 4; ++v) {
      double* to = sums + i + 4 * v;
      _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), sum[v]));
    }
  }
  for (; i < columns; i += kLanes) {
    const int64_t left = std::min(kLanes, columns - i);
    __m256d sum[2] = {};
    for (int64_t k = 0; k < count; ++k) AddFirst(from[k] + i, left, sum);
    alignas(32) double all[kLanes];
    _mm256_store_pd(all, sum[0]);
    _mm256_store_pd(all + 4, sum[1]);
    for (int64_t l = 0; l < left; ++l) sums[i + l] += all[l];
  }
}

[[gnu::target(HV_AVX2)]] void Avx2Columns(const float* const* terms, int64_t rows, double* sums,
                                          int64_t columns) {
  if (rows == kLanes) return Columns<kLanes>(terms, rows, sums, columns);
  Columns<0>(terms, rows, sums, columns);
}

#endif

}  // namespace

Kernels FastestKernels() {
#if HV_X86
  if (UsableIsa() >= Isa::kAvx2) return {Avx2Rows, Avx2Columns};
#endif
  return {PlainRows, PlainColumns};
}

}  // namespace hv::lanes
