// Reduces blocks of results side by side, one term of each at a time, so that a reducer runs on
// spans; where the terms of a result are contiguous it may fold along them instead.
#include "eval/reduce.h"

#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "eval/move.h"
#include "eval/odometer.h"

namespace hv {
namespace {

constexpr int64_t kGatheredBlock = 128;  // results whose terms lie apart: as many lines as L1 holds
constexpr int64_t kContiguousBlock = 4096;
constexpr int64_t kTransposedTerms = 32;  // terms of such a block that are brought together at once
constexpr int64_t kLeastRun = 8;          // contiguous terms from which that pays

template <class T>
void GatherTyped(const std::byte* in, std::span<const int64_t> offsets, int64_t shift,
                 std::byte* out) {
  const T* from = reinterpret_cast<const T*>(in) + shift;
  T* to = reinterpret_cast<T*>(out);
  for (size_t i = 0; i < offsets.size(); ++i) to[i] = from[offsets[i]];
}

struct Bytes16 {
  uint64_t low, high;
};

void GatherElements(const std::byte* in, int width, std::span<const int64_t> offsets, int64_t shift,
                    std::byte* out) {
  switch (width) {
    case 1:
      return GatherTyped<uint8_t>(in, offsets, shift, out);
    case 2:
      return GatherTyped<uint16_t>(in, offsets, shift, out);
    case 4:
      return GatherTyped<uint32_t>(in, offsets, shift, out);
    case 8:
      return GatherTyped<uint64_t>(in, offsets, shift, out);
    default:
      return GatherTyped<Bytes16>(in, offsets, shift, out);
  }
}

void FillElements(const std::byte* element, int width, int64_t count, std::byte* out) {
  Piece all;
  if (count > 1) all.digits.push_back({count, 0, 1});
  if (count > 0) CopyPiece(all, element, out, width);
}

class Reduction {
 public:
  Reduction(const ReduceGeometry& geometry, std::span<const Value> inputs, Combiner& combiner,
            std::span<std::byte* const> outs)
      : g_(geometry),
        inputs_(inputs),
        combiner_(combiner),
        outs_(outs.begin(), outs.end()),
        scratch_(inputs.size()) {}

  // Results [begin, end).
  Status Run(int64_t begin, int64_t end) {
    const bool along =
        inputs_.size() == 1 && TermRun() >= 64 && (combiner_.PrefersRuns() || g_.results < 8);
    if (along && AlongTerms(begin, end)) return {};
    return AcrossResults(begin, end);
  }

 private:
  size_t Width(size_t k) const { return static_cast<size_t>(inputs_[k].element_bytes()); }
  const std::byte* In(size_t k) const { return inputs_[k].bytes().data(); }

  // Length of the contiguous stretch of the operand that the fastest reduced digit walks.
  int64_t TermRun() const {
    if (g_.reduced.empty() || g_.reduced.back().in_stride != 1) return 0;
    return g_.reduced.back().extent;
  }
  int64_t ResultRun() const {
    if (g_.kept.empty() || g_.kept.back().in_stride != 1) return 1;
    return g_.kept.back().extent;
  }

  // Blocks of results; each block stays within one contiguous stretch if such are long.
  Status AcrossResults(int64_t begin, int64_t end) {
    const int64_t run = ResultRun();
    const bool contiguous = run >= 16;
    const int64_t block = contiguous ? std::min(run, kContiguousBlock) : kGatheredBlock;
    std::vector<int64_t> offsets;
    Odometer kept(g_.kept);
    kept.MoveTo(begin);
    for (int64_t first = begin; first < end;) {
      int64_t count = std::min(block, end - first);
      if (contiguous) count = std::min(count, run - first % run);
      offsets.clear();
      for (int64_t i = 0; i < count; ++i, kept.Next()) offsets.push_back(kept.in());
      HV_RETURN_IF_ERROR(Block(first, offsets, contiguous));
      first += count;
    }
    return {};
  }

  Status Block(int64_t first, std::span<const int64_t> offsets, bool contiguous) {
    std::vector<std::byte*> accumulators;
    std::vector<const std::byte*> values(inputs_.size());
    for (size_t k = 0; k < inputs_.size(); ++k) {
      accumulators.push_back(outs_[k] + static_cast<size_t>(first) * Width(k));
      if (!contiguous) scratch_[k].resize(kTransposedTerms * offsets.size() * Width(k));
    }
    if (!contiguous && TermRun() >= kLeastRun && IsEven(offsets)) {
      return TransposedBlock(offsets, accumulators);
    }
    Odometer term(g_.reduced);
    for (int64_t t = 0; t < g_.terms; ++t, term.Next()) {
      for (size_t k = 0; k < inputs_.size(); ++k) {
        const int width = inputs_[k].element_bytes();
        if (contiguous || offsets.size() == 1) {
          values[k] = In(k) + static_cast<size_t>(offsets[0] + term.in()) * Width(k);
        } else {
          GatherElements(In(k), width, offsets, term.in(), scratch_[k].data());
          values[k] = scratch_[k].data();
        }
      }
      HV_RETURN_IF_ERROR(combiner_.Combine(accumulators, values, offsets.size()));
    }
    return {};
  }

  static bool IsEven(std::span<const int64_t> offsets) {
    for (size_t i = 2; i < offsets.size(); ++i) {
      if (offsets[i] - offsets[i - 1] != offsets[1] - offsets[0]) return false;
    }
    return offsets.size() > 1;
  }

