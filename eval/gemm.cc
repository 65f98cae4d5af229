// The usual three-level blocking: panels of A and B packed so that a kernel of kRows x (2 vectors)
// runs over k with its results in registers. Only the order over k matters for the bits, and it is
// kept: a later block of k continues from the stored partial sums.
#include "eval/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace hv {
namespace {

#define HV_INLINE inline __attribute__((always_inline))

constexpr int64_t kDepth = 256;     // k per block: a panel of A stays in the first-level cache
constexpr int64_t kHeight = 96;     // rows per block of A: stays in the second-level cache
constexpr int64_t kBreadth = 2048;  // columns per block of B

// One tile: kRows rows of packed A times 2 vectors of packed B, added to `tile`.
template <class T, int kVectorBytes, int kRows>
HV_INLINE void Kernel(int64_t depth, const T* a, const T* b, T* tile) {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  Vector sum[kRows][2];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < 2; ++v) std::memcpy(&sum[r][v], tile + (2 * r + v) * kLanes, kVectorBytes);
  }
  for (int64_t p = 0; p < depth; ++p, a += kRows, b += 2 * kLanes) {
    Vector b0, b1;
    std::memcpy(&b0, b, kVectorBytes);
    std::memcpy(&b1, b + kLanes, kVectorBytes);
    for (int r = 0; r < kRows; ++r) {
      sum[r][0] += a[r] * b0;
      sum[r][1] += a[r] * b1;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < 2; ++v) std::memcpy(tile + (2 * r + v) * kLanes, &sum[r][v], kVectorBytes);
  }
}

// A row-major matrix in memory; `row` elements lie between rows.
template <class T>
struct Matrix {
  T* data;
  int64_t row;
  T* At(int64_t i, int64_t j) const { return data + i * row + j; }
};

// Sums run in T; the operands are stored as In.
template <class T, class In = T>
struct Product {
  int64_t m, n, k;
  Matrix<const In> a, b;
  Matrix<T> c;
};

// Panels of kRows rows, each [k][row]; rows beyond the end are zeros.
template <class T, class In>
HV_INLINE void PackA(const Product<T, In>& x, int64_t i0, int64_t rows, int64_t k0, int64_t depth,
                     int panel, T* out) {
  for (int64_t i = 0; i < rows; i += panel) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int r = 0; r < panel; ++r) *out++ = i + r < rows ? *x.a.At(i0 + i + r, k0 + p) : T{0};
    }
  }
}

// Panels of `panel` columns, each [k][column].
template <class T, class In>
HV_INLINE void PackB(const Product<T, In>& x, int64_t j0, int64_t columns, int64_t k0,
                     int64_t depth, int panel, T* out) {
  for (int64_t j = 0; j < columns; j += panel) {
    const int64_t here = std::min<int64_t>(panel, columns - j);
    for (int64_t p = 0; p < depth; ++p, out += panel) {
      std::copy_n(x.b.At(k0 + p, j0 + j), here, out);
      std::fill(out + here, out + panel, T{0});
    }
  }
}

// One tile of C, continued from what stands there (from zero for the first block of k).
template <class T, int kVectorBytes, int kRows>
HV_INLINE void Tile(const Matrix<T>& c, int64_t i, int64_t j, int64_t rows, int64_t columns,
                    bool first, int64_t depth, const T* a, const T* b) {
  constexpr int kColumns = 2 * kVectorBytes / static_cast<int>(sizeof(T));
  alignas(64) T tile[kRows * kColumns] = {};
  for (int64_t r = 0; r < rows && !first; ++r) {
    std::copy_n(c.At(i + r, j), columns, tile + r * kColumns);
  }
  Kernel<T, kVectorBytes, kRows>(depth, a, b, tile);
  for (int64_t r = 0; r < rows; ++r) std::copy_n(tile + r * kColumns, columns, c.At(i + r, j));
}

