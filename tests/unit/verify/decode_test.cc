// Wrong summands read off sums of powers, and the words made of them.
#include "verify/decode.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/unit/verify/verdict_of.h"
#include "verify/leaf_codes.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLeaves = 1000;

Fp CodeOfLeaf(int64_t leaf) {
  static const LeafCodes codes(1);
  return Fp::Of(codes.Word(leaf, 0));
}

std::vector<Fp> SumsOf(const std::vector<WrongSummand>& wrong, size_t count) {
  std::vector<Fp> sums;
  for (size_t t = 0; t < count; ++t) sums.push_back(SumOf(wrong, CodeOfLeaf, t));
  return sums;
}

TEST(Decode, FindsLeavesAndMultiplicities) {
  std::mt19937 random(1);
  for (size_t count = 1; count <= 16; ++count) {
    std::vector<WrongSummand> wrong;
    int64_t leaf = WrongSummand::kConstant;
    for (size_t k = 0; k < count; ++k, leaf += 1 + static_cast<int64_t>(random() % 50)) {
      const auto excess = static_cast<int64_t>(random() % 9) - 4;
      wrong.push_back({leaf, excess == 0 ? 5 : excess});
    }
    const auto found = DecodeSums(SumsOf(wrong, 2 * count), kLeaves, CodeOfLeaf, 10);
    ASSERT_TRUE(found) << count;
    ASSERT_EQ(found->size(), wrong.size());
    for (size_t k = 0; k < count; ++k) {
      EXPECT_EQ((*found)[k].leaf, wrong[k].leaf);
      EXPECT_EQ((*found)[k].excess, wrong[k].excess);
    }
  }
}

// What comes out of too few sums is no set of leaves, and is not taken for one.
TEST(Decode, TooFewSumsTellNothing) {
  std::vector<WrongSummand> wrong;
  for (int64_t leaf = 0; leaf < 9; ++leaf) wrong.push_back({leaf * 7, 1});
  EXPECT_FALSE(DecodeSums(SumsOf(wrong, 16), kLeaves, CodeOfLeaf, 10));
  EXPECT_TRUE(DecodeSums(SumsOf(wrong, 18), kLeaves, CodeOfLeaf, 10));
}

TEST(Decode, MultiplicitiesAreBounded) {
  const std::vector<WrongSummand> wrong = {{3, 1000}};
  EXPECT_FALSE(DecodeSums(SumsOf(wrong, 8), kLeaves, CodeOfLeaf, 10));
  EXPECT_FALSE(DecodeSums(std::vector<Fp>(8), kLeaves, CodeOfLeaf, 10));  // nothing is wrong
}

constexpr char kFour[] = "num_partitions=4";
const std::string kX = "x = s32[4] parameter(0)\n";
const std::string kISum =
    "isum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }\n";

std::string Explained(const std::string& before, const std::string& after) {
  const CaseReport r =
      VerdictOf(PairOf(ModuleOf(kFour, before, kISum), ModuleOf(kFour, after, kISum)));
  EXPECT_EQ(r.verdict, Verdict::kRefuted) << r.reason;
  return r.counterexample ? r.counterexample->explanation : "";
}

std::string Sum(const std::string& groups) {
  return kX + "ROOT s = s32[4] all-reduce(x), channel_id=1, replica_groups=" + groups +
         ", use_global_device_ids=true, to_apply=isum\n";
}

TEST(Explanation, AllMissingSummandsAreNamed) {
  EXPECT_EQ(Explained(Sum("{{0,1,2,3}}"), Sum("{{0,1},{2,3}}")),
            "device 0,0 misses x[0] of devices 0,2 and 0,3");
  EXPECT_EQ(Explained(Sum("{{0,1},{2,3}}"), Sum("{{0,2},{1,3}}")),
            "device 0,0 takes x[0] of device 0,2 in place of x[0] of device 0,1");
  EXPECT_EQ(Explained(Sum("{{0,1,2},{3}}"), Sum("{{0,1},{2,3}}")),
            "device 0,0 misses the contribution of device 0,2");
}

TEST(Explanation, ClampedStartsAreNamed) {
  // Device 0,3 asks for elements 3 ... 4 of 4.
  const auto slices = [](const std::string& start) {
    return kX +
           "p = u32[] partition-id()\n c = u32[] constant(2)\n m = u32[] remainder(p, c)\n"
           "ROOT d = s32[2] dynamic-slice(x, " +
           start + "), dynamic_slice_sizes={2}\n";
  };
  EXPECT_THAT(Explained(slices("m"), slices("p")),
              HasSubstr("device 0,2 takes x[2] of device 0,2 in place of x[0] of device 0,2"));
  const std::string limited =
      kX +
      "p = u32[] partition-id()\n z = u32[] constant(0)\n three = u32[] constant(3)\n"
      "last = pred[] compare(p, three), direction=EQ\n s = u32[] select(last, z, p)\n"
      "ROOT d = s32[2] dynamic-slice(x, s), dynamic_slice_sizes={2}\n";
  EXPECT_EQ(Explained(limited, slices("p")),
            "device 0,3 takes x[2] of device 0,3 in place of x[0] of device 0,3; the start 3 of d "
            "is clamped to 2");
}

}  // namespace
}  // namespace hv