  // Results an even distance apart whose terms are contiguous: blocks of terms are transposed.
  Status TransposedBlock(std::span<const int64_t> offsets,
                         std::span<std::byte* const> accumulators) {
    const auto count = static_cast<int64_t>(offsets.size());
    std::vector<const std::byte*> values(inputs_.size());
    Odometer stretch(std::span(g_.reduced).first(g_.reduced.size() - 1));
    for (int64_t done = 0; done < g_.terms; done += TermRun(), stretch.Next()) {
      for (int64_t t = 0; t < TermRun(); t += kTransposedTerms) {
        const int64_t now = std::min(kTransposedTerms, TermRun() - t);
        Piece block;
        block.in_base = offsets[0] + stretch.in() + t;
        block.digits = {{now, 1, count}, {count, offsets[1] - offsets[0], 1}};
        for (size_t k = 0; k < inputs_.size(); ++k) {
          CopyPiece(block, In(k), scratch_[k].data(), inputs_[k].element_bytes());
        }
        for (int64_t i = 0; i < now; ++i) {
          for (size_t k = 0; k < inputs_.size(); ++k) {
            values[k] = scratch_[k].data() + static_cast<size_t>(i * count) * Width(k);
          }
          HV_RETURN_IF_ERROR(combiner_.Combine(accumulators, values, offsets.size()));
        }
      }
    }
    return {};
  }

  // False, with nothing done, if the combiner cannot fold runs.
  bool AlongTerms(int64_t begin, int64_t end) {
    const std::span<const Digit> outer(g_.reduced.data(), g_.reduced.size() - 1);
    const int64_t stretches = Odometer::Count(outer);
    Odometer kept(g_.kept);
    kept.MoveTo(begin);
    for (int64_t r = begin; r < end; ++r, kept.Next()) {
      std::byte* result = outs_[0] + static_cast<size_t>(r) * Width(0);
      Odometer stretch(outer);
      for (int64_t s = 0; s < stretches; ++s, stretch.Next()) {
        const auto at = static_cast<size_t>(kept.in() + stretch.in());
        const auto terms = static_cast<size_t>(TermRun());
        if (!combiner_.FoldRun(result, In(0) + at * Width(0), terms)) return false;
      }
    }
    return true;
  }

  const ReduceGeometry& g_;
  std::span<const Value> inputs_;
  Combiner& combiner_;
  std::vector<std::byte*> outs_;
  std::vector<std::vector<std::byte>> scratch_;
};

// Neighbouring digits that walk the operand as one become one.
void FuseInput(std::vector<Digit>* digits) {
  std::vector<Digit> fused;
  for (const Digit& d : *digits) {
    if (d.extent == 1) continue;
    if (!fused.empty() && fused.back().in_stride == d.extent * d.in_stride) {
      fused.back() = {fused.back().extent * d.extent, d.in_stride, d.out_stride};
    } else {
      fused.push_back(d);
    }
  }
  *digits = std::move(fused);
}

}  // namespace

ReduceGeometry GeometryOfReduce(const Shape& operand, std::span<const int64_t> dimensions) {
  ReduceGeometry g;
  const std::vector<int64_t> strides = RowMajorStrides(operand.dims);
  const auto is_reduced = [&](int64_t d) {
    return std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
  };
  const int64_t rank = operand.rank();
  for (int64_t i = 0; i < rank; ++i) {
    const auto d = static_cast<size_t>(i);
    if (!is_reduced(i)) g.kept.push_back({operand.dims[d], strides[d], 0});
    // Major to minor: the layout backwards.
    const auto by_layout =
        operand.minor_to_major.empty()
            ? d
            : static_cast<size_t>(operand.minor_to_major[static_cast<size_t>(rank - 1 - i)]);
    if (is_reduced(static_cast<int64_t>(by_layout))) {
      g.reduced.push_back({operand.dims[by_layout], strides[by_layout], 0});
    }
  }
  g.results = Odometer::Count(g.kept);
  g.terms = Odometer::Count(g.reduced);
  FuseInput(&g.kept);
  FuseInput(&g.reduced);
  return g;
}

Result<std::vector<Value>> ReduceWith(const ReduceGeometry& geometry, std::span<const Value> inputs,
                                      std::span<const Value> inits,
                                      std::span<const Shape* const> shapes, Combiner& combiner) {
  std::vector<Value> results;
  for (size_t k = 0; k < inputs.size(); ++k) {
    results.push_back(NewLike(inits[k], shapes[k]));
    FillElements(inits[k].bytes().data(), inits[k].element_bytes(), geometry.results,
                 results[k].MutableBytes().data());
  }
  if (geometry.terms == 0 || geometry.results == 0) return results;
  std::vector<std::byte*> outs;
  for (Value& r : results) outs.push_back(r.MutableBytes().data());
  if (!combiner.IsStateless()) {
    HV_RETURN_IF_ERROR(Reduction(geometry, inputs, combiner, outs).Run(0, geometry.results));
    return results;
  }
  constexpr int64_t kTermsPerThread = int64_t{1} << 18;
  const int64_t grain = kTermsPerThread / geometry.terms + 1;
  ParallelFor(geometry.results, grain, [&](int64_t begin, int64_t end) {
    const Status done = Reduction(geometry, inputs, combiner, outs).Run(begin, end);
    static_cast<void>(done);  // a single op cannot fail
  });
  return results;
}

}  // namespace hv
