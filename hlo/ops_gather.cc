// Rows of gather and scatter, the movements whose places are data. Source: XLA operation semantics,
// Gather, Scatter.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kGatherAttrs[] = {{Attr::kOffsetDims, kRequired},
                                     {Attr::kCollapsedSliceDims, kRequired},
                                     {Attr::kStartIndexMap, kRequired},
                                     {Attr::kOperandBatchingDims},
                                     {Attr::kStartIndicesBatchingDims},
                                     {Attr::kIndexVectorDim, kRequired},
                                     {Attr::kSliceSizes, kRequired},
                                     {Attr::kIndicesAreSorted}};
constexpr AttrSpec kScatterAttrs[] = {{Attr::kUpdateWindowDims, kRequired},
                                      {Attr::kInsertedWindowDims, kRequired},
                                      {Attr::kScatterDimsToOperandDims, kRequired},
                                      {Attr::kInputBatchingDims},
                                      {Attr::kScatterIndicesBatchingDims},
                                      {Attr::kIndexVectorDim, kRequired},
                                      {Attr::kIndicesAreSorted},
                                      {Attr::kUniqueIndices},
                                      {Attr::kToApply, kRequired}};

bool Has(Dims list, int64_t d) { return std::find(list.begin(), list.end(), d) != list.end(); }

// What gather and scatter share: which attribute plays which part.
struct Roles {
  Attr window;           // result (or update) dimensions that run over the box
  Attr dropped;          // operand dimensions of the box with size 1 that the window leaves out
  Attr index_map;        // operand dimension of each number in an index vector
  Attr operand_batch;    // operand dimensions that go along with ...
  Attr indices_batch;    // ... these dimensions of the indices
};
constexpr Roles kGatherRoles{Attr::kOffsetDims, Attr::kCollapsedSliceDims, Attr::kStartIndexMap,
                             Attr::kOperandBatchingDims, Attr::kStartIndicesBatchingDims};
constexpr Roles kScatterRoles{Attr::kUpdateWindowDims, Attr::kInsertedWindowDims,
                              Attr::kScatterDimsToOperandDims, Attr::kInputBatchingDims,
                              Attr::kScatterIndicesBatchingDims};

bool Ascending(Dims list) {
  return std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end();
}

// Dims of the indices without the index vector, and "gather-dims" if index_vector_dim, the index map
// or the batching lists do not fit operand and indices.
Result<std::vector<int64_t>> IndexDims(const OpContext& context, const Roles& roles,
                                       const Shape& operand, const Shape& indices) {
  const Instruction& op = context.instruction;
  const int64_t vector_dim = op.Int(Attr::kIndexVectorDim, 0);
  HV_RETURN_IF_ERROR(
      CheckDimension(context, Attr::kIndexVectorDim, vector_dim, indices.rank() + 1));
  std::vector<int64_t> dims(indices.dims.begin(), indices.dims.end());
  int64_t vector_size = 1;
  if (vector_dim < indices.rank()) {
    vector_size = dims[static_cast<size_t>(vector_dim)];
    dims.erase(dims.begin() + vector_dim);
  }
  HV_RETURN_IF_ERROR(CheckDimensions(context, roles.index_map, operand.rank()));
  HV_RETURN_IF_ERROR(CheckCount(context, roles.index_map, static_cast<size_t>(vector_size)));
  HV_RETURN_IF_ERROR(CheckDimensions(context, roles.dropped, operand.rank()));
  HV_RETURN_IF_ERROR(CheckDimensions(context, roles.operand_batch, operand.rank()));
  HV_RETURN_IF_ERROR(CheckDimensions(context, roles.indices_batch, indices.rank()));
  const Dims batch = op.Ints(roles.operand_batch), along = op.Ints(roles.indices_batch);
  HV_RETURN_IF_ERROR(CheckCount(context, roles.indices_batch, batch.size()));
  for (const Attr key : {roles.window, roles.dropped, roles.operand_batch}) {
    if (!Ascending(op.Ints(key))) {
      return Wrong(context, key, "gather-dims",
                   fmt::format("{} must be ascending", Row(key).text));
    }
  }
  for (size_t j = 0; j < batch.size(); ++j) {
    const bool fits = !Has(op.Ints(roles.dropped), batch[j]) &&
                      !Has(op.Ints(roles.index_map), batch[j]) && along[j] != vector_dim &&
                      operand.dims[static_cast<size_t>(batch[j])] ==
                          indices.dims[static_cast<size_t>(along[j])];
    if (!fits) {
      return Wrong(context, roles.operand_batch, "gather-dims",
                   fmt::format("operand dimension {} cannot go along with dimension {} of the "
                               "indices", batch[j], along[j]));
    }
  }
  return dims;
}

// Operand dimensions that the window runs over, ascending.
std::vector<size_t> WindowedDims(const OpContext& context, const Roles& roles,
                                 const Shape& operand) {
  std::vector<size_t> windowed;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (Has(context.instruction.Ints(roles.dropped), d)) continue;
    if (Has(context.instruction.Ints(roles.operand_batch), d)) continue;
    windowed.push_back(static_cast<size_t>(d));
  }
  return windowed;
}

// The window dims of the result are as many as the windowed operand dims.
Status CheckWindowCount(const OpContext& context, const Roles& roles, size_t windowed,
                        size_t result_rank) {
  HV_RETURN_IF_ERROR(CheckCount(context, roles.window, windowed));
  return CheckDimensions(context, roles.window, static_cast<int64_t>(result_rank));
}

