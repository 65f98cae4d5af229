// Terms that lie side by side are read as they are; others are brought together first, a chunk at a
// time. Where results lie side by side their rows of terms are added up, eight rows in registers.
#include "eval/lane_sum.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/integers.h"
#include "base/parallel.h"
#include "eval/lane_sum_kernels.h"
#include "eval/move.h"
#include "eval/narrow_floats.h"
#include "eval/odometer.h"

namespace hv {
namespace {

using lanes::kBlock;
using lanes::kChunk;
using lanes::kLanes;

constexpr int64_t kColumns = 1024;  // results side by side, at a time
constexpr int64_t kRows = 64;       // results of one chunk, at a time
constexpr int64_t kTermsPerThread = int64_t{1} << 18;

class LaneSum {
 public:
  LaneSum(const ReduceGeometry& g, const Value& input)
      : g_(g),
        type_(input.shape()->type),
        width_(input.element_bytes()),
        input_(input.bytes().data()),
        kernels_(lanes::FastestKernels()),
        chunks_(CeilDiv(g.terms, kChunk)),
        runs_(g.reduced.empty() || (g.reduced.size() == 1 && g.reduced[0].in_stride == 1)),
        side_by_side_(!runs_ && !g.kept.empty() && g.kept.back().in_stride == 1),
        row_(g.kept.empty() ? 1 : g.kept.back().extent),
        piece_(std::min(row_, side_by_side_ ? kColumns : chunks_ > 1 ? 1 : kRows)),
        chunk_sums_(static_cast<size_t>(chunks_ * g.results)) {}

  void AddTo(double* sums) {
    const int64_t per_row = CeilDiv(row_, piece_);
    const int64_t grain = kTermsPerThread / (std::min(kChunk, g_.terms) * piece_) + 1;
    ParallelFor(g_.results / row_ * per_row * chunks_, grain, [&](int64_t begin, int64_t end) {
      Worker worker(*this);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t piece = i / chunks_, at = piece % per_row * piece_;
        worker.Run(piece / per_row * row_ + at, std::min(piece_, row_ - at), i % chunks_);
      }
    });
    const double* chunk = chunk_sums_.data();
    for (int64_t c = 0; c < chunks_; ++c, chunk += g_.results) {
      for (int64_t r = 0; r < g_.results; ++r) sums[r] += chunk[r];
    }
  }

 private:
  // One thread's part.
  class Worker {
   public:
    explicit Worker(LaneSum& sum)
        : s_(sum), kept_(sum.g_.kept), term_(sum.g_.reduced), wide_(WideFloats(sum)) {
      if (!s_.runs_ && !s_.side_by_side_) gathered_.resize(static_cast<size_t>(kChunk * s_.width_));
    }

    // The sums of one chunk of results [first, first + count), which lie an even distance apart.
    void Run(int64_t first, int64_t count, int64_t chunk) {
      kept_.MoveTo(first);
      const int64_t from = chunk * kChunk, terms = std::min(kChunk, s_.g_.terms - from);
      double* out = s_.chunk_sums_.data() + chunk * s_.g_.results + first;
      const int64_t stride = s_.g_.kept.empty() ? 0 : s_.g_.kept.back().in_stride;
      if (s_.side_by_side_) return SideBySide(from, terms, out, count);
      if (s_.runs_ && s_.type_ == ElementType::kF32) {
        return s_.kernels_.rows(Floats(kept_.in() + from), stride, count, terms, out);
      }
      for (int64_t r = 0; r < count; ++r) {
        const float* together = BroughtTogether(kept_.in() + r * stride, from, terms);
        s_.kernels_.rows(together, 0, 1, terms, out + r);
      }
    }

