// Plans once per instruction which digits move where, then visits every index vector, blocks of
// them at a time.
#include "eval/gather_scatter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/parallel.h"
#include "eval/domain.h"
#include "eval/move.h"
#include "eval/odometer.h"
#include "eval/vector_isa.h"

namespace hv {
namespace {

constexpr int64_t kBytesPerThread = int64_t{1} << 20;

bool Contains(std::span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The attributes of gather and scatter under one set of names.
struct Dimensions {
  std::span<const int64_t> window;     // of the window side
  std::span<const int64_t> collapsed;  // operand dimensions without a window dimension
  std::span<const int64_t> start_map;
  std::span<const int64_t> operand_batch;
  std::span<const int64_t> indices_batch;
  int64_t vector_dim;
};

IndexPlan Plan(const Dimensions& d, const Shape& operand, const Shape& indices,
               const Shape& window_side) {
  IndexPlan plan;
  const std::vector<int64_t> operand_strides = RowMajorStrides(operand.dims);
  std::vector<int64_t> window_sizes(operand.dims.size(), 1);
  const std::vector<int64_t> side_strides = RowMajorStrides(window_side.dims);
  const std::vector<int64_t> index_strides = RowMajorStrides(indices.dims);
  const auto vector_dim = static_cast<size_t>(d.vector_dim);
  plan.component_stride = vector_dim < index_strides.size() ? index_strides[vector_dim] : 0;

  size_t next_window = 0;
  for (size_t o = 0; o < operand.dims.size(); ++o) {
    const auto dim = static_cast<int64_t>(o);
    if (Contains(d.collapsed, dim) || Contains(d.operand_batch, dim)) continue;
    const auto side = static_cast<size_t>(d.window[next_window++]);
    window_sizes[o] = window_side.dims[side];
    plan.window.digits.push_back({window_side.dims[side], operand_strides[o], side_strides[side]});
  }
  Normalize(&plan.window);
  for (const int64_t dim : d.start_map) {
    const auto o = static_cast<size_t>(dim);
    plan.components.push_back({operand.dims[o] - window_sizes[o], operand_strides[o]});
  }

  size_t index_dim = 0;
  for (size_t side = 0; side < window_side.dims.size(); ++side) {
    if (Contains(d.window, static_cast<int64_t>(side))) continue;
    if (index_dim == vector_dim) ++index_dim;
    const auto batching =
        std::find(d.indices_batch.begin(), d.indices_batch.end(), static_cast<int64_t>(index_dim));
    if (batching != d.indices_batch.end()) {
      const auto k = static_cast<size_t>(batching - d.indices_batch.begin());
      const auto o = static_cast<size_t>(d.operand_batch[k]);
      plan.batch_starts.push_back({plan.batch.size(), operand_strides[o]});
    }
    plan.batch.push_back({window_side.dims[side], index_strides[index_dim], side_strides[side]});
    ++index_dim;
  }
  return plan;
}

// Where some windows lie, each a field of its own so that loops over them vectorise.
struct Places {
  static constexpr int64_t kMost = 128;
  int64_t count = 0;
  bool all_inside = true;
  int64_t operand[kMost], side[kMost];  // offsets
  int64_t moved[kMost];                 // is not 0 where a window would not lie inside
};

// What one component of index vectors adds to the places of their windows: starts are clamped. The
// first component begins the places.
struct StartArgs {
  const std::byte* starts;
  int64_t step, last, stride;
  int64_t *operand, *moved, *side;
  int64_t first_side, side_step;
  int64_t count;
  bool first;
  int64_t outside;  // is not 0 where one was clamped
};

template <class T>
HV_INLINE void AddStarts(StartArgs* const& args) {
  StartArgs& a = *args;
  const auto add = [&](int64_t step, bool first) {
    const T* __restrict starts = reinterpret_cast<const T*>(a.starts);
    int64_t *__restrict operand = a.operand, *__restrict moved = a.moved;
    int64_t* __restrict side = a.side;
    const int64_t last = a.last, stride = a.stride, count = a.count;
    const int64_t first_side = a.first_side, side_step = a.side_step;
    int64_t outside = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t start = starts[i * step];
      const int64_t clamped = std::min(std::max(start, int64_t{0}), last);
      operand[i] = (first ? 0 : operand[i]) + clamped * stride;
      moved[i] = (first ? 0 : moved[i]) | (clamped ^ start);
      if (first) side[i] = first_side + i * side_step;
      outside |= clamped ^ start;
    }
    a.outside = outside;
  };
  if (a.step != 1) return add(a.step, a.first);
  a.first ? add(1, true) : add(1, false);
}

// Index vectors, read where they lie if they are of the common types.
class Indices {
 public:
  explicit Indices(const Value& value) : data_(value.bytes().data()) {
    const ElementType type = value.shape()->type;
    if (type == ElementType::kS32) {
      width_ = sizeof(int32_t);
      add_ = isa::Choose<StartArgs*, AddStarts<int32_t>, Isa::kAvx512>();
    } else if (type != ElementType::kS64) {
      converted_ = IntegersOf(value);
      data_ = reinterpret_cast<const std::byte*>(converted_.data());
    }
  }
  Indices(const Indices&) = delete;
  // Of components that begin with number `at`; false if one does not lie inside.
  bool AddTo(int64_t at, StartArgs args) const {
    args.starts = data_ + at * width_;
    add_(&args);
    return args.outside == 0;
  }

