// The usual three-level blocking: panels of A and B packed so that a tile runs over k with its sums
// in registers. Only the order over k matters for the bits, and it is kept: a later block of k
// continues from the stored partial sums. Few rows or columns go another way.
#include "eval/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/parallel.h"
#include "eval/transpose_block.h"
#include "eval/vector_tile.h"

namespace hv {
namespace {

constexpr int64_t kDepth = 256;     // k per block: panels of A and B stay in the first-level cache
constexpr int64_t kHeight = 96;     // rows per block of A: stays in the second-level cache
constexpr int64_t kBreadth = 1024;  // columns per block of B

// Memory of this thread that stays for the next product: fresh pages would cost as much as packing.
template <class T, int kUse>
T* Scratch(int64_t count) {
  thread_local std::unique_ptr<T[]> memory;
  thread_local int64_t size = 0;
  if (size < count) {
    memory = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(count));
    size = count;
  }
  return memory.get();
}

// `lines` rows of A (or columns of B) along `depth` values of k, in panels of kLines as [k][line];
// lines beyond the end are zeros. `line` and `step` are the strides of lines and of k.
template <int kLines, class T, class In>
HV_INLINE void Pack(const In* from, int64_t line, int64_t step, int64_t lines, int64_t depth,
                    T* out) {
  for (int64_t i = 0; i < lines; i += kLines, from += kLines * line, out += kLines * depth) {
    const int64_t here = std::min<int64_t>(kLines, lines - i);
    if (here < kLines) std::fill_n(out, kLines * depth, T{0});
    if (line == 1 && here == kLines) {
      for (int64_t p = 0; p < depth; ++p) {
        for (int l = 0; l < kLines; ++l) out[p * kLines + l] = static_cast<T>(from[p * step + l]);
      }
      continue;
    }
    for (int64_t l = 0; l < here; ++l) {
      for (int64_t p = 0; p < depth; ++p) {
        out[p * kLines + l] = static_cast<T>(from[l * line + p * step]);
      }
    }
  }
}

// Large in all three directions; rows of C contiguous.
template <class T, class In>
struct Blocked {
  const Product<T, In>& x;
  T* packed_a;
  T* packed_b;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    constexpr auto kColumns = static_cast<int>(tile::kColumns<T, kVectorBytes>);
    for (int64_t j0 = 0; j0 < x.n; j0 += kBreadth) {
      const int64_t columns = std::min(kBreadth, x.n - j0);
      for (int64_t k0 = 0; k0 < x.k; k0 += kDepth) {
        const int64_t depth = std::min(kDepth, x.k - k0);
        Pack<kColumns>(x.b.At(k0, j0), x.b.column, x.b.row, columns, depth, packed_b);
        for (int64_t i0 = 0; i0 < x.m; i0 += kHeight) {
          const int64_t rows = std::min(kHeight, x.m - i0);
          Pack<kRows>(x.a.At(i0, k0), x.a.row, x.a.column, rows, depth, packed_a);
          for (int64_t j = 0; j < columns; j += kColumns) {
            for (int64_t i = 0; i < rows; i += kRows) {
              Tile<kVectorBytes, kRows>(x.c.At(i0 + i, j0 + j), std::min<int64_t>(kRows, rows - i),
                                        std::min<int64_t>(kColumns, columns - j), k0 == 0, depth,
                                        packed_a + i * depth, packed_b + j * depth);
            }
          }
        }
      }
    }
  }

  // One tile of C, continued from what stands there but for the first block of k. Tiles that reach
  // beyond the edge go through a copy.
  template <int kVectorBytes, int kRows>
  HV_INLINE void Tile(T* c, int64_t rows, int64_t columns, bool first, int64_t depth, const T* a,
                      const T* b) const {
    constexpr int64_t kColumns = tile::kColumns<T, kVectorBytes>;
    static constexpr tile::Segment kAll[1] = {{0, 0}};
    const tile::PackedRows<T, kRows> packed{a};
    const bool whole = rows == kRows && columns == kColumns;
    alignas(64) T edge[kRows * kColumns];
    for (int64_t r = 0; r < rows && !whole && !first; ++r) {
      std::copy_n(c + r * x.c.row, columns, edge + r * kColumns);
    }
    tile::Multiply<T, kVectorBytes, kRows>(packed, b, kAll, depth, first, whole ? c : edge,
                                           whole ? x.c.row : kColumns);
    for (int64_t r = 0; r < rows && !whole; ++r) {
      std::copy_n(edge + r * kColumns, columns, c + r * x.c.row);
    }
  }
};