   private:
    static size_t WideFloats(const LaneSum& sum) {
      if (sum.type_ == ElementType::kF32) return 0;
      return static_cast<size_t>(sum.side_by_side_ ? kLanes * kColumns : kChunk);
    }
    const std::byte* At(int64_t element) const { return s_.input_ + element * s_.width_; }
    const float* Floats(int64_t element) const {
      return reinterpret_cast<const float*>(At(element));
    }
    // `count` neighbours as f32: where they are, or in `room`.
    const float* Widened(const std::byte* from, int64_t count, float* room) const {
      if (s_.type_ == ElementType::kF32) return reinterpret_cast<const float*>(from);
      WidenFloats(s_.type_, from, room, static_cast<size_t>(count));
      return room;
    }

    const float* BroughtTogether(int64_t result, int64_t from, int64_t terms) {
      if (s_.runs_) return Widened(At(result + from), terms, wide_.data());
      const Digit& fastest = s_.g_.reduced.back();
      Piece run;
      for (int64_t done = 0; done < terms; done += run.digits[0].extent) {
        term_.MoveTo(from + done);
        const int64_t left = fastest.extent - term_.digit(s_.g_.reduced.size() - 1);
        run.digits = {{std::min(left, terms - done), fastest.in_stride, 1}};
        CopyPiece(run, At(result + term_.in()), gathered_.data() + done * s_.width_, s_.width_);
      }
      return Widened(gathered_.data(), terms, wide_.data());
    }

    void SideBySide(int64_t from, int64_t terms, double* out, int64_t count) {
      FindRows(from, terms);
      std::fill_n(out, count, 0.0);
      if (terms <= kLanes) return AddRows(0, 1, terms, out, count);
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        double* sum = terms <= kBlock ? out : lane_.data();
        if (sum != out) std::fill_n(sum, count, 0.0);
        for (int64_t t = lane; t < terms; t += kBlock) {
          AddRows(t, kLanes, std::min(kLanes, CeilDiv(terms - t, kLanes)), sum, count);
        }
        for (int64_t i = 0; sum != out && i < count; ++i) out[i] += sum[i];
      }
    }

    // Where the terms of a chunk lie: an even distance apart, or anywhere.
    void FindRows(int64_t from, int64_t terms) {
      term_.MoveTo(from);
      first_row_ = kept_.in() + term_.in();
      if (s_.g_.reduced.size() == 1) return;
      rows_.clear();
      for (int64_t t = 0; t < terms; ++t, term_.Next()) rows_.push_back(kept_.in() + term_.in());
    }
    int64_t Row(int64_t t) const {
      if (rows_.empty()) return first_row_ + t * s_.g_.reduced[0].in_stride;
      return rows_[static_cast<size_t>(t)];
    }

    // sums[i] += the sum from zero of `rows` (at most eight) rows of terms, each `step` after the
    // last.
    void AddRows(int64_t first, int64_t step, int64_t rows, double* sums, int64_t count) {
      const float* terms[kLanes];
      for (int64_t k = 0; k < rows; ++k) {
        float* room = wide_.empty() ? nullptr : wide_.data() + k * kColumns;
        terms[k] = Widened(At(Row(first + k * step)), count, room);
      }
      s_.kernels_.columns(terms, rows, sums, count);
    }

    LaneSum& s_;
    Odometer kept_, term_;
    std::vector<float> wide_;
    std::vector<std::byte> gathered_;
    int64_t first_row_ = 0;
    std::vector<int64_t> rows_;
    alignas(64) std::array<double, kColumns> lane_;
  };

  const ReduceGeometry& g_;
  ElementType type_;
  int width_;
  const std::byte* input_;
  lanes::Kernels kernels_;
  int64_t chunks_;
  bool runs_;          // the terms of a result lie side by side
  bool side_by_side_;  // results do
  int64_t row_, piece_;
  std::vector<double> chunk_sums_;  // [chunk][result]
};

}  // namespace

void SumByLanes(const ReduceGeometry& geometry, const Value& input, double* sums) {
  LaneSum(geometry, input).AddTo(sums);
}

}  // namespace hv
