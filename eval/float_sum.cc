// Chunks start from zero, so they are independent chains: several run at once along a contiguous
// stretch of terms, or many results run side by side.
#include "eval/float_sum.h"

#include <algorithm>
#include <vector>

#include "eval/half_floats.h"
#include "eval/narrow_floats.h"
#include "eval/odometer.h"
#include "eval/span_loops.h"

namespace hv {
namespace {

constexpr int64_t kChunk = 512;
constexpr int64_t kSideBySide = 64;  // results whose terms lie apart
constexpr int64_t kContiguous = 4096;

template <class T>
double Widened(T term) {
  return static_cast<double>(term);
}

// The running sum continued over `count` contiguous terms.
template <class T>
double SumRun(const T* terms, int64_t count, double sum) {
  constexpr int64_t kChains = 8;
  for (; count >= kChains * kChunk; count -= kChains * kChunk, terms += kChains * kChunk) {
    double chunk[kChains] = {};
    for (int64_t i = 0; i < kChunk; ++i) {
      for (int64_t c = 0; c < kChains; ++c) chunk[c] += Widened(terms[c * kChunk + i]);
    }
    for (int64_t c = 0; c < kChains; ++c) sum += chunk[c];
  }
  for (; count > 0; count -= kChunk, terms += kChunk) {
    double chunk = 0;
    for (int64_t i = 0; i < std::min(kChunk, count); ++i) chunk += Widened(terms[i]);
    sum += chunk;
  }
  return sum;
}

// Four results at once, each over its own stretch: short stretches have too few chunks for chains.
template <class T>
void SumRuns(const T* const terms[4], int64_t count, double sums[4]) {
  for (int64_t at = 0; at < count; at += kChunk) {
    double chunk[4] = {};
    const int64_t end = std::min(count, at + kChunk);
    for (int64_t i = at; i < end; ++i) {
      for (int r = 0; r < 4; ++r) chunk[r] += Widened(terms[r][i]);
    }
    for (int r = 0; r < 4; ++r) sums[r] += chunk[r];
  }
}

template <class T>
class FloatSum {
 public:
  FloatSum(const ReduceGeometry& g, const T* input, std::vector<double>* sums)
      : g_(g), input_(input), sums_(*sums) {}

  void Run() {
    const bool one_stretch =
        g_.reduced.empty() || (g_.reduced.size() == 1 && g_.reduced[0].in_stride == 1);
    if (one_stretch && g_.terms > 1) return AlongTerms();
    AcrossResults();
  }

 private:
  void AlongTerms() {
    Odometer kept(g_.kept);
    int64_t r = 0;
    for (; r + 4 <= g_.results && g_.terms < 8 * kChunk; r += 4) {
      const T* terms[4];
      for (const T*& t : terms) {
        t = input_ + kept.in();
        kept.Next();
      }
      SumRuns(terms, g_.terms, &sums_[static_cast<size_t>(r)]);
    }
    for (; r < g_.results; ++r, kept.Next()) {
      double& sum = sums_[static_cast<size_t>(r)];
      sum = SumRun(input_ + kept.in(), g_.terms, sum);
    }
  }

  void AcrossResults() {
    const bool contiguous = !g_.kept.empty() && g_.kept.back().in_stride == 1;
    const int64_t run = contiguous ? g_.kept.back().extent : 1;
    const int64_t block = contiguous ? std::min(run, kContiguous) : kSideBySide;
    Odometer kept(g_.kept);
    std::vector<int64_t> offsets;
    for (int64_t first = 0; first < g_.results;) {
      int64_t count = std::min(block, g_.results - first);
      if (contiguous) count = std::min(count, run - first % run);
      offsets.clear();
      for (int64_t i = 0; i < count; ++i, kept.Next()) offsets.push_back(kept.in());
      Block(&sums_[static_cast<size_t>(first)], offsets, contiguous);
      first += count;
    }
  }

  void Block(double* sums, const std::vector<int64_t>& offsets, bool contiguous) {
    const size_t count = offsets.size();
    chunk_.assign(count, 0.0);
    double* chunk = chunk_.data();
    Odometer term(g_.reduced);
    for (int64_t t = 0; t < g_.terms; ++t, term.Next()) {
      const T* at = input_ + term.in();
      const int64_t* offset = offsets.data();
      if (contiguous) {
        const T* from = at + offset[0];
        span::ForEach(count, [=](size_t i) { chunk[i] += Widened(from[i]); });
      } else {
        for (size_t i = 0; i < count; ++i) chunk[i] += Widened(at[offset[i]]);
      }
      if (t % kChunk == kChunk - 1 || t + 1 == g_.terms) {
        for (size_t i = 0; i < count; ++i) sums[i] += chunk[i];
        chunk_.assign(count, 0.0);
      }
    }
  }

  const ReduceGeometry& g_;
  const T* input_;
  std::vector<double>& sums_;
  std::vector<double> chunk_;
};

double FirstAsDouble(const Value& v) {
  const ElementType type = v.shape()->type;
  if (type == ElementType::kF64) return v.As<double>()[0];
  if (type == ElementType::kF32) return static_cast<double>(v.As<float>()[0]);
  float wide = 0;
  WidenFloats(type, v.bytes().data(), &wide, 1);
  return static_cast<double>(wide);
}

void StoreDoubles(const std::vector<double>& sums, Value* out) {
  const ElementType type = out->shape()->type;
  std::byte* bytes = out->MutableBytes().data();
  if (type == ElementType::kF64) {
    std::copy(sums.begin(), sums.end(), reinterpret_cast<double*>(bytes));
  } else if (type == ElementType::kF32) {
    std::transform(sums.begin(), sums.end(), reinterpret_cast<float*>(bytes),
                   [](double d) { return static_cast<float>(d); });
  } else {
    NarrowDoubles(type, sums.data(), bytes, sums.size());
  }
}

}  // namespace

Value SumFloats(const ReduceGeometry& geometry, const Value& input, const Value& init,
                const Shape* shape) {
  std::vector<double> sums(static_cast<size_t>(geometry.results), FirstAsDouble(init));
  const ElementType type = input.shape()->type;
  if (type == ElementType::kF64) {
    FloatSum<double>(geometry, input.As<double>().data(), &sums).Run();
  } else if (type == ElementType::kF32) {
    FloatSum<float>(geometry, input.As<float>().data(), &sums).Run();
  } else if (type == ElementType::kBF16) {
    FloatSum<Bf16>(geometry, input.As<Bf16>().data(), &sums).Run();
  } else if (type == ElementType::kF16) {
    FloatSum<F16>(geometry, input.As<F16>().data(), &sums).Run();
  } else {
    std::vector<float> wide(static_cast<size_t>(input.element_count()));
    WidenFloats(type, input.bytes().data(), wide.data(), wide.size());
    FloatSum<float>(geometry, wide.data(), &sums).Run();
  }
  Value result = Value::NewNative(shape);
  StoreDoubles(sums, &result);
  return result;
}

}  // namespace hv
