// Nests of regular moves, and groups as digits.
#include "verify/device_digits.h"

#include <gtest/gtest.h>

#include <map>

#include "base/philox.h"

namespace hv {
namespace {

// All moves of the pieces, by target.
std::map<int64_t, int64_t> MovesOf(const Pieces& pieces) {
  std::map<int64_t, int64_t> moves;
  for (const Piece& piece : pieces) {
    std::vector<BlockMove> all = {{piece.in_base, piece.out_base}};
    for (const Digit& d : piece.digits) {
      std::vector<BlockMove> more;
      for (const BlockMove& m : all) {
        for (int64_t i = 0; i < d.extent; ++i) {
          more.push_back({m.in + i * d.in_stride, m.out + i * d.out_stride});
        }
      }
      all = std::move(more);
    }
    for (const BlockMove& m : all) EXPECT_TRUE(moves.emplace(m.out, m.in).second);
  }
  return moves;
}

TEST(DeviceDigits, EveryListComesBack) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const CounterRng rng(seed, 0);
    const int64_t count = 1 + static_cast<int64_t>(rng.Word(0) % 24);
    const uint64_t period = 1 + rng.Word(1) % 8, spread = 1 + rng.Word(2) % 5;
    std::vector<BlockMove> moves;
    std::map<int64_t, int64_t> want;
    for (int64_t i = 0; i < count; ++i) {
      const auto u = static_cast<uint64_t>(i);
      const auto in = static_cast<int64_t>(u % period * spread +
                                           (rng.Word(3) % 3 == 0 ? rng.Word(u + 4) % 3 : 0));
      moves.push_back({in, i * 7});
      want[i * 7] = in;
    }
    EXPECT_EQ(MovesOf(FactorMoves(moves)), want) << seed;
  }
}

TEST(DeviceDigits, RegularListsAreFewNests) {
  std::vector<BlockMove> ring;  // a shift by one inside of groups of eight
  for (int64_t d = 0; d < 4096; ++d) ring.push_back({d / 8 * 8 + (d + 7) % 8, d});
  EXPECT_LE(FactorMoves(ring).size(), 2u);
}

Grouping Groups(std::vector<std::vector<int64_t>> groups) {
  Grouping grouping;
  size_t devices = 0;
  for (const auto& group : groups) {
    std::vector<DeviceId>& ids = grouping.groups.emplace_back();
    for (const int64_t d : group) ids.push_back(DeviceId(d));
    devices += group.size();
  }
  grouping.group_of.assign(devices, 0);
  return grouping;
}

TEST(DeviceDigits, OnlyRegularGroupsHaveDigits) {
  const auto strided = DigitsOf(Groups({{0, 2, 4, 6}, {1, 3, 5, 7}}));
  ASSERT_TRUE(strided.has_value());
  EXPECT_EQ(strided->members, 4);
  ASSERT_EQ(strided->member.size(), 1u);
  EXPECT_EQ(strided->member[0].stride, 2);
  const auto turned = DigitsOf(Groups({{0, 4, 1, 5}, {2, 6, 3, 7}}));
  ASSERT_TRUE(turned.has_value());
  ASSERT_EQ(turned->member.size(), 2u);
  EXPECT_EQ(turned->member[0].stride, 1);
  EXPECT_EQ(turned->member[0].weight, 2);
  EXPECT_EQ(turned->member[1].stride, 4);
  EXPECT_FALSE(DigitsOf(Groups({{0, 1}, {3, 2}})).has_value());
  EXPECT_FALSE(DigitsOf(Groups({{3, 2, 1, 0}})).has_value());
  EXPECT_FALSE(DigitsOf(Groups({{0, 1, 2}, {3}})).has_value());
  EXPECT_FALSE(DigitsOf(Groups({{0, 3, 1, 2}})).has_value());
}

}  // namespace
}  // namespace hv
