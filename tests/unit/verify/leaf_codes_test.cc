#include "verify/leaf_codes.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace hv {
namespace {

TEST(LeafCodes, AreDistinctAndInRange) {
  const CodePermutation codes(1, 0);
  std::set<uint64_t> seen;
  for (uint64_t id = 0; id < 100000; ++id) {
    const uint64_t code = codes(id);
    EXPECT_GE(code, 2u);
    EXPECT_LT(code, (uint64_t{1} << 61) - 31);
    EXPECT_TRUE(seen.insert(code).second) << id;
  }
  EXPECT_TRUE(seen.insert(codes(CodePermutation::kMaxId - 1)).second);
}

TEST(LeafCodes, DependOnSeedAndStream) {
  EXPECT_NE(CodePermutation(1, 0)(5), CodePermutation(2, 0)(5));
  EXPECT_NE(CodePermutation(1, 0)(5), CodePermutation(1, 1)(5));
  EXPECT_EQ(CodePermutation(1, 0)(5), CodePermutation(1, 0)(5));
}

TEST(LeafCodes, NeighboursDifferInAboutHalfTheBits) {
  const CodePermutation codes(3, 0);
  int bits = 0;
  for (uint64_t id = 0; id < 1000; ++id) bits += std::popcount(codes(id) ^ codes(id + 1));
  EXPECT_NEAR(bits / 1000.0, 30.5, 1.0);
}

}  // namespace
}  // namespace hv