 private:
  const std::byte* data_;
  std::vector<int64_t> converted_;
  int64_t width_ = sizeof(int64_t);
  void (*add_)(StartArgs* const&) = isa::Choose<StartArgs*, AddStarts<int64_t>, Isa::kAvx512>();
};

// Visits the windows of the index vectors [begin, end) in order, some at a time; offsets are counted
// in elements, times `scale`.
class Windows {
 public:
  // As many at a time as the first-level cache holds two blocks of, at `window_bytes` each.
  Windows(const IndexPlan& plan, const Indices& indices, int64_t begin, int64_t end, int64_t scale,
          int64_t window_bytes)
      : most_(std::clamp(kBlockBytes / window_bytes, Places::kMost / 4, Places::kMost)),
        plan_(plan),
        indices_(indices),
        scale_(scale),
        last_(plan.batch.empty() ? Digit() : plan.batch.back()),
        outer_(std::span(plan.batch).first(plan.batch.empty() ? 0 : plan.batch.size() - 1)),
        at_(begin % last_.extent),
        left_(end - begin) {
    outer_.MoveTo(begin / last_.extent);
  }

  // The next places; none at the end.
  void Next(Places* places) {
    places->count = 0;
    places->all_inside = true;
    while (left_ > 0 && places->count < most_) {
      const int64_t count = std::min({most_ - places->count, last_.extent - at_, left_});
      Append(places, count);
      left_ -= count;
      at_ += count;
      if (at_ == last_.extent) {
        outer_.Next();
        at_ = 0;
      }
    }
  }

 private:
  // `count` of them along the last digit of the batch.
  void Append(Places* places, int64_t count) {
    const int64_t first = std::exchange(places->count, places->count + count);
    const int64_t side = (outer_.out() + at_ * last_.out_stride) * scale_;
    const int64_t side_step = last_.out_stride * scale_;
    for (int64_t i = 0; plan_.components.empty() && i < count; ++i) {
      places->operand[first + i] = places->moved[first + i] = 0;
      places->side[first + i] = side + i * side_step;
    }
    int64_t starts = outer_.in() + at_ * last_.in_stride;
    for (const IndexPlan::Start& component : plan_.components) {
      places->all_inside &= indices_.AddTo(
          starts, {.starts = nullptr,
                   .step = last_.in_stride,
                   .last = component.last,
                   .stride = component.stride * scale_,
                   .operand = places->operand + first,
                   .moved = places->moved + first,
                   .side = places->side + first,
                   .first_side = side,
                   .side_step = side_step,
                   .count = count,
                   .first = &component == plan_.components.data(),
                   .outside = 0});
      starts += plan_.component_stride;
    }
    for (const IndexPlan::BatchStart& b : plan_.batch_starts) {
      const bool last = b.digit + 1 == plan_.batch.size();
      const int64_t start = last ? at_ : outer_.digit(b.digit);
      for (int64_t i = 0; i < count; ++i) {
        places->operand[first + i] += (start + (last ? i : 0)) * b.stride * scale_;
      }
    }
  }

  static constexpr int64_t kBlockBytes = int64_t{1} << 14;