template <int kVectorBytes, int kRows, class T, class In>
HV_INLINE void Blocked(const Product<T, In>& x) {
  constexpr int kColumns = 2 * kVectorBytes / static_cast<int>(sizeof(T));
  const int64_t breadth = std::min(kBreadth, (x.n + kColumns - 1) / kColumns * kColumns);
  const int64_t depth_most = std::min(kDepth, x.k);
  const auto packed_a =
      std::make_unique_for_overwrite<T[]>(static_cast<size_t>(kHeight * depth_most));
  const auto packed_b =
      std::make_unique_for_overwrite<T[]>(static_cast<size_t>(breadth * depth_most));
  for (int64_t j0 = 0; j0 < x.n; j0 += breadth) {
    const int64_t columns = std::min(breadth, x.n - j0);
    for (int64_t k0 = 0; k0 < x.k; k0 += kDepth) {
      const int64_t depth = std::min(kDepth, x.k - k0);
      PackB(x, j0, columns, k0, depth, kColumns, packed_b.get());
      for (int64_t i0 = 0; i0 < x.m; i0 += kHeight) {
        const int64_t rows = std::min(kHeight, x.m - i0);
        PackA(x, i0, rows, k0, depth, kRows, packed_a.get());
        for (int64_t j = 0; j < columns; j += kColumns) {
          for (int64_t i = 0; i < rows; i += kRows) {
            Tile<T, kVectorBytes, kRows>(x.c, i0 + i, j0 + j, std::min<int64_t>(kRows, rows - i),
                                         std::min<int64_t>(kColumns, columns - j), k0 == 0, depth,
                                         packed_a.get() + i * depth, packed_b.get() + j * depth);
          }
        }
      }
    }
  }
}

template <class T, class In>
void Portable(const Product<T, In>& x) {
  Blocked<16, 6>(x);
}

#if defined(__x86_64__)
template <class T, class In>
__attribute__((target("avx2"))) void Avx2(const Product<T, In>& x) {
  Blocked<32, 6>(x);
}
template <class T, class In>
__attribute__((target("avx512f"))) void Avx512(const Product<T, In>& x) {
  Blocked<64, 12>(x);
}
#endif

template <class T, class In>
void Packed(const Product<T, In>& x) {
#if defined(__x86_64__)
  // Vectors no wider than the columns need.
  const int64_t row_bytes = x.n * static_cast<int64_t>(sizeof(T));
  if (row_bytes > 64 && __builtin_cpu_supports("avx512f")) return Avx512(x);
  if (row_bytes > 32 && __builtin_cpu_supports("avx2")) return Avx2(x);
#endif
  Portable(x);
}

// One to three columns: many rows at a time, as independent chains of sums.
template <class T, class In>
void Thin(const Product<T, In>& x) {
  constexpr int64_t kRows = 16;
  for (int64_t i = 0; i < x.m; i += kRows) {
    const int64_t rows = std::min(kRows, x.m - i);
    for (int64_t j = 0; j < x.n; ++j) {
      const In* a[kRows];
      T sum[kRows] = {};
      for (int64_t r = 0; r < kRows; ++r) a[r] = x.a.At(i + std::min(r, rows - 1), 0);
      for (int64_t p = 0; p < x.k; ++p) {
        const T factor = *x.b.At(p, j);
        for (int64_t r = 0; r < kRows; ++r) sum[r] += a[r][p] * factor;
      }
      for (int64_t r = 0; r < rows; ++r) *x.c.At(i + r, j) = sum[r];
    }
  }
}

// Too small for packing to pay: the same sums, row by row.
template <class T, class In>
void Small(const Product<T, In>& x) {
  for (int64_t i = 0; i < x.m; ++i) {
    T* __restrict row = x.c.At(i, 0);
    std::fill_n(row, x.n, T{0});
    for (int64_t p = 0; p < x.k; ++p) {
      const T factor = *x.a.At(i, p);
      const In* __restrict b = x.b.At(p, 0);
      for (int64_t j = 0; j < x.n; ++j) row[j] += factor * b[j];
    }
  }
}

template <class T, class In>
void Multiply(const Product<T, In>& x) {
  if (x.k == 0 || x.m * x.n * x.k < 2048 || x.m < 3) return Small(x);
  if (x.n < 4) return Thin(x);
  Packed(x);
}

}  // namespace

void MatrixMultiply(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  Multiply(Product<float>{m, n, k, {a, k}, {b, n}, {c, n}});
}

void MatrixMultiply(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c) {
  Multiply(Product<double>{m, n, k, {a, k}, {b, n}, {c, n}});
}

void MatrixMultiply(int64_t m, int64_t n, int64_t k, const Bf16* a, const Bf16* b, float* c) {
  Multiply(Product<float, Bf16>{m, n, k, {a, k}, {b, n}, {c, n}});
}

void MatrixMultiply(int64_t m, int64_t n, int64_t k, const F16* a, const F16* b, float* c) {
  Multiply(Product<float, F16>{m, n, k, {a, k}, {b, n}, {c, n}});
}

}  // namespace hv
