// With AVX-512, elements of the left matrix are cut into limbs of 31 bits and those of the right into
// limbs of 21: the product of two limbs is below 2^52, so 4096 of them add up in 64 bits, and a sum is
// reduced once. Six products of 32 by 32 bits stand for one of 61 by 61. Elsewhere sums of 128 bits.
#include "eval/field_product.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/integers.h"
#include "base/parallel.h"
#include "eval/vector_isa.h"

#if HV_X86
#include <immintrin.h>
#endif

namespace hv {
namespace {

typedef unsigned __int128 Wide;

constexpr size_t At(int64_t position) { return static_cast<size_t>(position); }

constexpr int64_t kProductsPerThread = int64_t{1} << 18;

// Calls body(begin, end) for m rows of n sums of k products each.
template <class Body>
void ForRows(int64_t m, int64_t n, int64_t k, Body body) {
  ParallelFor(m, kProductsPerThread / std::max<int64_t>(n * k, 1) + 1, body);
}

void MultiplyPlainly(int64_t m, int64_t n, int64_t k, std::span<const FieldPair> a,
                     std::span<const FieldPair> b, std::span<FieldPair> c) {
  std::vector<FieldPair> columns(b.size());  // a column side by side
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < n; ++j) {
      columns[At(j * k + p)] = b[At(p * n + j)];
    }
  }
  const auto sum_of_products = [k](const FieldPair* x, const FieldPair* y) -> FieldPair {
    LazySum<Fp> first;
    LazySum<Fq> second;
    for (int64_t p = 0; p < k;) {
      const int64_t end = std::min(k, p + LazySum<Fp>::kProducts);
      for (; p < end; ++p) {
        first.AddProduct(x[p].a, y[p].a);
        second.AddProduct(x[p].b, y[p].b);
      }
      first.Reduce();
      second.Reduce();
    }
    return {first.Sum(), second.Sum()};
  };
  ForRows(m, n, k, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        c[At(i * n + j)] = sum_of_products(a.data() + i * k, columns.data() + j * k);
      }
    }
  });
}

#if HV_X86

constexpr int64_t kColumns = 8;      // of b, a vector of them
constexpr int64_t kRows = 2;         // of a at a time
constexpr int64_t kProducts = 4096;  // that a sum holds
constexpr int kLeftBits = 31, kRightBits = 21;

// Limbs of a few columns of b: [row][limb][column].
using RightRow = std::array<std::array<uint64_t, kColumns>, 3>;
// Limbs of an element of a.
using Left = std::array<uint64_t, 2>;
// Sums of products by limb of a, limb of b and column.
using Sums = std::array<std::array<std::array<uint64_t, kColumns>, 3>, 2>;

// Sums of kRows rows of a, `count` products each. (All lanes masked in: GCC 12 takes the plain
// intrinsic's unused operand for uninitialised.)
[[gnu::target(HV_AVX512)]] void SumProducts(const Left* const* a, const RightRow* b, int64_t count,
                                            Sums* sums) {
  __m512i sum[kRows][2][3] = {};
  for (int64_t p = 0; p < count; ++p) {
    for (int y = 0; y < 3; ++y) {
      const __m512i right = _mm512_loadu_si512(b[p][At(y)].data());
      for (int r = 0; r < kRows; ++r) {
        for (int x = 0; x < 2; ++x) {
          const auto limb = static_cast<int64_t>(a[r][p][At(x)]);
          const __m512i product =
              _mm512_maskz_mul_epu32(0xFF, _mm512_set1_epi64(limb), right);
          sum[r][x][y] = _mm512_add_epi64(sum[r][x][y], product);
        }
      }
    }
  }
  std::memcpy(sums, sum, sizeof(sum));
}

// The limbs of a sum put together: limb products count 2^(31 x + 21 y) times, and 2^73 is 2^12 times
// the field's gap. All terms are below 2^117.
template <class Field>
Field SumOfLimbs(const Sums& sums, size_t column) {
  constexpr uint64_t kGap = (uint64_t{1} << 61) - Field::kPrime;
  LazySum<Field> sum;
  for (int x = 0; x < 2; ++x) {
    for (int y = 0; y < 3; ++y) {
      const int shift = kLeftBits * x + kRightBits * y;
      const Wide products = sums[At(x)][At(y)][column];
      sum.Add(shift < 61 ? products << shift : products * kGap << (shift - 61));
    }
  }
  return sum.Sum();
}

template <class Field, Field FieldPair::*kField>
void MultiplyLimbs(int64_t m, int64_t n, int64_t k, std::span<const FieldPair> a,
                   std::span<const FieldPair> b, std::span<FieldPair> c) {
  constexpr uint64_t kLeft = (uint64_t{1} << kLeftBits) - 1;
  constexpr uint64_t kRight = (uint64_t{1} << kRightBits) - 1;
  std::vector<Left> left(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const uint64_t number = (a[i].*kField).number();
    left[i] = {number & kLeft, number >> kLeftBits};
  }
  std::vector<RightRow> right(At(k));
  for (int64_t first = 0; first < n; first += kColumns) {
    const int64_t columns = std::min(kColumns, n - first);
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < columns; ++j) {
        const uint64_t number = (b[At(p * n + first + j)].*kField).number();
        RightRow& row = right[At(p)];
        row[0][At(j)] = number & kRight;
        row[1][At(j)] = number >> kRightBits & kRight;
        row[2][At(j)] = number >> 2 * kRightBits;
      }
    }
    ForRows(CeilDiv(m, kRows), kRows * columns, k, [&](int64_t begin, int64_t end) {
      for (int64_t i = kRows * begin; i < std::min(m, kRows * end); i += kRows) {
        std::array<std::array<Field, kColumns>, kRows> total = {};
        for (int64_t p = 0; p < k; p += kProducts) {
          const Left* rows[kRows];
          for (int64_t r = 0; r < kRows; ++r) rows[r] = &left[At(std::min(i + r, m - 1) * k + p)];
          Sums sums[kRows];
          SumProducts(rows, &right[At(p)], std::min(kProducts, k - p), sums);
          for (size_t r = 0; r < kRows; ++r) {
            for (size_t j = 0; j < kColumns; ++j) {
              total[r][j] = total[r][j] + SumOfLimbs<Field>(sums[r], j);
            }
          }
        }
        for (int64_t r = 0; r < std::min(kRows, m - i); ++r) {
          for (int64_t j = 0; j < columns; ++j) {
            c[At((i + r) * n + first + j)].*kField = total[At(r)][At(j)];
          }
        }
      }
    });
  }
}

#endif

}  // namespace

void MultiplyMatrices(int64_t m, int64_t n, int64_t k, std::span<const FieldPair> a,
                      std::span<const FieldPair> b, std::span<FieldPair> c) {
#if HV_X86
  if (UsableIsa() == Isa::kAvx512) {
    MultiplyLimbs<Fp, &FieldPair::a>(m, n, k, a, b, c);
    MultiplyLimbs<Fq, &FieldPair::b>(m, n, k, a, b, c);
    return;
  }
#endif
  MultiplyPlainly(m, n, k, a, b, c);
}

}  // namespace hv
