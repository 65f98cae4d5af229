// gather and scatter over elements of any width: indices are concrete, elements are only moved or
// combined. Source: hlo_ops 3.11 and 3.12.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "eval/combiner.h"
#include "eval/value.h"
#include "hlo/module.h"
#include "hlo/view.h"

namespace hv {

// The index algebra that both share. "Window side" is gather's result and scatter's updates.
struct IndexPlan {
  Piece window;              // in: operand, out: window side; bases are 0
  std::vector<Digit> batch;  // in: indices (component 0), out: window side; row-major
  // Where a window starts along one operand dimension: starts run from 0 to `last`, `stride` apart.
  struct Start {
    int64_t last = 0, stride = 0;
  };
  std::vector<Start> components;  // by component of the index vector
  int64_t component_stride = 0;   // in the indices
  struct BatchStart {
    size_t digit;    // of `batch`: its position is the start
    int64_t stride;  // in the operand
  };
  std::vector<BatchStart> batch_starts;
};
IndexPlan PlanGather(const Instruction& gather, const Shape& operand, const Shape& indices,
                     const Shape& result);
IndexPlan PlanScatter(const Instruction& scatter, const Shape& operand, const Shape& indices,
                      const Shape& updates);

// Starts are clamped so that windows lie inside; an empty operand yields zeros.
Value GatherWith(const IndexPlan& plan, const Value& operand, const Value& indices,
                 const Shape* result);

// Windows that do not lie inside are skipped whole; the others are combined in order.
// `operands` are the results-to-be, unique; updates have their encodings and widths.
Status ScatterWith(const IndexPlan& plan, std::span<Value> operands, const Value& indices,
                   std::span<const Value> updates, Combiner& combiner);

}  // namespace hv
