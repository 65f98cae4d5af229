// Two movements as one against one after the other, element by element, on random boxes of permuted,
// reversed and repeated dimensions; and which pairs have no such form.
#include "hlo/view_compose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace hv {
namespace {

using Numbers = std::vector<int64_t>;

int64_t CountOf(const Piece& piece) {
  int64_t count = 1;
  for (const Digit& d : piece.digits) count *= d.extent;
  return count;
}

void Apply(const Piece& piece, size_t digit, int64_t in, int64_t out, const Numbers& from,
           Numbers* to) {
  if (digit == piece.digits.size()) {
    (*to)[static_cast<size_t>(out)] = from[static_cast<size_t>(in)];
    return;
  }
  const Digit& d = piece.digits[digit];
  for (int64_t i = 0; i < d.extent; ++i) {
    Apply(piece, digit + 1, in + i * d.in_stride, out + i * d.out_stride, from, to);
  }
}
Numbers Moved(const Piece& piece, const Numbers& from) {
  Numbers to(static_cast<size_t>(CountOf(piece)), -1);
  Apply(piece, 0, piece.in_base, piece.out_base, from, &to);
  return to;
}

class RandomPieces {
 public:
  explicit RandomPieces(uint32_t seed) : random_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }

  // Some way to see `count` elements as an array.
  Numbers DimsOf(int64_t count) {
    Numbers dims;
    while (count > 1 && dims.size() < 4) {
      int64_t dim = 1 + Below(count);
      while (count % dim != 0) --dim;
      if (dim > 1) dims.push_back(dim);
      count /= dim;
    }
    dims.push_back(count);
    return dims;
  }

  // A box of an array of `dims`, some dimensions reversed, all permuted, perhaps repeated.
  Piece BoxOf(const Numbers& dims) {
    const Numbers strides = RowMajorStrides(dims);
    Piece piece;
    std::vector<Digit>& digits = piece.digits;
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t step = 1 + Below(2), start = Below(dims[d]);
      const int64_t size = 1 + Below((dims[d] - start + step - 1) / step);
      const bool reversed = Below(3) == 0;
      piece.in_base += (start + (reversed ? (size - 1) * step : 0)) * strides[d];
      digits.push_back({size, (reversed ? -step : step) * strides[d], 0});
    }
    if (Below(3) == 0) digits.push_back({2, 0, 0});
    std::shuffle(digits.begin(), digits.end(), random_);
    int64_t stride = 1;
    for (size_t d = digits.size(); d-- > 0;) {
      digits[d].out_stride = stride;
      stride *= digits[d].extent;
    }
    Normalize(&piece);
    return piece;
  }

 private:
  std::mt19937 random_;
};

TEST(Compose, IsOneMovementAfterTheOther) {
  RandomPieces random(3);
  int composed = 0;
  for (int round = 0; round < 4000; ++round) {
    Numbers from(static_cast<size_t>(1 + random.Below(60)));
    std::iota(from.begin(), from.end(), 100);
    const Piece inner = random.BoxOf(random.DimsOf(std::ssize(from)));
    const Numbers between = Moved(inner, from);
    const Piece outer = random.BoxOf(random.DimsOf(std::ssize(between)));
    const std::optional<Piece> both = Compose(outer, inner);
    if (!both) continue;
    ++composed;
    EXPECT_EQ(Moved(*both, from), Moved(outer, between)) << round;
  }
  EXPECT_GT(composed, 2000);
}

// x[4,4] transposed, then read as 8 x 2.
TEST(Compose, ReadsThroughAReshape) {
  const Piece transpose{0, 0, 0, {{4, 1, 4}, {4, 4, 1}}};
  const Piece columns{0, 0, 0, {{2, 1, 8}, {8, 2, 1}}};
  const std::optional<Piece> both = Compose(columns, transpose);
  ASSERT_TRUE(both.has_value());
  Numbers from(16);
  std::iota(from.begin(), from.end(), 0);
  EXPECT_EQ(Moved(*both, from), Moved(columns, Moved(transpose, from)));
}

TEST(Compose, SaysWhereThereIsNoSuchPiece) {
  const Piece transpose{0, 0, 0, {{4, 1, 3}, {3, 4, 1}}};  // of x[3,4]
  EXPECT_FALSE(Compose({0, 1, 0, {{2, 1, 1}}}, {0, 0, 1, {{4, 1, 1}}}));  // not all of its result
  EXPECT_FALSE(Compose({0, 1, 0, {{5, 1, 1}}}, transpose));  // from within a row into the next
  EXPECT_FALSE(Compose({0, 0, 0, {{6, 2, 1}}}, transpose));  // two apart in rows of three
  EXPECT_FALSE(Compose({0, 0, 0, {{3, 1, 1}}}, {Piece::kZeros, 0, 0, {{3, 0, 1}}}));
  EXPECT_TRUE(Compose({0, 1, 0, {{2, 1, 1}}}, transpose));
}

}  // namespace
}  // namespace hv
