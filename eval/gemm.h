// Matrix products whose bits do not depend on blocking, threads, vector width or machine: every
// element is the sum over k in ascending order, from zero, each product and each sum rounded (no
// fused multiply-add), as XLA's evaluator computes it.
#pragma once

#include <cstdint>

#include "eval/half_floats.h"

namespace hv {

// A matrix in memory: elements between neighbours in a column and in a row.
template <class T>
struct Matrix {
  T* data;
  int64_t row, column;
  T* At(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

// C[m,n] = A[m,k] * B[k,n]. Sums run in T; the operands are stored as In and widened as they are
// read.
template <class T, class In = T>
struct Product {
  int64_t m, n, k;
  Matrix<const In> a, b;
  Matrix<T> c;
};

void MatrixMultiply(const Product<float>& product);
void MatrixMultiply(const Product<double>& product);
void MatrixMultiply(const Product<float, Bf16>& product);
void MatrixMultiply(const Product<float, F16>& product);
// Integers modulo 2^32 and 2^64, which narrower ones are cut from.
void MatrixMultiply(const Product<uint32_t>& product);
void MatrixMultiply(const Product<uint32_t, uint16_t>& product);
void MatrixMultiply(const Product<uint32_t, uint8_t>& product);
void MatrixMultiply(const Product<uint64_t>& product);

}  // namespace hv
