// The usual three-level blocking: panels of A and B, packed unless they are small, so that a tile runs
// over k with its sums in registers. Only the order over k matters for the bits, and it is kept: a
// later block of k continues from the stored partial sums. Few rows or columns go another way.
#include "eval/gemm.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/parallel.h"
#include "eval/one_nan.h"
#include "eval/page_heap.h"
#include "eval/transpose_block.h"
#include "eval/vector_tile.h"

namespace hv {
namespace {

constexpr int64_t kDepth = 1024;    // k per block: a panel of B stays in the second-level cache
constexpr int64_t kHeight = 48;     // rows per block of A: stays in the second-level cache
constexpr int64_t kBreadth = 1024;  // columns per block of B
constexpr int64_t kFewTerms = 4;    // for so few, packing and tiles do not pay

template <class T, int kUse>
T* Scratch(int64_t count) {
  thread_local WorkingMemory memory;
  return reinterpret_cast<T*>(memory.AtLeast(static_cast<size_t>(count) * sizeof(T)));
}

// Lines (rows of A or columns of B) along `depth` values of k as [k][line]; lines from `lines` to
// kLines are zeros. `line` and `step` are the strides of lines and of k.
template <int kLines, class T, class In>
HV_INLINE void Pack(const In* from, int64_t line, int64_t step, int64_t lines, int64_t depth,
                    T* out) {
  if (lines < kLines) std::fill_n(out, kLines * depth, T{0});
  if (line == 1 && lines == kLines) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int l = 0; l < kLines; ++l) out[p * kLines + l] = static_cast<T>(from[p * step + l]);
    }
    return;
  }
  int64_t packed = 0;
  if constexpr (std::is_same_v<T, In> && kLines % kBlockSide<T> == 0) {
    constexpr int kSide = kBlockSide<T>;
    if (step == 1 && lines == kLines) packed = depth / kSide * kSide;
    for (int l = 0; l < kLines; l += kSide) {
      for (int64_t p = 0; p < packed; p += kSide) {
        TransposeBlock(from + l * line + p, line, out + p * kLines + l, kLines);
      }
    }
  }
  for (int64_t l = 0; l < lines; ++l) {
    for (int64_t p = packed; p < depth; ++p) {
      out[p * kLines + l] = static_cast<T>(from[l * line + p * step]);
    }
  }
}

// Does all that a product reads of an operand fit the first-level cache, rows contiguous? Then it is
// read where it lies.
template <class T, class In>
bool IsReadInPlace(const Matrix<const In>& x, int64_t rows) {
  constexpr int64_t kFirstLevelBytes = int64_t{1} << 15;
  return std::is_same_v<T, In> && x.column == 1 &&
         rows * x.row * static_cast<int64_t>(sizeof(T)) <= kFirstLevelBytes;
}

// Large in all three directions; rows of C contiguous.
template <class T, class In>
struct Blocked {
  const Product<T, In>& x;
  T* packed_a;
  T* packed_b;
  bool a_in_place = IsReadInPlace<T>(x.a, x.m);
  bool b_in_place = IsReadInPlace<T>(x.b, x.k);

