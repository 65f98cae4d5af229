#include "verify/symbolic_map.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/integers.h"

namespace hv {
namespace {

// Walks the region's digits from the outermost in. At each level the access's digits divide into
// big ones (multiples of the level's stride, they move the level's coordinate) and small ones (left
// to the inner levels); digits are split until no carry from small to big remains and the
// coordinate stays inside. What is left after the last level must be zero.
class Scanner {
 public:
  Scanner(const Region& region, size_t limit, std::vector<Overlap>* out)
      : region_(region), limit_(limit), out_(out) {
    if (region_.digits.empty()) region_.digits.push_back({1, 1});
  }

  bool Run(const Region& access) {
    State state;
    state.x = access.base - region_.base;
    state.access_offset.assign(access.digits.size(), 0);
    state.region_offset.assign(region_.digits.size(), 0);  // one spare if it is a single element
    for (size_t k = 0; k < access.digits.size(); ++k) {
      const RegionDigit& d = access.digits[k];
      if (d.stride >= 0) {
        state.digits.push_back({d.extent, d.stride, static_cast<int>(k), 1, -1, 0});
      } else {  // run it backwards; turned round again in Emit
        state.x += d.stride * (d.extent - 1);
        state.access_offset[k] = d.extent - 1;
        state.digits.push_back({d.extent, -d.stride, static_cast<int>(k), -1, -1, 0});
      }
    }
    Scan(std::move(state), 0);
    return !overflow_;
  }

 private:
  struct Digit {
    int64_t extent, stride;  // stride: what it still moves in x
    int row;                 // access digit it comes from
    int64_t step;
    int level;  // region digit it moves, or -1
    int64_t coefficient;
  };
  struct State {
    int64_t x = 0;  // offset inside the region when all digits are 0, outer levels taken off
    std::vector<Digit> digits;
    std::vector<int64_t> access_offset, region_offset;
  };

  // Limits digit k to [first, first + count).
  static State Slice(const State& state, size_t k, int64_t first, int64_t count) {
    State s = state;
    Digit& d = s.digits[k];
    s.x += d.stride * first;
    s.access_offset[static_cast<size_t>(d.row)] += d.step * first;
    if (d.level >= 0) s.region_offset[static_cast<size_t>(d.level)] += d.coefficient * first;
    d.extent = count;
    if (count == 1) s.digits.erase(s.digits.begin() + static_cast<std::ptrdiff_t>(k));
    return s;
  }

  void Scan(State state, size_t level) {
    if (overflow_) return;
    if (level == region_.digits.size()) return Finish(std::move(state));
    const int64_t stride = region_.digits[level].stride;
    int64_t reach = 0;
    for (const Digit& d : state.digits) {
      if (d.stride % stride != 0) reach += d.stride * (d.extent - 1);
    }
    const int64_t q = FloorDiv(state.x, stride);
    if (q == FloorDiv(state.x + reach, stride)) {
      Confine(std::move(state), level, q);
    } else {
      SplitSmall(state, level, reach);
    }
  }

  // Splits the small digit of largest stride where its carries into the level happen.
  void SplitSmall(const State& state, size_t level, int64_t reach) {
    const int64_t stride = region_.digits[level].stride;
    size_t k = state.digits.size();
    for (size_t i = 0; i < state.digits.size(); ++i) {
      const Digit& d = state.digits[i];
      if (d.stride % stride == 0) continue;
      if (k == state.digits.size() || d.stride > state.digits[k].stride) k = i;
    }
    const Digit digit = state.digits[k];
    const int64_t others = reach - digit.stride * (digit.extent - 1);
    const int64_t phase = state.x - FloorDiv(state.x, stride) * stride;
    const int64_t room = stride - phase - others;
    const int64_t clean = room > 0 ? CeilDiv(room, digit.stride) : 0;  // values before the carry
    const int64_t period = stride / std::gcd(stride, digit.stride);
    if (digit.extent > period && (clean == 0 || clean >= period)) {
      const int64_t blocks = digit.extent / period;
      State middle = Slice(state, k, 0, blocks * period);
      Digit& inner = middle.digits[k];
      Digit outer = inner;
      inner.extent = period;
      outer.extent = blocks;
      outer.stride *= period;
      outer.step *= period;
      if (blocks > 1)
        middle.digits.insert(middle.digits.begin() + static_cast<std::ptrdiff_t>(k), outer);
      Scan(std::move(middle), level);
      const int64_t tail = digit.extent - blocks * period;
      if (tail > 0) Scan(Slice(state, k, blocks * period, tail), level);
      return;
    }
    const int64_t cut = std::max<int64_t>(clean, 1);
    Scan(Slice(state, k, 0, cut), level);
    Scan(Slice(state, k, cut, digit.extent - cut), level);
  }

