#include "sim/split_reduction.h"

#include <gmock/gmock.h>

#include "hlo/parser.h"

namespace hv {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// An all-reduce of one operand of the shape `text`.
class SplitReductionTest : public ::testing::Test {
 protected:
  std::optional<SplitReduction> Split(const std::string& text, int64_t ranks) {
    module_ = *ParseModule("<test>", "HloModule m\nENTRY e { ROOT x = " + text + " parameter(0) }");
    collective_.opcode = opcode_;
    collective_.operands = {module_->Entry().At(0).shape};
    std::vector<Rank> numbers;
    for (int64_t r = 0; r < ranks; ++r) numbers.push_back(Rank(3 * r));
    return SplitReduction::Of(collective_, numbers);
  }

  Opcode opcode_ = Opcode::kAllReduce;
  std::optional<Module> module_;
  Collective collective_;
};

TEST_F(SplitReductionTest, SlicesTheOutermostDimensionThatGivesAllSomething) {
  const auto split = Split("f32[1,3,7,1000]", 5);
  ASSERT_TRUE(split);
  EXPECT_THAT(split->SliceOf(1, 0).starts, ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(split->SliceOf(1, 0).sizes, ElementsAre(1, 3, 1, 1000));
}

TEST_F(SplitReductionTest, SlicesHoldEveryElementOnce) {
  const auto split = Split("f64[11,1000]", 4);
  ASSERT_TRUE(split);
  std::vector<int> rows(11);
  for (size_t n = 0; n < 4; ++n) {
    const Part slice = split->SliceOf(n, 0);
    EXPECT_EQ(slice.at, slice.starts);
    for (int64_t r = 0; r < slice.sizes[0]; ++r) ++rows[static_cast<size_t>(slice.starts[0] + r)];
  }
  EXPECT_THAT(rows, Each(1));
}

TEST_F(SplitReductionTest, LeavesAloneWhatDoesNotPay) {
  EXPECT_FALSE(Split("f32[1000]", 4));  // small
  EXPECT_FALSE(Split("f32[2,3,3000]", 1));
  EXPECT_FALSE(Split("f32[100,100,2]", 101));
  opcode_ = Opcode::kReduceScatter;  // shares are slices already
  EXPECT_FALSE(Split("f32[8,10000]", 4));
}

}  // namespace
}  // namespace hv