  const int64_t most_;
  const IndexPlan& plan_;
  const Indices& indices_;
  int64_t scale_;
  Digit last_;
  Odometer outer_;
  int64_t at_, left_;
};

bool IsEmpty(std::span<const Digit> digits) { return Odometer::Count(digits) == 0; }

// Contiguous stretches that make up a window, as offsets in operand and window side.
struct WindowStretches {
  struct Offset {
    int64_t into, from;
  };
  int64_t length = 1;
  std::vector<Offset> offsets;

  explicit WindowStretches(const Piece& window) {
    std::span<const Digit> outer = window.digits;
    if (!outer.empty() && outer.back().in_stride == 1 && outer.back().out_stride == 1) {
      length = outer.back().extent;
      outer = outer.first(outer.size() - 1);
    }
    Odometer o(outer);
    do {
      offsets.push_back({o.in(), o.out()});
    } while (o.Next());
  }
};

// Copies kBytes, or as many as `bytes` says where kBytes is 0; short runs without a call.
template <int64_t kBytes>
void CopyRun(const std::byte* from, std::byte* to, int64_t bytes) {
  constexpr int64_t kStep = 16, kLongest = 128;
  if (kBytes > 0) {
    std::memcpy(to, from, kBytes);
  } else if (bytes > kLongest) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  } else {
    int64_t i = 0;
    for (; i + kStep <= bytes; i += kStep) std::memcpy(to + i, from + i, kStep);
    for (; i < bytes; ++i) to[i] = from[i];
  }
}

// Some windows of a scatter and the stretches of those that lie inside.
class ScatterBlock {
 public:
  explicit ScatterBlock(const WindowStretches& window)
      : offsets_(window.offsets),
        into_(static_cast<size_t>(Places::kMost) * offsets_.size()),
        from_(into_.size()) {}
  ScatterBlock(const ScatterBlock&) = delete;  // it points to parts of itself

  bool MoveOn(Windows* windows) {  // false at the end
    windows->Next(&places_);
    inside_ = {places_.operand, places_.side, static_cast<size_t>(places_.count)};
    if (offsets_.size() != 1 || !places_.all_inside) inside_ = FindInside();
    return places_.count > 0;
  }
  const Stretches& inside() const { return inside_; }

 private:
  Stretches FindInside() {
    size_t count = 0;
    for (int64_t i = 0; i < places_.count; ++i) {
      if (places_.moved[i] != 0) continue;
      for (const WindowStretches::Offset& offset : offsets_) {
        into_[count] = places_.operand[i] + offset.into;
        from_[count++] = places_.side[i] + offset.from;
      }
    }
    return {into_.data(), from_.data(), count};
  }

  Places places_;
  const std::vector<WindowStretches::Offset>& offsets_;
  std::vector<int64_t> into_, from_;
  Stretches inside_;
};

struct GatherArgs {
  const IndexPlan& plan;
  const Indices& indices;
  const WindowStretches& window;
  const std::byte* operand;
  std::byte* result;
  int64_t width;
};

// The windows [begin, end) of a gather whose stretches have kBytes, or any number (0); kAlone: one
// stretch each.
template <int64_t kBytes, bool kAlone>
void Gather(const GatherArgs& args, int64_t begin, int64_t end) {
  // Copies of its own: what is written might be anything, for all that compilers know.
  const std::byte* const operand = args.operand;
  std::byte* const result = args.result;
  const int64_t width = args.width, bytes = args.window.length * width;
  const std::span<const WindowStretches::Offset> offsets = args.window.offsets;
  Windows windows(args.plan, args.indices, begin, end, width, bytes * std::ssize(offsets));
  Places places[2];
  windows.Next(&places[0]);
  for (int now = 0; places[now].count > 0; now ^= 1) {
    const Places &here = places[now], &ahead = places[now ^ 1];
    windows.Next(&places[now ^ 1]);
    const auto copy = [&](int64_t i) {
      const std::byte* from = operand + here.operand[i];
      std::byte* to = result + here.side[i];
      if (kAlone) return CopyRun<kBytes>(from, to, bytes);
      for (const WindowStretches::Offset& s : offsets) {
        CopyRun<kBytes>(from + s.into * width, to + s.from * width, bytes);
      }
    };
    int64_t i = 0;
    for (; i < ahead.count; ++i) {
      PrefetchLines<kBytes>(operand + ahead.operand[i], bytes, false);
      copy(i);
    }
    for (; i < here.count; ++i) copy(i);
  }
}

using GatherKernel = void (*)(const GatherArgs&, int64_t begin, int64_t end);

template <bool kAlone>
GatherKernel FindGather(int64_t bytes) {
  switch (bytes) {
    case 1:
      return Gather<1, kAlone>;
    case 2:
      return Gather<2, kAlone>;
    case 4:
      return Gather<4, kAlone>;
    case 8:
      return Gather<8, kAlone>;
    case 16:
      return Gather<16, kAlone>;
    case 32:
      return Gather<32, kAlone>;
    case 64:
      return Gather<64, kAlone>;
    case 128:
      return Gather<128, kAlone>;
    default:
      return Gather<0, kAlone>;
  }
}

}  // namespace

