// Sums in f64 of f64. Chunks are independent chains of additions: eight results, or eight chunks of
// one result, run in the lanes of vectors, which blocks of terms are transposed for; results that lie
// side by side need no transposing.
#include "eval/float_sum.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/integers.h"
#include "base/parallel.h"
#include "eval/lane_sum.h"
#include "eval/narrow_floats.h"
#include "eval/odometer.h"
#include "eval/one_nan.h"
#include "eval/vector_tile.h"

namespace hv {
namespace {

constexpr int64_t kChunk = 512;
constexpr int64_t kSideBySide = 64;  // results whose terms lie apart
constexpr int64_t kContiguous = 1024;
constexpr int64_t kLanes = 8;
constexpr int64_t kTermsPerThread = int64_t{1} << 18;

typedef double Doubles __attribute__((vector_size(32), may_alias));

HV_INLINE void Transpose(Doubles rows[4]) {
  const Doubles even01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6);
  const Doubles odd01 = __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7);
  const Doubles even23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6);
  const Doubles odd23 = __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7);
  rows[0] = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
  rows[2] = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
  rows[3] = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
}

// sums[l] += the terms of stretch number l one after the other, for eight stretches.
template <class T>
struct EightStretches {
  const T* const* stretches;
  int64_t terms;
  double* sums;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    Doubles sum[2];
    std::memcpy(sum, sums, sizeof(sum));
    int64_t t = 0;
    for (; t + 16 <= terms; t += 16) AddTerms<16>(t, sum);
    for (; t + 4 <= terms; t += 4) AddTerms<4>(t, sum);
    std::memcpy(sums, sum, sizeof(sum));
    for (; t < terms; ++t) {
      for (int l = 0; l < kLanes; ++l) sums[l] += static_cast<double>(stretches[l][t]);
    }
  }

  // Widened by loops of their own, which vectorise best, then transposed by fours.
  template <int kTerms>
  HV_INLINE void AddTerms(int64_t t, Doubles sum[2]) const {
    alignas(64) Doubles wide[kLanes][kTerms / 4];
    for (int l = 0; l < kLanes; ++l) {
      const T* from = stretches[l] + t;
      auto* to = reinterpret_cast<double*>(wide[l]);
      for (int i = 0; i < kTerms; ++i) to[i] = static_cast<double>(from[i]);
    }
    for (int i = 0; i < kTerms / 4; ++i) {
      for (int half = 0; half < 2; ++half) {
        const Doubles(*from)[kTerms / 4] = wide + 4 * half;
        Doubles block[4] = {from[0][i], from[1][i], from[2][i], from[3][i]};
        Transpose(block);
        sum[half] = sum[half] + block[0] + block[1] + block[2] + block[3];
      }
    }
  }
};

// sums[i] += rows[0][i], then rows[1][i], .. for eight rows of terms, or for one.
template <class T>
struct RowsOfTerms {
  const T* const* rows;
  int64_t row_count;
  double* sums;
  int64_t results;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    int64_t r = 0;
    for (; r + kLanes <= row_count; r += kLanes) AddEight(rows + r, sums);
    for (; r < row_count; ++r) {
      const T* from = rows[r];
      double* __restrict to = sums;
      for (int64_t i = 0; i < results; ++i) to[i] += static_cast<double>(from[i]);
    }
  }
  HV_INLINE void AddEight(const T* const* from, double* __restrict to) const {
    const T *a = from[0], *b = from[1], *c = from[2], *d = from[3];
    const T *e = from[4], *f = from[5], *g = from[6], *h = from[7];
    for (int64_t i = 0; i < results; ++i) {
      double sum = to[i] + static_cast<double>(a[i]);
      sum += static_cast<double>(b[i]);
      sum += static_cast<double>(c[i]);
      sum += static_cast<double>(d[i]);
      sum += static_cast<double>(e[i]);
      sum += static_cast<double>(f[i]);
      sum += static_cast<double>(g[i]);
      to[i] = sum + static_cast<double>(h[i]);
    }
  }
};