Result<const Shape*> InferGather(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 1, kIntegers));
  const Shape &operand = context.operand(0), &indices = context.operand(1);
  HV_ASSIGN(const std::vector<int64_t> batch, IndexDims(context, kGatherRoles, operand, indices));
  const auto lists = context.instruction.List<std::span<const int64_t>>(Attr::kSliceSizes);
  const Dims sizes = lists.empty() ? Dims() : lists[0];
  if (sizes.size() != operand.dims.size() || lists.size() > 1) {
    return Wrong(context, Attr::kSliceSizes, "dimension-count",
                 fmt::format("slice_sizes {} for {}", Text(sizes), Text(operand)));
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool one = Has(context.instruction.Ints(Attr::kCollapsedSliceDims), static_cast<int64_t>(d)) ||
                     Has(context.instruction.Ints(Attr::kOperandBatchingDims), static_cast<int64_t>(d));
    if (sizes[d] < 0 || sizes[d] > operand.dims[d] || (one && sizes[d] > 1)) {
      return Wrong(context, Attr::kSliceSizes, "slice-size",
                   fmt::format("size {} in dimension {} of {}", sizes[d], d, Text(operand)));
    }
  }
  const std::vector<size_t> windowed = WindowedDims(context, kGatherRoles, operand);
  const size_t rank = batch.size() + windowed.size();
  HV_RETURN_IF_ERROR(CheckWindowCount(context, kGatherRoles, windowed.size(), rank));
  const Dims window = context.instruction.Ints(Attr::kOffsetDims);
  std::vector<int64_t> dims;
  auto next_window = windowed.begin();
  auto next_batch = batch.begin();
  for (size_t d = 0; d < rank; ++d) {
    dims.push_back(Has(window, static_cast<int64_t>(d)) ? sizes[*next_window++] : *next_batch++);
  }
  return MakeArray(context, operand.type, dims);
}

// The dims of an update: those of the window fit into the operand, the others equal the indices'.
Status CheckUpdate(const OpContext& context, size_t operand, size_t update,
                   const std::vector<int64_t>& batch) {
  const Shape &target = context.operand(operand), &values = context.operand(update);
  const std::vector<size_t> windowed = WindowedDims(context, kScatterRoles, target);
  HV_RETURN_IF_ERROR(CheckSameType(context, operand, update, FloatWidth::kAny));
  HV_RETURN_IF_ERROR(
      CheckRank(context, update, static_cast<int64_t>(batch.size() + windowed.size())));
  HV_RETURN_IF_ERROR(
      CheckWindowCount(context, kScatterRoles, windowed.size(), values.dims.size()));
  const Dims window = context.instruction.Ints(Attr::kUpdateWindowDims);
  auto next_window = windowed.begin();
  auto next_batch = batch.begin();
  for (size_t d = 0; d < values.dims.size(); ++d) {
    const bool fits = Has(window, static_cast<int64_t>(d))
                          ? values.dims[d] <= target.dims[*next_window++]
                          : values.dims[d] == *next_batch++;
    if (!fits) {
      return Wrong(context, "operand-dims",
                   fmt::format("dimension {} of the update {} does not fit {} and the indices", d,
                               Text(values), Text(target)));
    }
  }
  return {};
}

// Operands: n targets, the indices, n updates.
Result<const Shape*> InferScatter(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const size_t n = context.operand_count() / 2;
  if (2 * n + 1 != context.operand_count()) {
    return Wrong(context, "operand-count",
                 fmt::format("{} operands are not n targets, indices and n updates",
                             context.operand_count()));
  }
  HV_RETURN_IF_ERROR(CheckAccepted(context, n, kIntegers));
  std::vector<const Shape*> results;
  for (size_t i = 0; i < n; ++i) {
    HV_RETURN_IF_ERROR(CheckSameDims(context, 0, i));
    results.push_back(&context.operand(i));
  }
  HV_ASSIGN(const std::vector<int64_t> batch,
            IndexDims(context, kScatterRoles, context.operand(0), context.operand(n)));
  for (size_t i = 0; i < n; ++i) {
    HV_RETURN_IF_ERROR(CheckUpdate(context, i, n + 1 + i, batch));
  }
  HV_RETURN_IF_ERROR(CheckReducer(context, Attr::kToApply, n));
  return TupleOrSingle(context, results);
}

}  // namespace

constinit const OpDef kGatherOp{
    .opcode = Opcode::kGather,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kGatherAttrs,
    .infer = InferGather,
    .kernel = KernelKind::kGather,
    .tier = Tier::kT2,
    .types = "any array, integer indices",
    .doc = "Boxes of the operand at indices that are clamped to fit. (Gather)"};
constinit const OpDef kScatterOp{
    .opcode = Opcode::kScatter,
    .min_operands = 3,
    .max_operands = kAnyNumber,
    .attributes = kScatterAttrs,
    .infer = InferScatter,
    .kernel = KernelKind::kScatter,
    .exactness = Exactness::kOrder,
    .tier = Tier::kT2,
    .types = "any array, integer indices",
    .doc = "Combines boxes of updates into the operands; boxes that do not fit are dropped. "
           "(Scatter)"};

}  // namespace hv
