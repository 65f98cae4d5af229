// The block copy against a loop over single elements, on random digit nests of every element width.
#include "eval/move.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/parallel.h"
#include "eval/odometer.h"
#include "eval/stream_copy.h"

namespace hv {
namespace {

struct RandomPiece {
  Piece piece;
  int64_t in_size = 1, out_size = 1;
};

// Out strides are those of a dense result, in a random order of digits; in strides are positive,
// negative or zero.
RandomPiece MakePiece(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  RandomPiece r;
  const int64_t rank = pick(0, 4);
  std::vector<int64_t> extents;
  for (int64_t d = 0; d < rank; ++d) extents.push_back(pick(0, 9) == 0 ? pick(33, 70) : pick(2, 6));
  std::vector<int64_t> in_strides(extents.size());
  std::vector<size_t> order(extents.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::shuffle(order.begin(), order.end(), random);
  for (const size_t d : order) {
    const int64_t kind = pick(0, 9);
    in_strides[d] = kind == 0 ? 0 : kind == 1 ? -r.in_size : r.in_size;
    if (kind == 1) r.piece.in_base += r.in_size * (extents[d] - 1);
    if (kind != 0) r.in_size *= extents[d];
  }
  for (size_t d = extents.size(); d-- > 0;) {
    r.piece.digits.insert(r.piece.digits.begin(), {extents[d], in_strides[d], r.out_size});
    r.out_size *= extents[d] + (pick(0, 3) == 0 ? 1 : 0);  // gaps now and then
  }
  Normalize(&r.piece);
  return r;
}

TEST(Move, CopiesLikeTheElementLoop) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 400; ++trial) {
    const RandomPiece r = MakePiece(random);
    for (const int width : {1, 2, 4, 8, 16}) {
      const auto w = static_cast<size_t>(width);
      std::vector<std::byte> in(static_cast<size_t>(r.in_size) * w);
      for (std::byte& b : in) b = static_cast<std::byte>(random());
      std::vector<std::byte> expected(static_cast<size_t>(r.out_size) * w, std::byte{0xEE});
      std::vector<std::byte> got = expected;
      Odometer digits(r.piece.digits);
      do {
        std::memcpy(&expected[static_cast<size_t>(r.piece.out_base + digits.out()) * w],
                    &in[static_cast<size_t>(r.piece.in_base + digits.in()) * w], w);
      } while (digits.Next());
      CopyPiece(r.piece, in.data(), got.data(), width);
      ASSERT_EQ(got, expected) << "trial " << trial << " width " << width;
    }
  }
}

TEST(Move, IdentitySharesStorage) {
  ShapeTable shapes;
  Value x = Value::NewNative(shapes.Array(ElementType::kS32, {2, 3}));
  Piece all;
  all.digits = {{6, 1, 1}};
  const Value y = MovePieces(shapes.Array(ElementType::kS32, {6}), {all}, {x});
  EXPECT_TRUE(y.SharesStorage(x));
  EXPECT_EQ(y.shape()->rank(), 1);
}

TEST(Move, OverwritesInPlaceOnlyAUniqueOperand) {
  ShapeTable shapes;
  const Shape* four = shapes.Array(ElementType::kS32, {4});
  Piece all, last;
  all.digits = {{4, 1, 1}};
  last.operand = 1;
  last.out_base = 3;
  for (const bool unique : {true, false}) {
    Value x = Value::NewNative(four), u = Value::NewNative(shapes.Array(ElementType::kS32, {1}));
    for (int32_t& v : x.MutableAs<int32_t>()) v = 1;
    u.MutableAs<int32_t>()[0] = 5;
    const std::byte* storage = x.bytes().data();
    const Value held = unique ? Value() : x;
    std::vector<Value> operands;
    operands.push_back(std::move(x));
    operands.push_back(u);
    const Value y = MovePieces(four, {all, last}, std::move(operands));
    EXPECT_EQ(y.bytes().data() == storage, unique);
    EXPECT_EQ(y.As<int32_t>()[0], 1);
    EXPECT_EQ(y.As<int32_t>()[3], 5);
    if (!unique) {
      EXPECT_EQ(held.As<int32_t>()[3], 1);
    }
  }
}

TEST(Move, ZerosOfAnyType) {
  ShapeTable shapes;
  Piece zeros;
  zeros.operand = Piece::kZeros;
  zeros.digits = {{3, 0, 1}};
  const Value y = MovePieces(shapes.Array(ElementType::kC128, {3}), {zeros}, std::vector<Value>());
  for (const std::byte b : y.bytes()) EXPECT_EQ(b, std::byte{0});
}

TEST(MemoryUse, CountsLiveAndPeakBytes) {
  ShapeTable shapes;
  const int64_t before = ProcessMemoryUse().live_bytes;
  {
    const Value x = Value::NewNative(shapes.Array(ElementType::kF64, {1000}));
    EXPECT_EQ(ProcessMemoryUse().live_bytes, before + 8000);
  }
  EXPECT_EQ(ProcessMemoryUse().live_bytes, before);
  EXPECT_GE(ProcessMemoryUse().peak_bytes, before + 8000);
}

// More than caches hold, in rows that are no whole lines.
TEST(Move, TransposesPastTheCaches) {
  constexpr int64_t kRows = 2051, kColumns = 4111;
  ShapeTable shapes;
  Value x = Value::NewNative(shapes.Array(ElementType::kS32, {kRows, kColumns}));
  int32_t n = 0;
  for (int32_t& v : x.MutableAs<int32_t>()) v = n++;
  Piece piece;
  piece.digits = {{kColumns, 1, kRows}, {kRows, kColumns, 1}};
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    const Value y =
        MovePieces(shapes.Array(ElementType::kS32, {kColumns, kRows}), {piece}, std::vector{x});
    int64_t wrong = 0, i = 0;
    for (const int32_t v : y.As<int32_t>()) {
      wrong += v != i % kRows * kColumns + i / kRows;
      ++i;
    }
    EXPECT_EQ(wrong, 0);
  }
  SetThreadCount(1);
}

TEST(StreamCopy, CopiesSpansOfAnyAlignmentAndLength) {
  std::vector<std::byte> from(400), to(400);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (const size_t start : {0, 1, 15, 63}) {
    for (const size_t bytes : {0, 1, 63, 64, 65, 130, 300}) {
      std::fill(to.begin(), to.end(), std::byte{0});
      StreamCopy(from.data() + start / 2, to.data() + start, bytes);
      for (size_t i = 0; i < to.size(); ++i) {
        const bool copied = i >= start && i < start + bytes;
        ASSERT_EQ(to[i], copied ? from[i - start + start / 2] : std::byte{0}) << start << ' ' << i;
      }
    }
  }
}

}  // namespace
}  // namespace hv