template <class T>
class FloatSum {
 public:
  FloatSum(const ReduceGeometry& g, const T* input, std::vector<double>* sums)
      : g_(g), input_(input), sums_(sums->data()) {}

  void Run() const {
    const bool runs = !g_.reduced.empty() && g_.reduced.back().in_stride == 1;
    if (runs && g_.reduced.size() == 1 && g_.results < kLanes && g_.terms >= kLanes * kChunk) {
      return ByChunks();
    }
    const bool side_by_side = !g_.kept.empty() && g_.kept.back().in_stride == 1;
    const int64_t block = runs ? kLanes : side_by_side ? kContiguous : kSideBySide;
    // A block of results that lie side by side stays within one row of them.
    const int64_t row = side_by_side && !runs ? g_.kept.back().extent : g_.results;
    const int64_t per_row = CeilDiv(row, block);
    const int64_t grain = kTermsPerThread / std::max<int64_t>(g_.terms * block, 1) + 1;
    ParallelFor(g_.results / row * per_row, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / per_row * row + i % per_row * block;
        const int64_t count = std::min(block, row - i % per_row * block);
        if (runs) {
          AlongRuns(first, count);
        } else if (side_by_side) {
          SideBySide(first, count);
        } else {
          Apart(first, count);
        }
      }
    });
  }

 private:
  // Where the terms of result number `result` begin.
  const T* FirstTerm(int64_t result) const {
    const T* at = input_;
    for (size_t d = g_.kept.size(); d-- > 0; result /= g_.kept[d].extent) {
      at += result % g_.kept[d].extent * g_.kept[d].in_stride;
    }
    return at;
  }

  // Few results of many contiguous terms: eight chunks of one result at a time.
  void ByChunks() const {
    const int64_t whole = g_.terms / (kLanes * kChunk) * kLanes;
    std::vector<double> chunks(static_cast<size_t>(whole));
    for (int64_t r = 0; r < g_.results; ++r) {
      const T* terms = FirstTerm(r);
      std::fill(chunks.begin(), chunks.end(), 0.0);
      ParallelFor(whole / kLanes, kTermsPerThread / (kLanes * kChunk), [&](int64_t b, int64_t e) {
        for (int64_t i = b * kLanes; i < e * kLanes; i += kLanes) {
          const T* stretches[kLanes];
          for (int64_t l = 0; l < kLanes; ++l) stretches[l] = terms + (i + l) * kChunk;
          AddStretches(stretches, kChunk, &chunks[static_cast<size_t>(i)]);
        }
      });
      for (const double chunk : chunks) sums_[r] += chunk;
      for (int64_t t = whole * kChunk; t < g_.terms;) {
        double chunk = 0;
        const int64_t end = std::min(g_.terms, t + kChunk);
        for (; t < end; ++t) chunk += static_cast<double>(terms[t]);
        sums_[r] += chunk;
      }
    }
  }

  void AddStretches(const T* const* stretches, int64_t terms, double* sums) const {
    tile::RunOn(tile::FastestVectors(), EightStretches<T>{stretches, terms, sums});
  }

  // Eight results whose terms come in contiguous runs; lanes to spare repeat the last one.
  void AlongRuns(int64_t first, int64_t count) const {
    const T* starts[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) starts[l] = FirstTerm(first + std::min(l, count - 1));
    double chunk[kLanes] = {};
    const int64_t run = g_.reduced.back().extent;
    Odometer outer(std::span(g_.reduced).first(g_.reduced.size() - 1));
    int64_t done = 0;  // terms in the chunk
    for (int64_t term = 0; term < g_.terms; term += run, outer.Next()) {
      for (int64_t t = 0; t < run;) {
        const int64_t now = std::min(run - t, kChunk - done);
        const T* stretches[kLanes];
        for (int64_t l = 0; l < kLanes; ++l) stretches[l] = starts[l] + outer.in() + t;
        AddStretches(stretches, now, chunk);
        t += now;
        done += now;
        if (done == kChunk) done = Flush(first, count, chunk);
      }
    }
    if (done > 0) Flush(first, count, chunk);
  }

  // Adds the chunk to the running sums; the next one starts from zero.
  int64_t Flush(int64_t first, int64_t count, double* chunk) const {
    for (int64_t i = 0; i < count; ++i) sums_[first + i] += chunk[i];
    std::fill_n(chunk, count, 0.0);
    return 0;
  }

  void SideBySide(int64_t first, int64_t count) const {
    const T* begin = FirstTerm(first);
    double chunk[kContiguous] = {};
    Odometer term(g_.reduced);
    const T* rows[kChunk];
    for (int64_t t = 0; t < g_.terms;) {
      const int64_t now = std::min(kChunk, g_.terms - t);
      for (int64_t i = 0; i < now; ++i, term.Next()) rows[i] = begin + term.in();
      tile::RunOn(tile::FastestVectors(), RowsOfTerms<T>{rows, now, chunk, count});
      t += now;
      Flush(first, count, chunk);
    }
  }

  void Apart(int64_t first, int64_t count) const {
    const T* starts[kSideBySide];
    for (int64_t i = 0; i < count; ++i) starts[i] = FirstTerm(first + i);
    double chunk[kSideBySide] = {};
    Odometer term(g_.reduced);
    for (int64_t t = 0; t < g_.terms; ++t, term.Next()) {
      for (int64_t i = 0; i < count; ++i) chunk[i] += static_cast<double>(starts[i][term.in()]);
      if (t % kChunk == kChunk - 1 || t + 1 == g_.terms) Flush(first, count, chunk);
    }
  }

  const ReduceGeometry& g_;
  const T* input_;
  double* sums_;
};

