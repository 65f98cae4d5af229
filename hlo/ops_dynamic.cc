// Rows of the ops about sizes known at run time only. Source: XLA operation semantics, DynamicReshape,
// GetDimensionSize, SetDimensionSize.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kDimensionsAttrs[] = {{Attr::kDimensions, kRequired}};

}  // namespace

constinit const OpDef kDynamicReshapeOp{
    .opcode = Opcode::kDynamicReshape,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .shape_required = true,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT3,
    .types = "any array, s32[] sizes",
    .doc = "Reshape with sizes given as operands; they must equal the bounds. (DynamicReshape)"};
constinit const OpDef kGetDimensionSizeOp{
    .opcode = Opcode::kGetDimensionSize,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kDimensionsAttrs,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT3,
    .types = "any array",
    .doc = "Size of one dimension as s32[]. (GetDimensionSize)"};
constinit const OpDef kSetDimensionSizeOp{
    .opcode = Opcode::kSetDimensionSize,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kDimensionsAttrs,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT3,
    .types = "any array, s32[]",
    .doc = "Marks how much of one dimension is valid. (SetDimensionSize)"};

}  // namespace hv
