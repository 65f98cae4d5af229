// Rows of the reductions and orderings: reduce, windows, sort, topk. Source: XLA operation semantics,
// Reduce, ReduceWindow, SelectAndScatter, Sort, TopK.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kReduceAttrs[] = {{Attr::kDimensions, kRequired}, {Attr::kToApply, kRequired}};
constexpr AttrSpec kReduceWindowAttrs[] = {{Attr::kWindow}, {Attr::kToApply, kRequired}};
constexpr AttrSpec kSelectAndScatterAttrs[] = {
    {Attr::kWindow}, {Attr::kSelect, kRequired}, {Attr::kScatter, kRequired}};
constexpr AttrSpec kSortAttrs[] = {
    {Attr::kDimensions, kRequired}, {Attr::kIsStable}, {Attr::kToApply, kRequired}};
constexpr AttrSpec kTopkAttrs[] = {
    {Attr::kTopKCount, kRequired}, {Attr::kLargest}, {Attr::kIsStable}};

}  // namespace

constinit const OpDef kReduceOp{
    .opcode = Opcode::kReduce,
    .min_operands = 2,
    .max_operands = kAnyNumber,
    .attributes = kReduceAttrs,
    .kernel = KernelKind::kReduce,
    .exactness = Exactness::kOrder,
    .types = "any array",
    .doc = "Folds the listed dimensions, starting from the init values. (Reduce)"};
constinit const OpDef kReduceWindowOp{
    .opcode = Opcode::kReduceWindow,
    .min_operands = 2,
    .max_operands = kAnyNumber,
    .attributes = kReduceWindowAttrs,
    .kernel = KernelKind::kWindow,
    .exactness = Exactness::kOrder,
    .tier = Tier::kT2,
    .types = "any array",
    .doc = "Folds every window; padding and holes contribute nothing. (ReduceWindow)"};
constinit const OpDef kSelectAndScatterOp{
    .opcode = Opcode::kSelectAndScatter,
    .min_operands = 3,
    .max_operands = 3,
    .attributes = kSelectAndScatterAttrs,
    .kernel = KernelKind::kWindow,
    .exactness = Exactness::kOrder,
    .tier = Tier::kT3,
    .types = "any array",
    .doc = "Scatters each source element to the selected place of its window. "
           "(SelectAndScatter)"};
constinit const OpDef kSortOp{
    .opcode = Opcode::kSort,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kSortAttrs,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT2,
    .types = "any array",
    .doc = "Sorts along one dimension, all operands by one permutation. (Sort)"};
constinit const OpDef kTopkOp{
    .opcode = Opcode::kTopk,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kTopkAttrs,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT2,
    .types = "integer, float",
    .doc = "The k largest (or smallest) of the last dimension with their indices. (TopK)"};

}  // namespace hv
