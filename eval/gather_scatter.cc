// Plans once per instruction which digits move where, then visits every index vector.
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

// Operand offset of the window at the odometer's position, each start clamped; *inside: was that
// needed nowhere?
int64_t WindowBase(const IndexPlan& plan, const Odometer& batch, std::span<const int64_t> indices,
                   bool* inside) {
  int64_t base = 0, at = batch.in();
  *inside = true;
  for (const IndexPlan::Start& component : plan.components) {
    const int64_t start = indices[static_cast<size_t>(at)];
    const int64_t clamped = std::clamp(start, int64_t{0}, component.last);
    *inside &= clamped == start;
    base += clamped * component.stride;
    at += plan.component_stride;
  }
  for (const IndexPlan::BatchStart& b : plan.batch_starts) base += batch.digit(b.digit) * b.stride;
  return base;
}

bool IsEmpty(std::span<const Digit> digits) { return Odometer::Count(digits) == 0; }

// Contiguous stretches that make up a window, as offsets in operand and window side.
struct Stretches {
  struct Offsets {
    int64_t operand, side;
  };
  int64_t length = 1;
  std::vector<Offsets> offsets;

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
  const auto width = static_cast<size_t>(operand.element_bytes());
  if (result.element_count() == 0) return result;
  if (operand.element_count() == 0) {
    std::memset(out, 0, result.bytes().size());
    return result;
  }
  const bool one_run = IsIdentity(plan.window, Odometer::Count(plan.window.digits));
  const size_t run_bytes = static_cast<size_t>(Odometer::Count(plan.window.digits)) * width;
  Piece piece = plan.window;
  Odometer batch(plan.batch);
  bool inside = true;
  do {
    piece.in_base = WindowBase(plan, batch, indices, &inside);
    piece.out_base = batch.out();
    if (one_run) {
      std::memcpy(out + static_cast<size_t>(piece.out_base) * width,
                  operand.bytes().data() + static_cast<size_t>(piece.in_base) * width, run_bytes);
    } else {
      CopyPiece(piece, operand.bytes().data(), out, operand.element_bytes());
    }
  } while (batch.Next());
  return result;
}

Status ScatterWith(const IndexPlan& plan, std::span<Value> operands,
                   std::span<const int64_t> indices, std::span<const Value> updates,
                   Combiner& combiner) {
  if (IsEmpty(plan.batch) || IsEmpty(plan.window.digits)) return {};
  const Stretches stretches(plan.window);
  std::vector<std::byte*> results;
  for (Value& o : operands) results.push_back(o.MutableBytes().data());
  std::vector<std::byte*> accumulators(operands.size());
  std::vector<const std::byte*> values(operands.size());
  Odometer batch(plan.batch);
  bool inside = true;
  do {
    const int64_t base = WindowBase(plan, batch, indices, &inside);
    if (!inside) continue;
    for (const Stretches::Offsets& s : stretches.offsets) {
      for (size_t k = 0; k < operands.size(); ++k) {
        const auto width = static_cast<size_t>(operands[k].element_bytes());
        accumulators[k] = results[k] + static_cast<size_t>(base + s.operand) * width;
        values[k] = updates[k].bytes().data() + static_cast<size_t>(batch.out() + s.side) * width;
      }
      HV_RETURN_IF_ERROR(
          combiner.Combine(accumulators, values, static_cast<size_t>(stretches.length)));
    }
  } while (batch.Next());
  return {};
}

}  // namespace hv
