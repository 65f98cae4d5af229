// Element numbers of the value in between have two mixed-radix forms: the digits that `inner` writes
// and those that `outer` reads. Each of outer's digits becomes steps of one or more of inner's; as
// long as no sum of steps carries from one of inner's digits into the next, the map stays linear.
#include "hlo/view_compose.h"

#include <cstdlib>

namespace hv {
namespace {

class Composer {
 public:
  explicit Composer(const Piece& inner) : inner_(inner), ranges_(inner.digits.size()) {}

  std::optional<Piece> Run(const Piece& outer) {
    if (inner_.operand == Piece::kZeros || !FillsAll()) return std::nullopt;
    result_ = {inner_.operand, inner_.in_base, outer.out_base, {}};
    int64_t rest = outer.in_base;
    for (size_t j = 0; j < ranges_.size(); ++j) {
      const Digit& d = inner_.digits[j];
      ranges_[j] = {rest / d.out_stride, rest / d.out_stride};
      rest %= d.out_stride;
      result_.in_base += ranges_[j].low * d.in_stride;
    }
    for (const Digit& digit : outer.digits) {
      if (!Add(digit)) return std::nullopt;
    }
    Normalize(&result_);
    return std::move(result_);
  }

 private:
  struct Range {
    int64_t low, high;  // of an inner digit, over all digits added so far
  };

  // Does each digit go on where the next one ends, down to single elements?
  bool FillsAll() const {
    int64_t stride = 1;
    for (size_t j = inner_.digits.size(); j-- > 0;) {
      if (inner_.digits[j].out_stride != stride) return false;
      stride *= inner_.digits[j].extent;
    }
    return inner_.out_base == 0;
  }

  // Splits the digit where it passes the end of one of inner's.
  bool Add(Digit digit) {
    if (digit.in_stride == 0) {
      result_.digits.push_back(digit);
      return true;
    }
    const int64_t distance = std::abs(digit.in_stride), sign = digit.in_stride < 0 ? -1 : 1;
    size_t j = 0;
    while (j < ranges_.size() && inner_.digits[j].out_stride > distance) ++j;
    if (j == ranges_.size() || distance % inner_.digits[j].out_stride != 0) return false;
    int64_t step = distance / inner_.digits[j].out_stride;
    while (!Walk(j, step * sign, digit.extent, digit.out_stride)) {
      const int64_t extent = inner_.digits[j].extent;
      const int64_t part = extent / step;
      if (j == 0 || extent % step != 0 || digit.extent % part != 0 ||
          !Walk(j, step * sign, part, digit.out_stride)) {
        return false;
      }
      digit.extent /= part;
      digit.out_stride *= part;
      --j;
      step = 1;
    }
    return true;
  }

  // `extent` values of inner digit j, `step` apart, if it has that many.
  bool Walk(size_t j, int64_t step, int64_t extent, int64_t out_stride) {
    Range next = ranges_[j];
    (step < 0 ? next.low : next.high) += (extent - 1) * step;
    if (next.low < 0 || next.high >= inner_.digits[j].extent) return false;
    ranges_[j] = next;
    result_.digits.push_back({extent, step * inner_.digits[j].in_stride, out_stride});
    return true;
  }

  const Piece& inner_;
  std::vector<Range> ranges_;
  Piece result_;
};

}  // namespace

std::optional<Piece> Compose(const Piece& outer, const Piece& inner) {
  return Composer(inner).Run(outer);
}

}  // namespace hv
