#include "eval/window_doubling.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "eval/move.h"

namespace hv {
namespace {

// Half-open interval of positions.
struct Range {
  int64_t begin, end;
  Range Within(int64_t length) const {
    return {std::clamp<int64_t>(begin, 0, length), std::clamp<int64_t>(end, 0, length)};
  }
};

// Windows along one dimension of an array [outer, n, inner]. A position stands for the window that
// begins there in the padded line; what it holds covers a known number of elements, of which those
// that lie in padding do not count: positions whose elements all do hold nothing.
class LineFold {
 public:
  // For at most `most` windows at a time.
  LineFold(const WindowDim& window, int64_t most, int64_t row_bytes, int width, Combiner& combiner)
      : window_(window),
        row_(row_bytes),
        elements_(row_bytes / width),
        combiner_(combiner),
        spans_(New((most - 1) * window.stride + window.size)),
        doubled_(New((most - 1) * window.stride + window.size)),
        folded_(New((most - 1) * window.stride + window.size)) {}

  // Windows [first, first + count) over the line `in` of n rows: one row each to `out`.
  Status Run(const std::byte* in, int64_t n, int64_t first, int64_t count, std::byte* out) {
    const int64_t begin = first * window_.stride - window_.low;  // of the positions, in the input
    length_ = (count - 1) * window_.stride + window_.size;
    real_ = Range{-begin, n - begin}.Within(length_);
    std::memcpy(At(spans_, real_.begin), in + (begin + real_.begin) * row_,
                Bytes(real_.end - real_.begin));
    int64_t covered = 0;  // by folded_
    for (int64_t p = 1; p <= window_.size; p *= 2) {
      if ((window_.size & p) != 0) {
        HV_RETURN_IF_ERROR(Append(folded_, covered, spans_, p));
        covered += p;
      }
      if (2 * p > window_.size) break;
      std::memcpy(doubled_.get(), spans_.get(), Bytes(length_));
      HV_RETURN_IF_ERROR(Append(doubled_, p, spans_, p));
      std::swap(doubled_, spans_);
    }
    if (window_.stride == 1) {
      std::memcpy(out, At(folded_, 0), Bytes(count));
      return {};
    }
    for (int64_t o = 0; o < count; ++o) {
      std::memcpy(out + o * row_, At(folded_, o * window_.stride), Bytes(1));
    }
    return {};
  }

 private:
  using Rows = std::unique_ptr<std::byte[]>;
  Rows New(int64_t rows) const { return std::make_unique<std::byte[]>(Bytes(rows)); }
  size_t Bytes(int64_t rows) const { return static_cast<size_t>(rows * row_); }
  std::byte* At(const Rows& rows, int64_t position) const { return rows.get() + position * row_; }

  // left[e], which covers `covered` elements, is continued by right[e + covered], which covers p.
  Status Append(const Rows& left, int64_t covered, const Rows& right, int64_t p) {
    const Range alone =
        Range{real_.begin - covered - p + 1, real_.begin - covered + 1}.Within(length_);
    const Range both = Range{alone.end, real_.end - covered}.Within(length_);
    const bool empty = covered == 0;  // then there is no left
    const Range copied = empty ? Range{alone.begin, std::max(both.end, alone.end)} : alone;
    if (copied.begin < copied.end) {
      std::memcpy(At(left, copied.begin), At(right, copied.begin + covered),
                  Bytes(copied.end - copied.begin));
    }
    if (empty || both.begin >= both.end) return {};
    std::byte* accumulators[1] = {At(left, both.begin)};
    const std::byte* values[1] = {At(right, both.begin + covered)};
    return combiner_.Combine(accumulators, values,
                             static_cast<size_t>((both.end - both.begin) * elements_));
  }

  WindowDim window_;
  int64_t row_, elements_;
  int64_t length_ = 0;   // positions
  Range real_ = {0, 0};  // those of the input
  Combiner& combiner_;
  Rows spans_, doubled_, folded_;
};

// Windows folded at a time, so that all passes over their positions find them in the cache.
int64_t WindowsAtATime(const WindowDim& window, int64_t row_bytes, int64_t outputs) {
  constexpr int64_t kCached = int64_t{1} << 16;
  const int64_t positions = std::max(kCached / row_bytes, 4 * window.size);
  return std::clamp<int64_t>(positions / window.stride, 1, outputs);
}

// Does every window meet an element?
bool AllMeet(const WindowDim& w, int64_t inputs, int64_t outputs) {
  const int64_t last = (outputs - 1) * w.stride;
  return inputs > 0 && w.low < w.size && last < w.low + inputs;
}

bool IsWorthIt(std::span<const WindowDim> window) {
  int64_t positions = 1, steps = 0;
  for (const WindowDim& w : window) {
    positions *= w.size;
    if (w.size > 1) steps += 2 * std::bit_width(static_cast<uint64_t>(w.size));
  }
  return positions > steps || (!window.empty() && window.back().stride > 1);
}

}  // namespace

Result<std::optional<Value>> FoldWindowsByDoubling(std::span<const WindowDim> window,
                                                   const Value& input, const Shape* shape,
                                                   Combiner& combiner) {
  bool fits = combiner.MayRegroup() && IsWorthIt(window);
  for (size_t d = 0; d < window.size(); ++d) {
    fits = fits && window[d].base_dilation == 1 && window[d].window_dilation == 1 &&
           AllMeet(window[d], input.shape()->dims[d], shape->dims[d]);
  }
  if (!fits) return std::optional<Value>();
  const int64_t width = input.element_bytes();
  std::vector<int64_t> dims(input.shape()->dims.begin(), input.shape()->dims.end());
  Value result = NewLike(input, shape);
  std::unique_ptr<std::byte[]> from, to;
  const std::byte* in = input.bytes().data();
  // The last dimension first: positions are visited in row-major order.
  int64_t inner = 1, outer = input.element_count();
  for (size_t d = dims.size(); d-- > 0;) {
    const int64_t n = std::exchange(dims[d], shape->dims[d]), row = inner * width;
    outer /= n;
    const int64_t outputs = dims[d], at_a_time = WindowsAtATime(window[d], row, outputs);
    LineFold line(window[d], at_a_time, row, static_cast<int>(width), combiner);
    const int64_t line_bytes = outputs * row;
    const auto bytes = static_cast<size_t>(d == 0 ? 0 : outer * line_bytes);
    to = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::byte* out = d == 0 ? result.MutableBytes().data() : to.get();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t first = 0; first < outputs; first += at_a_time) {
        HV_RETURN_IF_ERROR(line.Run(in + o * n * row, n, first, std::min(at_a_time, outputs - first),
                                    out + o * line_bytes + first * row));
      }
    }
    from = std::move(to);
    in = from.get();
    inner *= dims[d];
  }
  return std::optional<Value>(std::move(result));
}

}  // namespace hv