// Few rows, with rows of B contiguous: each row of C is a sum of scaled rows of B, several of which
// are added in one pass.
template <class T, class In>
struct FewRows {
  const Product<T, In>& x;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    constexpr int64_t kBlock = 2048;
    T sums[kBlock];
    for (int64_t i = 0; i < x.m; ++i) {
      for (int64_t j0 = 0; j0 < x.n; j0 += kBlock) {
        const int64_t count = std::min(kBlock, x.n - j0);
        std::fill_n(sums, count, T{0});
        int64_t p = 0;
        for (; p + 4 <= x.k; p += 4) AddFour(i, p, x.b.At(p, j0), sums, count);
        for (; p < x.k; ++p) {
          const auto f = static_cast<T>(*x.a.At(i, p));
          const In* __restrict b = x.b.At(p, j0);
          for (int64_t j = 0; j < count; ++j) sums[j] += f * static_cast<T>(b[j]);
        }
        for (int64_t j = 0; j < count; ++j) *x.c.At(i, j0 + j) = sums[j];
      }
    }
  }

  HV_INLINE void AddFour(int64_t i, int64_t p, const In* b, T* __restrict sums,
                         int64_t count) const {
    T f[4];
    for (int q = 0; q < 4; ++q) f[q] = static_cast<T>(*x.a.At(i, p + q));
    const In *b0 = b, *b1 = b0 + x.b.row, *b2 = b1 + x.b.row, *b3 = b2 + x.b.row;
    for (int64_t j = 0; j < count; ++j) {
      T sum = sums[j] + f[0] * static_cast<T>(b0[j]);
      sum += f[1] * static_cast<T>(b1[j]);
      sum += f[2] * static_cast<T>(b2[j]);
      sums[j] = sum + f[3] * static_cast<T>(b3[j]);
    }
  }
};

// One to three columns, with rows of A contiguous: sixteen rows are the lanes of vectors, which
// blocks of A are transposed for. What is left at the edges goes one by one.
template <class T, class In>
struct FewColumns {
  const Product<T, In>& x;
  static constexpr int64_t kLanes = 16, kTerms = 64;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    for (int64_t i = 0; i < x.m; i += kLanes) {
      const int64_t rows = std::min(kLanes, x.m - i);
      T sums[3][kLanes] = {};
      int64_t p = 0;
      if constexpr (std::is_same_v<T, In>) {
        for (; rows == kLanes && x.a.column == 1 && p + kTerms <= x.k; p += kTerms) {
          AddTerms<kVectorBytes>(x.a.At(i, p), p, sums);
        }
      }
      for (; p < x.k; ++p) {
        for (int64_t j = 0; j < x.n; ++j) {
          const auto factor = static_cast<T>(*x.b.At(p, j));
          for (int64_t r = 0; r < rows; ++r) {
            sums[j][r] += static_cast<T>(*x.a.At(i + r, p)) * factor;
          }
        }
      }
      for (int64_t j = 0; j < x.n; ++j) {
        for (int64_t r = 0; r < rows; ++r) *x.c.At(i + r, j) = sums[j][r];
      }
    }
  }

  template <int kVectorBytes>
  HV_INLINE void AddTerms(const T* a, int64_t p0, T sums[3][kLanes]) const {
    typedef T Vector __attribute__((vector_size(kVectorBytes)));
    constexpr int kVectors = kLanes * static_cast<int>(sizeof(T)) / kVectorBytes;
    constexpr int64_t kSide = kBlockSide<T>;
    alignas(64) T terms[kTerms][kLanes];
    for (int64_t r = 0; r < kLanes; r += kSide) {
      for (int64_t p = 0; p < kTerms; p += kSide) {
        TransposeBlock(a + r * x.a.row + p, x.a.row, &terms[p][r], kLanes);
      }
    }
    for (int64_t j = 0; j < x.n; ++j) {
      Vector sum[kVectors], term[kVectors];
      std::memcpy(sum, sums[j], sizeof(sum));
      for (int64_t p = 0; p < kTerms; ++p) {
        const T factor = *x.b.At(p0 + p, j);
        std::memcpy(term, terms[p], sizeof(term));
        for (int v = 0; v < kVectors; ++v) sum[v] += term[v] * factor;
      }
      std::memcpy(sums[j], sum, sizeof(sum));
    }
  }
};

