// Products against the sum in ascending order of k, bit for bit: every storage order, sizes that
// meet each way of computing them, each kind of vector of this machine, any number of threads.
#include "eval/gemm.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <tuple>
#include <vector>

#include "base/parallel.h"
#include "eval/vector_tile.h"

namespace hv {
namespace {

template <class In>
In Element(uint32_t random) {
  if constexpr (std::is_integral_v<In>) {
    return static_cast<In>(random);
  } else if constexpr (std::is_floating_point_v<In>) {
    return static_cast<In>(random % 2048) / In{7} - In{100};
  } else {
    return In{static_cast<uint16_t>(0x3C00 + random % 1024)};
  }
}

template <class In>
std::vector<In> Elements(int64_t count) {
  std::mt19937 random(7);
  std::vector<In> all(static_cast<size_t>(count));
  for (In& e : all) e = Element<In>(static_cast<uint32_t>(random()));
  return all;
}

template <class T, class In>
void CheckProduct(int64_t m, int64_t n, int64_t k) {
  const std::vector<In> a = Elements<In>(m * k), b = Elements<In>(k * n);
  for (int order = 0; order < 4; ++order) {
    std::vector<T> c(static_cast<size_t>(m * n)), expected(c.size(), T{0});
    const Matrix<const In> left{a.data(), order & 1 ? 1 : k, order & 1 ? m : 1};
    const Matrix<const In> right{b.data(), order & 2 ? 1 : n, order & 2 ? k : 1};
    MatrixMultiply(Product<T, In>{m, n, k, left, right, {c.data(), n, 1}});
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        T& sum = expected[static_cast<size_t>(i * n + j)];
        for (int64_t p = 0; p < k; ++p) {
          sum += static_cast<T>(*left.At(i, p)) * static_cast<T>(*right.At(p, j));
        }
      }
    }
    EXPECT_EQ(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)), 0)
        << m << "x" << n << "x" << k << ", storage order " << order;
  }
}

constexpr std::tuple<int64_t, int64_t, int64_t> kSizes[] = {
    {3, 5, 0},   {1, 1, 1},    {2, 3, 4},    {1, 3000, 40},  {2500, 1, 40}, {3, 700, 9},
    {700, 3, 9}, {12, 16, 33}, {13, 17, 19}, {100, 36, 300}, {37, 90, 600}, {96, 1100, 20},
    {16, 33, 40}, {20, 64, 1100}, {30, 32, 530}, {64, 64, 64}, {5, 40, 700},
};

template <class T, class In = T>
void CheckAllSizes() {
  for (const auto& [m, n, k] : kSizes) CheckProduct<T, In>(m, n, k);
}

TEST(Gemm, SumsInOrderF32) { CheckAllSizes<float>(); }
TEST(Gemm, SumsInOrderF64) { CheckAllSizes<double>(); }
TEST(Gemm, SumsInOrderBf16) { CheckAllSizes<float, Bf16>(); }
TEST(Gemm, SumsInOrderF16) { CheckAllSizes<float, F16>(); }
TEST(Gemm, WrapsU8) { CheckAllSizes<uint32_t, uint8_t>(); }
TEST(Gemm, WrapsU16) { CheckAllSizes<uint32_t, uint16_t>(); }
TEST(Gemm, WrapsU32) { CheckAllSizes<uint32_t>(); }
TEST(Gemm, WrapsU64) { CheckAllSizes<uint64_t>(); }

TEST(Gemm, OtherVectorsChangeNothing) {
  for (const Isa widest : {Isa::kBase, Isa::kAvx2}) {
    LimitIsa(widest);
    CheckAllSizes<float>();
    CheckAllSizes<double>();
    CheckAllSizes<uint64_t>();
  }
  LimitIsa(Isa::kAvx512);
}

TEST(Gemm, ThreadsChangeNothing) {
  SetThreadCount(3);
  CheckProduct<float, float>(200, 300, 150);
  CheckProduct<float, float>(300, 200, 150);
  CheckProduct<float, float>(1, 5000, 700);
  SetThreadCount(1);
}

// A tile of any vectors and ways of reading A: sums of the first rows and columns are
// compared.
struct Tile {
  const float* a;  // [12][kDepth]
  const float* b;  // [kDepth][32]
  float* c;        // [12][32]
  static constexpr int64_t kDepth = 50;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    constexpr int64_t kColumns = tile::kColumns<float, kVectorBytes>;
    float panel[kDepth * kColumns];
    for (int64_t p = 0; p < kDepth; ++p)
      std::memcpy(panel + p * kColumns, b + p * 32, kColumns * 4);
    tile::ScatteredRows<float, kRows> rows;
    for (int r = 0; r < kRows; ++r) rows.rows[r] = a + r * kDepth;
    // Stretches of k, each continuing from the ones before it.
    static constexpr tile::Segment kFirst[2] = {{0, 0}, {20, 20 * kColumns}};
    static constexpr tile::Segment kLast[1] = {{40, 40 * kColumns}};
    tile::Multiply<float, kVectorBytes, kRows>(rows, panel, kColumns, kFirst, 20, true, c, 32);
    tile::Multiply<float, kVectorBytes, kRows>(tile::SpacedRows<float, kRows>(a, kDepth), panel,
                                               kColumns, kLast, 10, false, c, 32);
  }
};

TEST(VectorTile, BitsAreThoseOfTheBaseline) {
  const std::vector<float> a = Elements<float>(12 * Tile::kDepth), b = Elements<float>(32 * 50);
  std::vector<float> expected(12 * 32), c(12 * 32);
  tile::RunOn(tile::Vectors::kBaseline, Tile{a.data(), b.data(), expected.data()});
  std::vector<tile::Vectors> kinds;
  if (UsableIsa() >= Isa::kAvx2) kinds.push_back(tile::Vectors::kAvx2);
  if (UsableIsa() >= Isa::kAvx512) {
    kinds.insert(kinds.end(), {tile::Vectors::kAvx512Of32Bytes, tile::Vectors::kAvx512});
  }
  for (const tile::Vectors vectors : kinds) {
    tile::RunOn(vectors, Tile{a.data(), b.data(), c.data()});
    for (size_t r = 0; r < 6; ++r) {
      EXPECT_EQ(std::memcmp(&c[r * 32], &expected[r * 32], 8 * sizeof(float)), 0) << r;
    }
  }
}

}  // namespace
}  // namespace hv
