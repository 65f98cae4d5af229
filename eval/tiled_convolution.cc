// Convolution by tiles of outputs. Outputs that meet the same window positions at the same
// distances (all of the interior, say) form a class; within one, a window position is a fixed
// offset from each output's first input, so that a class is a product of scattered input rows with
// the kernel whose sums never leave the registers. Padding contributes nothing: it is in no class's
// positions.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "eval/convolution.h"
#include "eval/odometer.h"
#include "eval/one_nan.h"
#include "eval/vector_tile.h"
#include "eval/window.h"

namespace hv {
namespace {

// Outputs along one dimension that meet the same window positions at the same distances.
struct LineClass {
  struct Hit {
    int64_t k, distance;  // window position; input - first input
    friend auto operator<=>(const Hit&, const Hit&) = default;
  };
  std::vector<Hit> hits;
  std::vector<std::pair<int64_t, int64_t>> outputs;  // output, its first input
};

std::vector<LineClass> ClassesOf(const WindowDim& window, int64_t inputs, int64_t outputs) {
  std::vector<LineClass> classes;
  std::map<std::vector<LineClass::Hit>, size_t> known;
  for (int64_t o = 0; o < outputs; ++o) {
    int64_t first = -1;
    std::vector<LineClass::Hit> hits;
    for (int64_t k = 0; k < window.size; ++k) {
      const int64_t input = InputAt(window, o, k, inputs);
      if (input < 0) continue;
      if (hits.empty()) first = input;
      hits.push_back({k, input - first});
    }
    const auto [at, fresh] = known.emplace(hits, classes.size());
    if (fresh) classes.push_back({std::move(hits), {}});
    classes[at->second].outputs.emplace_back(o, first);
  }
  return classes;
}

// One class in all dimensions. Offsets are in elements of the arranged operands and result.
struct OutputClass {
  std::vector<tile::Segment> segments;            // .b counts kernel positions
  std::vector<std::pair<int64_t, int64_t>> rows;  // first input, output
};

class Classes {
 public:
  explicit Classes(const ArrangedConvolution& x)
      : x_(x), in_strides_(RowMajorStrides(x.lhs_dims)), out_strides_(RowMajorStrides(x.out_dims)) {
    std::vector<Digit> choices;
    for (size_t d = 0; d < x.window.size(); ++d) {
      lines_.push_back(ClassesOf(x.window[d], x.InputSpace()[d], x.OutputSpace()[d]));
      choices.push_back({std::ssize(lines_.back()), 0, 0});
    }
    Odometer choice(choices);
    do {
      std::vector<const LineClass*> line;
      for (size_t d = 0; d < lines_.size(); ++d) {
        line.push_back(&lines_[d][static_cast<size_t>(choice.digit(d))]);
      }
      all_.push_back({SegmentsOf(line), RowsOf(line)});
    } while (choice.Next());
  }
  const std::vector<OutputClass>& all() const { return all_; }

 private:
  std::vector<tile::Segment> SegmentsOf(const std::vector<const LineClass*>& line) const {
    std::vector<tile::Segment> segments = {{0, 0}};
    for (size_t d = 0; d < line.size(); ++d) {
      std::vector<tile::Segment> longer;
      for (const tile::Segment& s : segments) {
        for (const LineClass::Hit& hit : line[d]->hits) {
          longer.push_back(
              {s.a + hit.distance * in_strides_[d + 1], s.b * x_.window[d].size + hit.k});
        }
      }
      segments = std::move(longer);
    }
    for (tile::Segment& s : segments) s.b = KernelPosition(x_.window, s.b);
    return segments;
  }

  std::vector<std::pair<int64_t, int64_t>> RowsOf(const std::vector<const LineClass*>& line) const {
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (int64_t n = 0; n < x_.out_dims[0]; ++n) {
      rows.emplace_back(n * in_strides_[0], n * out_strides_[0]);
    }
    for (size_t d = 0; d < line.size(); ++d) {
      std::vector<std::pair<int64_t, int64_t>> more;
      more.reserve(rows.size() * line[d]->outputs.size());
      for (const auto& [in, out] : rows) {
        for (const auto& [o, first] : line[d]->outputs) {
          more.emplace_back(in + std::max<int64_t>(first, 0) * in_strides_[d + 1],
                            out + o * out_strides_[d + 1]);
        }
      }
      rows = std::move(more);
    }
    return rows;
  }

  const ArrangedConvolution& x_;
  std::vector<int64_t> in_strides_, out_strides_;
  std::vector<std::vector<LineClass>> lines_;
  std::vector<OutputClass> all_;
};

// Rows [begin, end) of a class for one group of features.
template <class T>
struct GroupTiles {
  const OutputClass& outputs;
  int64_t begin, end;
  const T* lhs;     // at the group's first feature and batch
  const T* kernel;  // at the group's first output feature
  T* out;
  int64_t group_in, group_out, out_features;

  // Panels of the kernel are packed anew by each call: it has as many rows as pay for that.
  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    constexpr int64_t kColumns = tile::kColumns<T, kVectorBytes>;
    const int64_t depth = std::ssize(outputs.segments) * group_in;
    const auto panel = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(depth * kColumns));
    std::vector<tile::Segment> segments = outputs.segments;
    for (int64_t j = 0; j < group_out; j += kColumns) {
      const int64_t columns = std::min(kColumns, group_out - j);
      T* to = panel.get();
      for (size_t s = 0; s < segments.size(); ++s) {
        segments[s].b = to - panel.get();
        for (int64_t z = 0; z < group_in; ++z, to += kColumns) {
          const T* from = kernel + (outputs.segments[s].b * group_in + z) * out_features + j;
          std::copy_n(from, columns, to);
          std::fill(to + columns, to + kColumns, T{0});
        }
      }
      for (int64_t r = begin; r < end; r += kRows) {
        RowTile<kVectorBytes, kRows>(r, j, columns, panel.get(), segments);
      }
    }
  }

