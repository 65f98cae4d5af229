#include "sim/loans.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "hlo/shape.h"

namespace hv {
namespace {

// A lender and a borrower of one process.
class LoansTest : public ::testing::Test {
 protected:
  LoansTest() { SetBorrowWatch(&borrower_); }
  ~LoansTest() override { SetBorrowWatch(nullptr); }

  Value NewValue() {
    Value value = Value::NewNative(shape_);
    std::memset(value.MutableBytes().data(), 1, value.bytes().size());
    return value;
  }
  Value Take(int32_t loan, const Value& value) {
    return borrower_.Take(header_.get(), loan, shape_, value.bytes());
  }

  ShapeTable shapes_;
  const Shape* shape_ = shapes_.Array(ElementType::kF32, {2048});
  std::unique_ptr<RankHeader> header_ = std::make_unique<RankHeader>();
  std::unique_ptr<RankHeader> other_header_ = std::make_unique<RankHeader>();
  Loans lender_{header_.get()};
  Loans borrower_{other_header_.get()};
};

TEST_F(LoansTest, EndWithTheLastHandle) {
  Value value = NewValue();
  const int32_t loan = lender_.Lend(value, 1);
  ASSERT_GE(loan, 0);
  Value taken = Take(loan, value);
  EXPECT_TRUE(SameBits(taken, value));
  EXPECT_FALSE(taken.IsUnique());
  Value other_handle = taken;
  taken = {};
  lender_.Collect();
  EXPECT_FALSE(value.IsUnique());
  other_handle = {};
  lender_.Collect();
  EXPECT_TRUE(value.IsUnique());
}

TEST_F(LoansTest, EndAfterTheirViews) {
  Value value = NewValue();
  const int32_t loan = lender_.Lend(value, 1);
  Value taken = Take(loan, value);
  Value view = Value::Borrowed(shape_, Encoding::kNative, 4, taken.bytes());
  taken = {};
  lender_.Collect();
  EXPECT_FALSE(value.IsUnique());
  view = {};
  lender_.Collect();
  EXPECT_TRUE(value.IsUnique());
}

TEST_F(LoansTest, WaitForAllWhoHaveOne) {
  Value value = NewValue();
  const int32_t loan = lender_.Lend(value, 2);
  Take(loan, value);
  lender_.Collect();
  EXPECT_FALSE(value.IsUnique());
  Take(loan, value);
  lender_.Collect();
  EXPECT_TRUE(value.IsUnique());
}

TEST_F(LoansTest, CanBeCancelled) {
  Value value = NewValue();
  lender_.Cancel(lender_.Lend(value, 3));
  EXPECT_TRUE(value.IsUnique());
}

TEST_F(LoansTest, AreSoManyAtATime) {
  Value value = NewValue();
  int32_t last = -1;
  for (size_t n = 0; n < RankHeader::kMostLoans; ++n) last = lender_.Lend(value, 1);
  EXPECT_GE(last, 0);
  EXPECT_EQ(lender_.Lend(value, 1), -1);
  lender_.Cancel(last);
  EXPECT_EQ(lender_.Lend(value, 1), last);
}

TEST_F(LoansTest, CareForNothingElse) {
  Value value = NewValue();
  const Value view = Value::Borrowed(shape_, Encoding::kNative, 4, value.bytes());
  EXPECT_TRUE(value.IsUnique());
}

}  // namespace
}  // namespace hv
