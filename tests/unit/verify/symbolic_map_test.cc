// Intersections of accesses with regions against enumeration of all elements.
#include "verify/symbolic_map.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/philox.h"

namespace hv {
namespace {

class Random {
 public:
  explicit Random(uint64_t stream) : rng_(17, stream) {}
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(rng_.Word(next_++) % static_cast<uint64_t>(n));
  }
  int64_t In(int64_t low, int64_t high) { return low + Below(high - low + 1); }

 private:
  CounterRng rng_;
  uint64_t next_ = 0;
};

// All points of a domain, as digit vectors in row-major order.
std::vector<std::vector<int64_t>> Points(const std::vector<int64_t>& extents) {
  std::vector<std::vector<int64_t>> points = {{}};
  for (int64_t e : extents) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& p : points) {
      for (int64_t i = 0; i < e; ++i) {
        longer.push_back(p);
        longer.back().push_back(i);
      }
    }
    points = std::move(longer);
  }
  return points;
}

int64_t OffsetAt(const Region& region, const std::vector<int64_t>& point) {
  int64_t offset = region.base;
  for (size_t k = 0; k < point.size(); ++k) offset += region.digits[k].stride * point[k];
  return offset;
}

std::vector<int64_t> ExtentsOf(const Region& region) {
  std::vector<int64_t> extents;
  for (const RegionDigit& d : region.digits) extents.push_back(d.extent);
  return extents;
}

std::vector<int64_t> Map(const DigitMap& map, const std::vector<int64_t>& point) {
  std::vector<int64_t> old = map.offset;
  for (size_t c = 0; c < map.columns.size(); ++c) {
    if (map.columns[c].row >= 0) {
      old[static_cast<size_t>(map.columns[c].row)] += map.columns[c].step * point[c];
    }
  }
  return old;
}

// A region with strides that nest, perhaps with gaps.
Region RandomRegion(Random* random) {
  Region region;
  int64_t stride = random->In(1, 2);
  for (int64_t d = random->Below(4); d > 0; --d) {
    const int64_t extent = random->In(2, 4);
    region.digits.insert(region.digits.begin(), {extent, stride});
    stride = stride * extent + random->Below(3) * random->Below(2);
  }
  region.base = random->Below(12);
  return region;
}

Region RandomAccess(Random* random, bool nested) {
  Region access = RandomRegion(random);
  if (!nested) {
    for (RegionDigit& d : access.digits) d = {random->In(1, 5), random->In(-7, 9)};
    access.base = random->Below(30);
  } else if (random->Below(3) == 0 && !access.digits.empty()) {
    access.digits[0].stride = 0;
  }
  return access;
}

void Check(const Region& access, const Region& region) {
  std::map<int64_t, std::vector<int64_t>> inside;  // offset -> digits of the region
  for (const auto& p : Points(ExtentsOf(region))) inside[OffsetAt(region, p)] = p;
  std::vector<Overlap> overlaps;
  ASSERT_TRUE(Intersect(access, region, 100000, &overlaps));
  std::set<std::vector<int64_t>> seen;
  for (const Overlap& o : overlaps) {
    ASSERT_EQ(o.access.columns.size(), o.region.columns.size());
    std::vector<int64_t> extents;
    for (const DigitMap::Column& c : o.access.columns) {
      EXPECT_GT(c.extent, 1);
      EXPECT_GE(c.step, 1);
      extents.push_back(c.extent);
    }
    for (const auto& point : Points(extents)) {
      const std::vector<int64_t> at = Map(o.access, point);
      EXPECT_TRUE(seen.insert(at).second) << "overlapping parts";
      const auto found = inside.find(OffsetAt(access, at));
      ASSERT_NE(found, inside.end()) << "outside of the region";
      EXPECT_EQ(found->second, Map(o.region, point));
    }
  }
  for (const auto& point : Points(ExtentsOf(access))) {
    EXPECT_EQ(seen.count(point), inside.count(OffsetAt(access, point))) << "missing";
  }
}

TEST(SymbolicMap, IntersectionsOfNestedAccesses) {
  for (uint64_t i = 0; i < 5000; ++i) {
    Random random(i);
    Check(RandomAccess(&random, true), RandomRegion(&random));
    if (HasFailure()) FAIL() << "stream " << i;
  }
}

TEST(SymbolicMap, IntersectionsOfArbitraryAccesses) {
  for (uint64_t i = 0; i < 5000; ++i) {
    Random random(1000000 + i);
    Check(RandomAccess(&random, false), RandomRegion(&random));
    if (HasFailure()) FAIL() << "stream " << i;
  }
}

TEST(SymbolicMap, CostDoesNotDependOnTheExtents) {
  const int64_t large = int64_t{1} << 40;
  const Region access{3 * large, {{large, 8}, {8, 1}}};
  const Region region{large, {{64, large}, {large, 1}}};
  std::vector<Overlap> overlaps;
  ASSERT_TRUE(Intersect(access, region, 16, &overlaps));
  EXPECT_LE(overlaps.size(), 3u);
  int64_t covered = 0;
  for (const Overlap& o : overlaps) {
    int64_t count = 1;
    for (const DigitMap::Column& c : o.access.columns) count *= c.extent;
    covered += count;
  }
  EXPECT_EQ(covered, 8 * large);
}

TEST(SymbolicMap, GivesUpAtTheLimit) {
  const Region access{0, {{100, 3}}};
  const Region region{0, {{100, 7}, {5, 1}}};
  std::vector<Overlap> overlaps;
  EXPECT_FALSE(Intersect(access, region, 3, &overlaps));
}

}  // namespace
}  // namespace hv
