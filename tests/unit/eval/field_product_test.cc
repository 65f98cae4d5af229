// Products of matrices over the fields against products reduced one by one.
#include "eval/field_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/parallel.h"
#include "eval/vector_isa.h"

namespace hv {
namespace {

struct Size {
  int64_t m, n, k;
};

// Random numbers, or the greatest ones, whose sums come closest to overflow.
std::vector<FieldPair> Matrix(int64_t count, bool greatest, uint64_t seed) {
  std::vector<FieldPair> matrix;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    const FieldPair most{-Fp::Of(1), -Fq::Of(1)};
    matrix.push_back(greatest ? most : FieldPair{Fp::Of(seed), Fq::Of(seed * 3)});
  }
  return matrix;
}

TEST(FieldProduct, IsTheSumOfProductsOnAnyMachine) {
  for (const Size s : {Size{1, 1, 1}, Size{3, 5, 0}, Size{2, 4, 7}, Size{5, 9, 130}, Size{2, 3, 4096},
                       Size{2, 5, 9000}, Size{33, 17, 61}}) {
    for (const bool greatest : {false, true}) {
      const std::vector<FieldPair> a = Matrix(s.m * s.k, greatest, 1);
      const std::vector<FieldPair> b = Matrix(s.k * s.n, greatest, 2);
      std::vector<FieldPair> expected(static_cast<size_t>(s.m * s.n));
      for (int64_t i = 0; i < s.m * s.n; ++i) {
        for (int64_t p = 0; p < s.k; ++p) {
          const FieldPair product = a[static_cast<size_t>(i / s.n * s.k + p)] *
                                    b[static_cast<size_t>(p * s.n + i % s.n)];
          expected[static_cast<size_t>(i)] = expected[static_cast<size_t>(i)] + product;
        }
      }
      for (const Isa widest : {Isa::kBase, Isa::kAvx2, Isa::kAvx512}) {
        for (const int threads : {1, 3}) {
          LimitIsa(widest);
          SetThreadCount(threads);
          std::vector<FieldPair> c(expected.size());
          MultiplyMatrices(s.m, s.n, s.k, a, b, c);
          EXPECT_TRUE(c == expected) << s.m << ' ' << s.n << ' ' << s.k << ' ' << greatest;
        }
      }
      SetThreadCount(1);
    }
  }
}

}  // namespace
}  // namespace hv