  template <int kVectorBytes, int kRows>
  HV_INLINE void RowTile(int64_t r, int64_t j, int64_t columns, const T* panel,
                         const std::vector<tile::Segment>& segments) const {
    constexpr int64_t kColumns = tile::kColumns<T, kVectorBytes>;
    const int64_t count = std::min<int64_t>(kRows, end - r);
    const auto* row = &outputs.rows[static_cast<size_t>(r)];
    tile::ScatteredRows<T, kRows> rows;
    for (int64_t i = 0; i < kRows; ++i) rows.rows[i] = lhs + row[std::min(i, count - 1)].first;
    alignas(64) T sums[kRows * kColumns];
    tile::Multiply<T, kVectorBytes, kRows>(rows, panel, kColumns, segments, group_in, true, sums,
                                            kColumns);
    for (int64_t i = 0; i < count; ++i) {
      std::transform(sums + i * kColumns, sums + i * kColumns + columns, out + row[i].second + j,
                     [](T sum) { return OneNaN(sum); });
    }
  }
};

// Rows [begin, end) of a class where each input feature makes one output feature of its own: the
// features are the lanes.
template <class T>
struct DepthwiseRows {
  const OutputClass& outputs;
  int64_t begin, end;
  const T* lhs;
  const T* kernel;
  T* out;
  int64_t features;

  template <int kVectorBytes, int kRows>
  HV_INLINE void Run() const {
    constexpr int64_t kBlock = 4 * kVectorBytes / static_cast<int64_t>(sizeof(T));
    for (int64_t r = begin; r < end; ++r) {
      const auto [in, to] = outputs.rows[static_cast<size_t>(r)];
      for (int64_t j = 0; j < features; j += kBlock) {
        const int64_t count = std::min(kBlock, features - j);
        T sums[kBlock] = {};
        for (const tile::Segment& s : outputs.segments) {
          const T* __restrict x = lhs + in + s.a + j;
          const T* __restrict w = kernel + s.b * features + j;
          if (count == kBlock) {
            for (int64_t i = 0; i < kBlock; ++i) sums[i] += x[i] * w[i];
          } else {
            for (int64_t i = 0; i < count; ++i) sums[i] += x[i] * w[i];
          }
        }
        std::transform(sums, sums + count, out + to + j, [](T sum) { return OneNaN(sum); });
      }
    }
  }
};

template <class T>
class TiledConvolution {
 public:
  TiledConvolution(const ArrangedConvolution& x, T* out)
      : x_(x), lhs_(x.lhs.As<T>().data()), kernel_(x.rhs.As<T>().data()), out_(out) {}

  void Run() {
    const Classes classes(x_);
    for (const OutputClass& outputs : classes.all()) {
      const int64_t products = std::ssize(outputs.segments) * x_.group_in() * x_.rhs_dims.back();
      const int64_t rows = std::ssize(outputs.rows);
      const int64_t least = (int64_t{1} << 19) / std::max<int64_t>(products, 1) + 1;
      const int64_t grain = std::max(least, rows / (2 * ThreadCount()) + 1);
      ParallelFor(rows, grain, [&](int64_t begin, int64_t end) { Rows(outputs, begin, end); });
    }
  }

 private:
  void Rows(const OutputClass& outputs, int64_t begin, int64_t end) const {
    const int64_t in = x_.group_in(), each = x_.group_out(), features = x_.rhs_dims.back();
    const tile::Vectors vectors = tile::FastestVectors();
    if (x_.feature_groups > 1 && in == 1 && each == 1) {
      const DepthwiseRows<T> rows{outputs, begin, end, lhs_, kernel_, out_, features};
      return tile::RunOn(vectors, rows);
    }
    const int64_t batch = RowMajorStrides(x_.lhs_dims)[0];
    for (int64_t g = 0; g < x_.groups(); ++g) {
      const T* lhs = lhs_ + x_.FirstBatch(g) * batch + x_.FirstFeature(g);
      const GroupTiles<T> tiles{outputs,         begin, end,  lhs,     kernel_ + g * each,
                                out_ + g * each, in,    each, features};
      tile::RunOn(vectors, tiles);
    }
  }

  const ArrangedConvolution& x_;
  const T* lhs_;
  const T* kernel_;
  T* out_;
};

template <class T>
Value Convolve(const ArrangedConvolution& x) {
  Value result = x.NewResult();
  if (result.element_count() == 0) return result;
  T* out = result.MutableAs<T>().data();
  if (x.HasProducts()) {
    TiledConvolution<T>(x, out).Run();
  } else {
    std::fill_n(out, result.element_count(), T{0});
  }
  return x.InOwnOrder(result);
}

}  // namespace

Value ConvolveByTiles(const ArrangedConvolution& x) {
  switch (x.lhs.shape()->type) {
    case ElementType::kF32:
      return Convolve<float>(x);
    case ElementType::kF64:
      return Convolve<double>(x);
    default:
      HV_CHECK(x.lhs.element_bytes() == sizeof(uint64_t), "a convolution of other sums");
      return Convolve<uint64_t>(x);
  }
}

}  // namespace hv