double FirstAsDouble(const Value& v) {
  const ElementType type = v.shape()->type;
  if (type == ElementType::kF64) return v.As<double>()[0];
  if (type == ElementType::kF32) return static_cast<double>(v.As<float>()[0]);
  float wide = 0;
  WidenFloats(type, v.bytes().data(), &wide, 1);
  return static_cast<double>(wide);
}

Value Stored(const std::vector<double>& sums, const Shape* shape) {
  Value result = Value::NewNative(shape);
  const ElementType type = shape->type;
  std::byte* bytes = result.MutableBytes().data();
  if (type == ElementType::kF64) {
    std::copy(sums.begin(), sums.end(), reinterpret_cast<double*>(bytes));
  } else if (type == ElementType::kF32) {
    std::transform(sums.begin(), sums.end(), reinterpret_cast<float*>(bytes),
                   [](double d) { return static_cast<float>(d); });
  } else {
    NarrowDoubles(type, sums.data(), bytes, sums.size());
  }
  return result;
}

}  // namespace

Value SumFloats(const ReduceGeometry& geometry, const Value& input, const Value& init,
                const Shape* shape) {
  std::vector<double> sums(static_cast<size_t>(geometry.results), FirstAsDouble(init));
  if (geometry.results == 0 || geometry.terms == 0) return Stored(sums, shape);
  const ElementType type = input.shape()->type;
  if (shape->type != ElementType::kF64) {
    SumByLanes(geometry, input, sums.data());
  } else if (type == ElementType::kF64) {
    FloatSum<double>(geometry, input.As<double>().data(), &sums).Run();
  } else if (type == ElementType::kF32) {
    FloatSum<float>(geometry, input.As<float>().data(), &sums).Run();
  } else {
    const auto count = static_cast<size_t>(input.element_count());
    const std::unique_ptr<Buffer, void (*)(Buffer*)> buffer(Buffer::New(count * sizeof(float)),
                                                            Buffer::Delete);
    auto* const wide = reinterpret_cast<float*>(buffer->data());
    WidenFloats(type, input.bytes().data(), wide, count);
    FloatSum<float>(geometry, wide, &sums).Run();
  }
  KeepOneNaN(sums.data(), std::ssize(sums));
  return Stored(sums, shape);
}

}  // namespace hv
