// Walks a nest of digits in row-major order (the last digit fastest), keeping both offsets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hlo/view.h"

namespace hv {

class Odometer {
 public:
  explicit Odometer(std::span<const Digit> digits)
      : digits_(digits.begin(), digits.end()), at_(digits.size(), 0) {}

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  int64_t digit(size_t k) const { return at_[k]; }
  // The next position; false after the last one, when it stands at the first again.
  bool Next() {
    for (size_t k = digits_.size(); k-- > 0;) {
      const Digit& d = digits_[k];
      in_ += d.in_stride;
      out_ += d.out_stride;
      if (++at_[k] < d.extent) return true;
      in_ -= d.extent * d.in_stride;
      out_ -= d.extent * d.out_stride;
      at_[k] = 0;
    }
    return false;
  }
  // To position number `position`, counted from the first.
  void MoveTo(int64_t position) {
    in_ = out_ = 0;
    for (size_t k = digits_.size(); k-- > 0; position /= digits_[k].extent) {
      at_[k] = position % digits_[k].extent;
      in_ += at_[k] * digits_[k].in_stride;
      out_ += at_[k] * digits_[k].out_stride;
    }
  }
  // How many positions there are.
  static int64_t Count(std::span<const Digit> digits) {
    int64_t count = 1;
    for (const Digit& d : digits) count *= d.extent;
    return count;
  }

 private:
  std::vector<Digit> digits_;
  std::vector<int64_t> at_;
  int64_t in_ = 0;
  int64_t out_ = 0;
};

}  // namespace hv