  // The big digits move the level's coordinate from q on: keep the part inside [0, extent).
  void Confine(State state, size_t level, int64_t q) {
    if (overflow_) return;
    const RegionDigit& target = region_.digits[level];
    int64_t highest = q;
    size_t largest = state.digits.size();
    for (size_t i = 0; i < state.digits.size(); ++i) {
      const Digit& d = state.digits[i];
      if (d.stride == 0 || d.stride % target.stride != 0) continue;
      highest += d.stride / target.stride * (d.extent - 1);
      if (largest == state.digits.size() || d.stride > state.digits[largest].stride) largest = i;
    }
    if (highest < 0 || q >= target.extent) return;
    if (q >= 0 && highest < target.extent) {
      state.region_offset[level] = q;
      state.x -= q * target.stride;
      for (Digit& d : state.digits) {
        if (d.stride == 0 || d.stride % target.stride != 0) continue;
        d.level = static_cast<int>(level);
        d.coefficient = d.stride / target.stride;
        d.stride = 0;
      }
      return Scan(std::move(state), level + 1);
    }
    const Digit digit = state.digits[largest];
    const int64_t a = digit.stride / target.stride;
    const int64_t others = highest - q - a * (digit.extent - 1);
    const int64_t last = digit.extent - 1;
    const int64_t touch0 = std::max<int64_t>(0, CeilDiv(-q - others, a));
    const int64_t touch1 = std::min(last, FloorDiv(target.extent - 1 - q, a));
    const int64_t inside0 = std::max(touch0, CeilDiv(-q, a));
    const int64_t inside1 = std::min(touch1, FloorDiv(target.extent - 1 - others - q, a));
    auto visit = [&](int64_t first, int64_t count) {
      Confine(Slice(state, largest, first, count), level, q + a * first);
    };
    for (int64_t i = touch0; i <= touch1 && !overflow_; ++i) {
      if (i == inside0 && inside0 <= inside1) {
        visit(inside0, inside1 - inside0 + 1);
        i = inside1;
      } else {
        visit(i, 1);
      }
    }
  }

  // 0 <= x: the only solution of x + sum(stride * i) = 0 has x = 0 and moving digits at 0.
  void Finish(State state) {
    if (state.x != 0) return;
    for (size_t k = state.digits.size(); k-- > 0;) {
      if (state.digits[k].stride != 0) state = Slice(state, k, 0, 1);
    }
    Emit(std::move(state));
  }

  void Emit(State state) {
    if (out_->size() >= limit_) {
      overflow_ = true;
      return;
    }
    Overlap overlap;
    for (const Digit& d : state.digits) {
      const bool backwards = d.step < 0;
      const int64_t turn = backwards ? d.extent - 1 : 0;
      state.access_offset[static_cast<size_t>(d.row)] += d.step * turn;
      overlap.access.columns.push_back({d.extent, d.row, backwards ? -d.step : d.step});
      if (d.level >= 0) state.region_offset[static_cast<size_t>(d.level)] += d.coefficient * turn;
      overlap.region.columns.push_back(
          {d.extent, d.level, backwards ? -d.coefficient : d.coefficient});
    }
    overlap.access.offset = std::move(state.access_offset);
    overlap.region.offset = std::move(state.region_offset);
    if (region_.digits[0].extent == 1) overlap.region.offset.clear();
    out_->push_back(std::move(overlap));
  }

  Region region_;
  const size_t limit_;
  std::vector<Overlap>* out_;
  bool overflow_ = false;
};

}  // namespace

int64_t Region::count() const {
  int64_t n = 1;
  for (const RegionDigit& d : digits) n *= d.extent;
  return n;
}

int64_t Region::lowest() const {
  int64_t offset = base;
  for (const RegionDigit& d : digits) offset += std::min<int64_t>(0, d.stride * (d.extent - 1));
  return offset;
}

int64_t Region::highest() const {
  int64_t offset = base;
  for (const RegionDigit& d : digits) offset += std::max<int64_t>(0, d.stride * (d.extent - 1));
  return offset;
}

DigitMap DigitMap::Identity(std::span<const RegionDigit> digits) {
  DigitMap map;
  map.offset.assign(digits.size(), 0);
  for (size_t k = 0; k < digits.size(); ++k) {
    map.columns.push_back({digits[k].extent, static_cast<int>(k), 1});
  }
  return map;
}

bool Intersect(const Region& access, const Region& region, size_t limit,
               std::vector<Overlap>* out) {
  if (access == region && out->size() < limit) {  // regions have no extents of 1
    const DigitMap identity = DigitMap::Identity(region.digits);
    out->push_back({identity, identity});
    return true;
  }
  if (access.highest() < region.base || access.lowest() > region.highest()) return true;
  Region trimmed = access;
  for (RegionDigit& d : trimmed.digits) {
    if (d.extent == 1) d.stride = 0;
  }
  const bool has_unit = std::any_of(trimmed.digits.begin(), trimmed.digits.end(),
                                    [](const RegionDigit& d) { return d.extent == 1; });
  const size_t first = out->size();
  const bool complete = Scanner(region, limit, out).Run(trimmed);
  if (has_unit) {  // a digit of one value has no column
    for (size_t i = first; i < out->size(); ++i) {
      Overlap& o = (*out)[i];
      for (size_t c = o.access.columns.size(); c-- > 0;) {
        if (o.access.columns[c].extent > 1) continue;
        o.access.columns.erase(o.access.columns.begin() + static_cast<std::ptrdiff_t>(c));
        o.region.columns.erase(o.region.columns.begin() + static_cast<std::ptrdiff_t>(c));
      }
    }
  }
  return complete;
}

Region Restrict(const Region& region, const DigitMap& map) {
  Region result;
  result.base = region.base;
  for (size_t r = 0; r < region.digits.size(); ++r) {
    result.base += region.digits[r].stride * map.offset[r];
  }
  for (const DigitMap::Column& c : map.columns) {
    const int64_t stride =
        c.row < 0 ? 0 : region.digits[static_cast<size_t>(c.row)].stride * c.step;
    result.digits.push_back({c.extent, stride});
  }
  return result;
}

}  // namespace hv
