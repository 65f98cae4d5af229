// Rows of gather and scatter, the movements whose places are data. Source: XLA operation semantics,
// Gather, Scatter.
#include "hlo/op_rows.h"

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

}  // namespace

constinit const OpDef kGatherOp{
    .opcode = Opcode::kGather,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kGatherAttrs,
    .kernel = KernelKind::kGather,
    .tier = Tier::kT2,
    .types = "any array, integer indices",
    .doc = "Boxes of the operand at indices that are clamped to fit. (Gather)"};
constinit const OpDef kScatterOp{
    .opcode = Opcode::kScatter,
    .min_operands = 3,
    .max_operands = kAnyNumber,
    .attributes = kScatterAttrs,
    .kernel = KernelKind::kScatter,
    .exactness = Exactness::kOrder,
    .tier = Tier::kT2,
    .types = "any array, integer indices",
    .doc = "Combines boxes of updates into the operands; boxes that do not fit are dropped. "
           "(Scatter)"};

}  // namespace hv