IndexPlan PlanGather(const Instruction& gather, const Shape& operand, const Shape& indices,
                     const Shape& result) {
  return Plan({.window = gather.Ints(Attr::kOffsetDims),
               .collapsed = gather.Ints(Attr::kCollapsedSliceDims),
               .start_map = gather.Ints(Attr::kStartIndexMap),
               .operand_batch = gather.Ints(Attr::kOperandBatchingDims),
               .indices_batch = gather.Ints(Attr::kStartIndicesBatchingDims),
               .vector_dim = gather.Int(Attr::kIndexVectorDim, indices.rank())},
              operand, indices, result);
}

IndexPlan PlanScatter(const Instruction& scatter, const Shape& operand, const Shape& indices,
                      const Shape& updates) {
  return Plan({.window = scatter.Ints(Attr::kUpdateWindowDims),
               .collapsed = scatter.Ints(Attr::kInsertedWindowDims),
               .start_map = scatter.Ints(Attr::kScatterDimsToOperandDims),
               .operand_batch = scatter.Ints(Attr::kInputBatchingDims),
               .indices_batch = scatter.Ints(Attr::kScatterIndicesBatchingDims),
               .vector_dim = scatter.Int(Attr::kIndexVectorDim, indices.rank())},
              operand, indices, updates);
}

Value GatherWith(const IndexPlan& plan, const Value& operand, const Value& indices,
                 const Shape* result_shape) {
  Value result = NewLike(operand, result_shape);
  std::byte* out = result.MutableBytes().data();
  if (result.element_count() == 0) return result;
  if (operand.element_count() == 0) {
    std::memset(out, 0, result.bytes().size());
    return result;
  }
  const WindowStretches window(plan.window);
  const Indices starts(indices);
  const int64_t width = operand.element_bytes(), run = window.length * width;
  const GatherArgs args{plan, starts, window, operand.bytes().data(), out, width};
  const int64_t runs = std::ssize(window.offsets);
  const GatherKernel gather = runs == 1 ? FindGather<true>(run) : FindGather<false>(run);
  ParallelFor(Odometer::Count(plan.batch), kBytesPerThread / (run * runs) + 1,
              [&](int64_t begin, int64_t end) { gather(args, begin, end); });
  return result;
}

Status ScatterWith(const IndexPlan& plan, std::span<Value> operands, const Value& indices,
                   std::span<const Value> updates, Combiner& combiner) {
  if (IsEmpty(plan.batch) || IsEmpty(plan.window.digits)) return {};
  const WindowStretches window(plan.window);
  std::vector<std::byte*> accumulators;
  std::vector<const std::byte*> values;
  for (Value& o : operands) accumulators.push_back(o.MutableBytes().data());
  for (const Value& u : updates) values.push_back(u.bytes().data());
  std::vector<int> widths;
  for (const Value& o : operands) widths.push_back(o.element_bytes());
  const Indices starts(indices);
  const int64_t window_bytes = Odometer::Count(plan.window.digits) * widths[0];
  Windows windows(plan, starts, 0, Odometer::Count(plan.batch), 1, window_bytes);
  ScatterBlock blocks[2] = {ScatterBlock(window), ScatterBlock(window)};
  bool more = blocks[0].MoveOn(&windows);
  for (int now = 0; more; now ^= 1) {
    more = blocks[now ^ 1].MoveOn(&windows);
    HV_RETURN_IF_ERROR(combiner.CombineStretches(accumulators, values, widths, blocks[now].inside(),
                                                 blocks[now ^ 1].inside(), window.length));
  }
  return {};
}

}  // namespace hv