  // A block of C and of k: rows from i0, columns from j0, depth from k0 on.
  struct Block {
    int64_t i0, j0, k0, rows, columns, depth;
  };

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    Block at{};
    for (at.j0 = 0; at.j0 < x.n; at.j0 += kBreadth) {
      at.columns = std::min(kBreadth, x.n - at.j0);
      for (at.k0 = 0; at.k0 < x.k; at.k0 += kDepth) {
        at.depth = std::min(kDepth, x.k - at.k0);
        PackColumns<kVectorBytes>(at);
        for (at.i0 = 0; at.i0 < x.m; at.i0 += kHeight) {
          at.rows = std::min(kHeight, x.m - at.i0);
          PackRows<kRows>(at);
          Multiply<kVectorBytes, kRows>(at);
          for (int64_t r = 0; r < at.rows && at.k0 + at.depth == x.k; ++r) {
            KeepOneNaN(x.c.At(at.i0 + r, at.j0), at.columns);
          }
        }
      }
    }
  }

  struct Panels {
    const T* b;
    int64_t b_row;
    T* c;
    int64_t rows, columns, depth;  // rows from this tile on, columns of it
    bool first;  // block of k
  };

  template <int kVectorBytes>
  HV_INLINE void PackColumns(const Block& at) const {
    constexpr int64_t kColumns = tile::kColumns<T, kVectorBytes>;
    for (int64_t j = 0; j < at.columns; j += kColumns) {
      const int64_t here = std::min(kColumns, at.columns - j);
      if (b_in_place && here == kColumns) continue;
      Pack<kColumns>(x.b.At(at.k0, at.j0 + j), x.b.column, x.b.row, here, at.depth,
                     packed_b + j * at.depth);
    }
  }

  // Tiles of two thirds of the rows, where they leave less of the last ones empty.
  template <int kRows>
  static constexpr int kLow = kRows / 3 * 2;
  template <int kRows>
  static bool IsLow(int64_t rows_left) {
    return rows_left <= kLow<kRows> || (rows_left > kRows && rows_left <= 2 * kLow<kRows>);
  }

  template <int kRows>
  HV_INLINE void PackRows(const Block& at) const {
    for (int64_t i = 0; i < at.rows;) {
      const int64_t left = at.rows - i;
      const In* from = x.a.At(at.i0 + i, at.k0);
      T* to = packed_a + i * at.depth;
      if (IsLow<kRows>(left)) {
        Pack<kLow<kRows>>(from, x.a.row, x.a.column, std::min<int64_t>(kLow<kRows>, left),
                          at.depth, to);
        i += kLow<kRows>;
        continue;
      }
      if (!a_in_place || left < kRows) {
        Pack<kRows>(from, x.a.row, x.a.column, std::min<int64_t>(kRows, left), at.depth, to);
      }
      i += kRows;
    }
  }

  template <int kVectorBytes, int kRows>
  HV_INLINE void Multiply(const Block& at) const {
    constexpr int64_t kColumns = tile::kColumns<T, kVectorBytes>;
    for (int64_t j = 0; j < at.columns; j += kColumns) {
      const int64_t columns = std::min(kColumns, at.columns - j);
      const T* b = packed_b + j * at.depth;
      int64_t b_row = kColumns;
      if constexpr (std::is_same_v<T, In>) {
        if (b_in_place && columns == kColumns) {
          b = x.b.At(at.k0, at.j0 + j);
          b_row = x.b.row;
        }
      }
      for (int64_t i = 0; i < at.rows;) {
        i += Rows<kVectorBytes, kRows>(at, i, {b, b_row, x.c.At(at.i0 + i, at.j0 + j),
                                               at.rows - i, columns, at.depth, at.k0 == 0});
      }
    }
  }

  // The tile from row i on; how many rows it has.
  template <int kVectorBytes, int kRows>
  HV_INLINE int Rows(const Block& at, int64_t i, const Panels& panels) const {
    const T* packed = packed_a + i * at.depth;
    if (IsLow<kRows>(panels.rows)) {
      Tile<kVectorBytes, kLow<kRows>>(tile::PackedRows<T, kLow<kRows>>{packed}, panels);
      return kLow<kRows>;
    }
    if constexpr (std::is_same_v<T, In>) {
      if (a_in_place && panels.rows >= kRows) {
        Tile<kVectorBytes, kRows>(
            tile::SpacedRows<T, kRows>(x.a.At(at.i0 + i, at.k0), x.a.row), panels);
        return kRows;
      }
    }
    Tile<kVectorBytes, kRows>(tile::PackedRows<T, kRows>{packed}, panels);
    return kRows;
  }

  // One tile of C, continued from what stands there but for the first block of k. Tiles that reach
  // beyond the edge go through a copy.
  template <int kVectorBytes, int kRows, class Rows>
  HV_INLINE void Tile(const Rows& a, const Panels& p) const {
    constexpr int64_t kColumns = tile::kColumns<T, kVectorBytes>;
    static constexpr tile::Segment kAll[1] = {{0, 0}};
    const int64_t rows = std::min<int64_t>(kRows, p.rows);
    const bool whole = rows == kRows && p.columns == kColumns;
    alignas(64) T edge[kRows * kColumns];
    for (int64_t r = 0; r < rows && !whole && !p.first; ++r) {
      std::copy_n(p.c + r * x.c.row, p.columns, edge + r * kColumns);
    }
    tile::Multiply<T, kVectorBytes, kRows>(a, p.b, p.b_row, kAll, p.depth, p.first,
                                           whole ? p.c : edge, whole ? x.c.row : kColumns);
    for (int64_t r = 0; r < rows && !whole; ++r) {
      std::copy_n(edge + r * kColumns, p.columns, p.c + r * x.c.row);
    }
  }
};

