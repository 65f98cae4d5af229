// Index maps between mixed-radix domains. A domain is a list of digit extents, outermost first; a
// region is the image of such a domain in the flat row-major offsets of a tensor. Nothing here
// depends on how many elements there are, only on how many digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hv {

struct RegionDigit {
  int64_t extent = 1;
  int64_t stride = 1;
  friend bool operator==(const RegionDigit&, const RegionDigit&) = default;
};

// The offsets base + sum(i_k * stride_k). As the region of a piece: extents > 1, strides positive
// and descending, each larger than what the inner digits reach, so that an offset has one set of
// digits. As an access: extents > 0, strides of any sign or 0.
struct Region {
  int64_t base = 0;
  std::vector<RegionDigit> digits;

  int64_t count() const;
  int64_t lowest() const;   // smallest offset
  int64_t highest() const;  // largest offset
  friend bool operator==(const Region&, const Region&) = default;
};

// Sends a point of a new domain to a point of an old one: old digit r is
// offset[r] + sum of step * i over the columns with row r. A column with row -1 moves nothing.
struct DigitMap {
  struct Column {
    int64_t extent = 1;
    int row = -1;
    int64_t step = 0;
    friend bool operator==(const Column&, const Column&) = default;
  };
  std::vector<int64_t> offset;  // per old digit
  std::vector<Column> columns;  // the new domain
  friend bool operator==(const DigitMap&, const DigitMap&) = default;

  static DigitMap Identity(std::span<const RegionDigit> digits);
};

// A part of an access that falls into a region: the same new domain seen from both.
struct Overlap {
  DigitMap access;  // old digits: the access's
  DigitMap region;  // old digits: the region's
};

// Appends the parts of `access` whose offsets lie in `region`: disjoint boxes of the access's
// domain, digits split where needed, extents > 1, steps into the access positive. Returns false
// (and stops) when `out` would exceed `limit` parts.
bool Intersect(const Region& access, const Region& region, size_t limit, std::vector<Overlap>* out);

// The offsets of `region` restricted by `map` (old digits: the region's).
Region Restrict(const Region& region, const DigitMap& map);

}  // namespace hv
