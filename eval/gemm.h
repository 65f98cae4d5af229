// Matrix products whose bits do not depend on blocking, vector width or machine: every element is
// the sum over k in ascending order, from zero, each product and each sum rounded (no fused
// multiply-add), as XLA's evaluator computes it.
#pragma once

#include <cstdint>

#include "eval/half_floats.h"

namespace hv {

// C[m,n] = A[m,k] * B[k,n], all row-major and contiguous.
void MatrixMultiply(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);
void MatrixMultiply(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c);
// Widened to f32 as they are read.
void MatrixMultiply(int64_t m, int64_t n, int64_t k, const Bf16* a, const Bf16* b, float* c);
void MatrixMultiply(int64_t m, int64_t n, int64_t k, const F16* a, const F16* b, float* c);

}  // namespace hv