// Few rows or few terms, with rows of B contiguous: each row of C is a sum of scaled rows of B, several
// of which are added in one pass. It is summed up where it lies if its elements are side by side.
template <class T, class In>
struct SumsOfRows {
  const Product<T, In>& x;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    constexpr int64_t kBlock = 2048;
    T buffer[kBlock];
    const bool in_place = x.c.column == 1;
    for (int64_t i = 0; i < x.m; ++i) {
      for (int64_t j0 = 0; j0 < x.n; j0 += kBlock) {
        const int64_t count = std::min(kBlock, x.n - j0);
        T* const sums = in_place ? x.c.At(i, j0) : buffer;
        int64_t p = x.k < 4 ? Add<1, true>(i, 0, j0, sums, count) : Add<4, true>(i, 0, j0, sums, count);
        while (p + 4 <= x.k) p = Add<4, false>(i, p, j0, sums, count);
        while (p < x.k) p = Add<1, false>(i, p, j0, sums, count);
        KeepOneNaN(sums, count);
        for (int64_t j = 0; !in_place && j < count; ++j) *x.c.At(i, j0 + j) = sums[j];
      }
    }
  }

  // Adds the terms p, .. p + kTerms - 1, the first of all to zero; returns the next.
  template <int kTerms, bool kFirst>
  HV_INLINE int64_t Add(int64_t i, int64_t p, int64_t j0, T* __restrict sums, int64_t count) const {
    T f[kTerms];
    const In* b[kTerms];
#pragma GCC unroll 4
    for (int q = 0; q < kTerms; ++q) {
      f[q] = static_cast<T>(*x.a.At(i, p + q));
      b[q] = x.b.At(p + q, j0);
    }
    for (int64_t j = 0; j < count; ++j) {
      T sum = kFirst ? T{0} : sums[j];
#pragma GCC unroll 4
      for (int q = 0; q < kTerms; ++q) sum += f[q] * static_cast<T>(b[q][j]);
      sums[j] = sum;
    }
    return p + kTerms;
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
        for (int64_t r = 0; r < rows; ++r) *x.c.At(i + r, j) = OneNaN(sums[j][r]);
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
    for (int64_t j = 0; j < x.n; ++j) *x.c.At(i, j) = OneNaN(*x.c.At(i, j));
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
  if (x.k <= kFewTerms && x.b.column == 1) return tile::RunOn(vectors, SumsOfRows<T, In>{x});
  if (x.m < 4 || x.n < 4) {
    const Product<T, In> t = Transposed(x);
    if (x.m < 4 && x.b.column == 1) return tile::RunOn(vectors, SumsOfRows<T, In>{x});
    if (t.m < 4 && t.b.column == 1) return tile::RunOn(vectors, SumsOfRows<T, In>{t});
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
