// Plans once per instruction which digits move where, then visits every index vector, blocks of
// them at a time.
#include "eval/gather_scatter.h"

#include <algorithm>
#include <cstring>

#include "eval/move.h"
#include "eval/odometer.h"

namespace hv {
namespace {

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

// Visits the windows of all index vectors in order, some at a time.
class Windows {
 public:
  struct Place {
    int64_t operand, side;  // offsets of a window
    bool inside;            // or moved to lie inside
  };
  static constexpr int64_t kBlock = 256;

  Windows(const IndexPlan& plan, std::span<const int64_t> indices)
      : plan_(plan),
        indices_(indices),
        last_(plan.batch.empty() ? Digit() : plan.batch.back()),
        outer_(std::span(plan.batch).first(plan.batch.empty() ? 0 : plan.batch.size() - 1)) {}

  // The next places, along the last digit of the batch; none at the end.
  std::span<const Place> Next() {
    if (at_ == last_.extent && outer_.Next()) at_ = 0;
    const int64_t count = std::min(kBlock, last_.extent - at_);
    for (int64_t i = 0; i < count; ++i) {
      places_[i] = {0, outer_.out() + (at_ + i) * last_.out_stride, true};
    }
    const int64_t* starts = indices_.data() + outer_.in() + at_ * last_.in_stride;
    for (const IndexPlan::Start& component : plan_.components) {
      AddStarts(component, starts, count);
      starts += plan_.component_stride;
    }
    for (const IndexPlan::BatchStart& b : plan_.batch_starts) {
      const bool last = b.digit + 1 == plan_.batch.size();
      const int64_t first = last ? at_ : outer_.digit(b.digit);
      for (int64_t i = 0; i < count; ++i) {
        places_[i].operand += (first + (last ? i : 0)) * b.stride;
      }
    }
    at_ += count;
    return {places_, static_cast<size_t>(count)};
  }

 private:
  // Each start is clamped.
  void AddStarts(const IndexPlan::Start& component, const int64_t* starts, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t start = starts[i * last_.in_stride];
      const int64_t clamped = std::clamp(start, int64_t{0}, component.last);
      places_[i].inside &= clamped == start;
      places_[i].operand += clamped * component.stride;
    }
  }

  const IndexPlan& plan_;
  std::span<const int64_t> indices_;
  Digit last_;
  Odometer outer_;
  int64_t at_ = 0;
  Place places_[kBlock];
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

// Copies `count` contiguous elements; short runs without a call.
template <class T>
void CopyElements(const T* from, T* to, int64_t count) {
  if (count * static_cast<int64_t>(sizeof(T)) > 256) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  constexpr int64_t kStep = std::max<int64_t>(16 / static_cast<int64_t>(sizeof(T)), 1);
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) std::memcpy(to + i, from + i, kStep * sizeof(T));
  for (; i < count; ++i) to[i] = from[i];
}

template <class T>
void GatherTyped(Windows& windows, const Stretches& stretches, const std::byte* in,
                 std::byte* out) {
  constexpr size_t kAhead = 12;  // windows whose first line is on its way
  const T* operand = reinterpret_cast<const T*>(in);
  T* result = reinterpret_cast<T*>(out);
  for (auto places = windows.Next(); !places.empty(); places = windows.Next()) {
    for (size_t i = 0; i < places.size(); ++i) {
      __builtin_prefetch(operand + places[std::min(i + kAhead, places.size() - 1)].operand);
      for (const Stretch& s : stretches.offsets) {
        CopyElements(operand + places[i].operand + s.into, result + places[i].side + s.from,
                     stretches.length);
      }
    }
  }
}

struct Bytes16 {
  uint64_t low, high;
};

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
  Windows windows(plan, indices);
  const std::byte* in = operand.bytes().data();
  switch (operand.element_bytes()) {
    case 1:
      GatherTyped<uint8_t>(windows, stretches, in, out);
      break;
    case 2:
      GatherTyped<uint16_t>(windows, stretches, in, out);
      break;
    case 4:
      GatherTyped<uint32_t>(windows, stretches, in, out);
      break;
    case 8:
      GatherTyped<uint64_t>(windows, stretches, in, out);
      break;
    default:
      GatherTyped<Bytes16>(windows, stretches, in, out);
  }
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
  Windows windows(plan, indices);
  std::vector<Stretch> block;
  block.reserve(Windows::kBlock * stretches.offsets.size());
  for (auto places = windows.Next(); !places.empty(); places = windows.Next()) {
    block.clear();
    for (const Windows::Place& place : places) {
      if (!place.inside) continue;
      for (const Stretch& s : stretches.offsets) {
        block.push_back({place.operand + s.into, place.side + s.from});
      }
    }
    HV_RETURN_IF_ERROR(combiner.CombineStretches(accumulators, values, widths, block,
                                                 static_cast<size_t>(stretches.length)));
  }
  return {};
}

}  // namespace hv
