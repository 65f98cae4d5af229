#include "verify/exact_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hv {
namespace {

TEST(ExactNumber, DoublesComeBack) {
  for (const double x : {0.0, 1.0, -1.0, 0.1, -3e300, 5e-324, 1.7976931348623157e308, 0x1p-1022}) {
    EXPECT_EQ(ExactNumber::Of(x).ToDouble(), x);
    EXPECT_EQ(ExactNumber::Of(x).Nearest(), x);
  }
  EXPECT_FALSE(std::signbit(*ExactNumber::Of(-0.0).ToDouble()));
}

TEST(ExactNumber, SumsAndProductsDoNotDependOnTheirOrder) {
  std::mt19937 bits(1);
  const auto random = [&] {
    return std::ldexp(static_cast<double>(static_cast<int32_t>(bits())) / 128,
                      static_cast<int>(bits() % 40) - 20);
  };
  for (int i = 0; i < 2000; ++i) {
    const ExactNumber a = ExactNumber::Of(random()), b = ExactNumber::Of(random()),
                      c = ExactNumber::Of(random());
    const auto sum = [](const ExactNumber& x, const ExactNumber& y) {
      return *ExactNumber::Sum(x, y);
    };
    const auto product = [](const ExactNumber& x, const ExactNumber& y) {
      return *ExactNumber::Product(x, y);
    };
    EXPECT_EQ(sum(sum(a, b), c), sum(a, sum(c, b)));
    EXPECT_EQ(product(product(a, b), c), product(b, product(c, a)));
    EXPECT_EQ(product(sum(a, b), c), sum(product(a, c), product(b, c)));
    EXPECT_EQ(sum(sum(a, b), product(b, ExactNumber::Of(-1))), a);
  }
}

TEST(ExactNumber, WhatNoDoubleIsSaysSo) {
  const ExactNumber tenth = ExactNumber::Of(0.1f), square = *ExactNumber::Product(tenth, tenth);
  EXPECT_TRUE(square.ToDouble());  // 48 bits
  const auto cube = ExactNumber::Product(square, tenth);
  ASSERT_TRUE(cube);
  EXPECT_FALSE(cube->ToDouble());
  EXPECT_NEAR(cube->Nearest(), 1e-3, 1e-9);
  EXPECT_FALSE(ExactNumber::Product(ExactNumber::Of(1e300), ExactNumber::Of(1e300))->ToDouble());
  EXPECT_FALSE(ExactNumber::Product(ExactNumber::Of(5e-324), ExactNumber::Of(0.5))->ToDouble());
}

TEST(ExactNumber, EndsAt256Bits) {
  EXPECT_TRUE(ExactNumber::Sum(ExactNumber::Of(0x1p200), ExactNumber::Of(0x1p-50)));
  EXPECT_FALSE(ExactNumber::Sum(ExactNumber::Of(0x1p300), ExactNumber::Of(0x1p-50)));
  ExactNumber x = ExactNumber::Of(0.1);
  x = *ExactNumber::Product(x, x);
  x = *ExactNumber::Product(x, x);
  EXPECT_FALSE(ExactNumber::Product(x, x));
}

}  // namespace
}  // namespace hv