// Too small for packing to pay: the same sums, row by row.
template <class T, class In>
void Small(const Product<T, In>& x) {
  for (int64_t i = 0; i < x.m; ++i) {
    for (int64_t j = 0; j < x.n; ++j) *x.c.At(i, j) = T{0};
    for (int64_t p = 0; p < x.k; ++p) {
      const auto factor = static_cast<T>(*x.a.At(i, p));
      for (int64_t j = 0; j < x.n; ++j) {
        *x.c.At(i, j) += factor * static_cast<T>(*x.b.At(p, j));
      }
    }
  }
}

template <class E>
Matrix<E> Transposed(const Matrix<E>& matrix) {
  return {matrix.data, matrix.column, matrix.row};
}
template <class T, class In>
Product<T, In> Transposed(const Product<T, In>& x) {
  return {x.n, x.m, x.k, Transposed(x.b), Transposed(x.a), Transposed(x.c)};
}

// By one thread.
template <class T, class In>
void Multiply(const Product<T, In>& x) {
  if (x.k == 0 || x.m * x.n * x.k < 2048) return Small(x);
  const tile::Vectors vectors = tile::FastestVectors();
  if (x.m < 4 || x.n < 4) {
    const Product<T, In> t = Transposed(x);
    if (x.m < 4 && x.b.column == 1) return tile::RunOn(vectors, FewRows<T, In>{x});
    if (t.m < 4 && t.b.column == 1) return tile::RunOn(vectors, FewRows<T, In>{t});
    return tile::RunOn(vectors, FewColumns<T, In>{x.n < 4 ? x : t});
  }
  constexpr int64_t kWidest = 64;  // panels are padded to as many columns at most
  const int64_t depth = std::min(kDepth, x.k);
  const Blocked<T, In> blocked{x, Scratch<T, 0>(kHeight * depth),
                               Scratch<T, 1>((std::min(kBreadth, x.n) + kWidest) * depth)};
  tile::RunOn(vectors, blocked);
}

// The part of C from row i0 and column j0 on.
template <class T, class In>
Product<T, In> Part(Product<T, In> x, int64_t i0, int64_t j0, int64_t m, int64_t n) {
  x.a.data = x.a.At(i0, 0);
  x.b.data = x.b.At(0, j0);
  x.c.data = x.c.At(i0, j0);
  x.m = m;
  x.n = n;
  return x;
}

// Threads share the longer side of C, in parts of at least a million products.
template <class T, class In>
void InParallel(const Product<T, In>& x) {
  const bool by_rows = x.m >= x.n;
  const int64_t length = by_rows ? x.m : x.n;
  const int64_t products_per_line =
      std::max<int64_t>(x.m * x.n / std::max<int64_t>(length, 1) * x.k, 1);
  const int64_t least = (int64_t{1} << 20) / products_per_line + 1;
  const int64_t share = length / (2 * ThreadCount()) + 1;
  const int64_t grain = (std::max(least, share) + kHeight - 1) / kHeight * kHeight;
  ParallelFor(length, grain, [&](int64_t begin, int64_t end) {
    Multiply(by_rows ? Part(x, begin, 0, end - begin, x.n) : Part(x, 0, begin, x.m, end - begin));
  });
}

}  // namespace

void MatrixMultiply(const Product<float>& product) { InParallel(product); }
void MatrixMultiply(const Product<double>& product) { InParallel(product); }
void MatrixMultiply(const Product<float, Bf16>& product) { InParallel(product); }
void MatrixMultiply(const Product<float, F16>& product) { InParallel(product); }
void MatrixMultiply(const Product<uint32_t>& product) { InParallel(product); }
void MatrixMultiply(const Product<uint32_t, uint16_t>& product) { InParallel(product); }
void MatrixMultiply(const Product<uint32_t, uint8_t>& product) { InParallel(product); }
void MatrixMultiply(const Product<uint64_t>& product) { InParallel(product); }

}  // namespace hv
