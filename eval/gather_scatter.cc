// Plans once per instruction which digits move where, then visits every index vector, blocks of
// them at a time.
#include "eval/gather_scatter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/parallel.h"
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
  static constexpr int64_t kMost = 64;
  int64_t count = 0;
  int64_t operand[kMost], side[kMost];  // offsets
  int64_t moved[kMost];                 // is not 0 where a window would not lie inside
};

// What one component of index vectors adds to the places of their windows: starts are clamped.
struct StartArgs {
  const int64_t* starts;
  int64_t step, last, stride;
  int64_t *operand, *moved;
  int64_t count;
};

HV_INLINE void AddStarts(const StartArgs& a) {
  const auto add = [&](int64_t step) {
    const int64_t* __restrict starts = a.starts;
    int64_t *__restrict operand = a.operand, *__restrict moved = a.moved;
    for (int64_t i = 0; i < a.count; ++i) {
      const int64_t start = starts[i * step];
      const int64_t clamped = start < 0 ? 0 : start > a.last ? a.last : start;
      operand[i] += clamped * a.stride;
      moved[i] |= clamped ^ start;
    }
  };
  a.step == 1 ? add(1) : add(a.step);
}

// Visits the windows of the index vectors [begin, end) in order, some at a time; offsets are counted
// in elements, times `scale`.
class Windows {
 public:
  Windows(const IndexPlan& plan, std::span<const int64_t> indices, int64_t begin, int64_t end,
          int64_t scale)
      : plan_(plan),
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
    while (left_ > 0 && places->count < Places::kMost) {
      const int64_t count = std::min({Places::kMost - places->count, last_.extent - at_, left_});
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
    for (int64_t i = 0; i < count; ++i) {
      places->operand[first + i] = 0;
      places->side[first + i] = (outer_.out() + (at_ + i) * last_.out_stride) * scale_;
      places->moved[first + i] = 0;
    }
    const int64_t* starts = indices_.data() + outer_.in() + at_ * last_.in_stride;
    for (const IndexPlan::Start& component : plan_.components) {
      add_starts_({starts, last_.in_stride, component.last, component.stride * scale_,
                   places->operand + first, places->moved + first, count});
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

  const IndexPlan& plan_;
  std::span<const int64_t> indices_;
  int64_t scale_;
  Digit last_;
  Odometer outer_;
  int64_t at_, left_;
  void (*const add_starts_)(const StartArgs&) =
      isa::Choose<StartArgs, AddStarts, Isa::kAvx512>();
};

bool IsEmpty(std::span<const Digit> digits) { return Odometer::Count(digits) == 0; }

// Contiguous stretches that make up a window, as offsets in operand and window side.
struct Stretches {
  int64_t length = 1;
  std::vector<Stretch> offsets;

  explicit Stretches(const Piece& window) {
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

// The stretches of windows that lie inside; returns how many.
size_t StretchesInside(const Places& places, std::span<const Stretch> offsets, Stretch* out) {
  const int64_t windows = places.count;
  size_t count = 0;
  if (offsets.size() == 1) {  // at the window's own place
    for (int64_t i = 0; i < windows; ++i) {
      out[count] = {places.operand[i], places.side[i]};
      count += places.moved[i] == 0;
    }
    return count;
  }
  for (int64_t i = 0; i < windows; ++i) {
    for (size_t s = 0; places.moved[i] == 0 && s < offsets.size(); ++s) {
      out[count++] = {places.operand[i] + offsets[s].into, places.side[i] + offsets[s].from};
    }
  }
  return count;
}

struct GatherArgs {
  const IndexPlan& plan;
  std::span<const int64_t> indices;
  const Stretches& stretches;
  const std::byte* operand;
  std::byte* result;
  int64_t width;
};

// The windows [begin, end) of a gather whose stretches have kBytes, or any number (0); kAlone: one
// stretch each.
template <int64_t kBytes, bool kAlone>
void Gather(const GatherArgs& args, int64_t begin, int64_t end) {
  // Copies of its own: what is written might be anything, for all that compilers know.
  const auto [plan, indices, stretches, operand, result, width] = args;
  const std::span<const Stretch> offsets = stretches.offsets;
  const int64_t bytes = stretches.length * width;
  Windows windows(plan, indices, begin, end, width);
  Places places[2];
  windows.Next(&places[0]);
  for (int now = 0; places[now].count > 0; now ^= 1) {
    const Places &here = places[now], &ahead = places[now ^ 1];
    windows.Next(&places[now ^ 1]);
    const auto copy = [&](int64_t i) {
      const std::byte* from = operand + here.operand[i];
      std::byte* to = result + here.side[i];
      if (kAlone) return CopyRun<kBytes>(from, to, bytes);
      for (const Stretch& s : offsets) {
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

Value GatherWith(const IndexPlan& plan, const Value& operand, std::span<const int64_t> indices,
                 const Shape* result_shape) {
  Value result = NewLike(operand, result_shape);
  std::byte* out = result.MutableBytes().data();
  if (result.element_count() == 0) return result;
  if (operand.element_count() == 0) {
    std::memset(out, 0, result.bytes().size());
    return result;
  }
  const Stretches stretches(plan.window);
  const int64_t width = operand.element_bytes(), run = stretches.length * width;
  const GatherArgs args{plan, indices, stretches, operand.bytes().data(), out, width};
  const int64_t runs = std::ssize(stretches.offsets);
  const GatherKernel gather = runs == 1 ? FindGather<true>(run) : FindGather<false>(run);
  ParallelFor(Odometer::Count(plan.batch), kBytesPerThread / (run * runs) + 1,
              [&](int64_t begin, int64_t end) { gather(args, begin, end); });
  return result;
}

Status ScatterWith(const IndexPlan& plan, std::span<Value> operands,
                   std::span<const int64_t> indices, std::span<const Value> updates,
                   Combiner& combiner) {
  if (IsEmpty(plan.batch) || IsEmpty(plan.window.digits)) return {};
  const Stretches stretches(plan.window);
  std::vector<std::byte*> accumulators;
  std::vector<const std::byte*> values;
  for (Value& o : operands) accumulators.push_back(o.MutableBytes().data());
  for (const Value& u : updates) values.push_back(u.bytes().data());
  std::vector<int> widths;
  for (const Value& o : operands) widths.push_back(o.element_bytes());
  const size_t most = static_cast<size_t>(Places::kMost) * stretches.offsets.size();
  std::vector<Stretch> now(most), next(most);
  Windows windows(plan, indices, 0, Odometer::Count(plan.batch), 1);
  Places places;
  const auto find_next = [&] {
    windows.Next(&places);
    return StretchesInside(places, stretches.offsets, next.data());
  };
  // All windows of a block may lie outside: the places tell the end.
  size_t to_come = find_next();
  while (places.count > 0) {
    now.swap(next);
    const size_t count = std::exchange(to_come, find_next());
    HV_RETURN_IF_ERROR(combiner.CombineStretches(accumulators, values, widths,
                                                 std::span(now).first(count),
                                                 std::span(next).first(to_come), stretches.length));
  }
  return {};
}

}  // namespace hv
