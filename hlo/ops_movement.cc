// Rows of the ops that only move elements to places known from shapes, attributes and start indices.
// Source: XLA operation semantics, Broadcast ... Transpose.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kDimensionsAttrs[] = {{Attr::kDimensions, kRequired}};
constexpr AttrSpec kBroadcastAttrs[] = {{Attr::kDimensions}};
constexpr AttrSpec kDynamicSliceAttrs[] = {{Attr::kDynamicSliceSizes, kRequired}};
constexpr AttrSpec kPadAttrs[] = {{Attr::kPadding, kRequired}};
constexpr AttrSpec kReshapeAttrs[] = {{Attr::kInferredDimension}};
constexpr AttrSpec kSliceAttrs[] = {{Attr::kSlice, kRequired}};

}  // namespace

constinit const OpDef kBitcastOp{
    .opcode = Opcode::kBitcast,
    .min_operands = 1,
    .max_operands = 1,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .types = "any array",
    .doc = "The same memory read with another shape and layout. (Bitcast)"};
constinit const OpDef kBroadcastOp{
    .opcode = Opcode::kBroadcast,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kBroadcastAttrs,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .types = "any array",
    .doc = "Repeats the operand along the result dimensions not listed. (BroadcastInDim)"};
constinit const OpDef kConcatenateOp{
    .opcode = Opcode::kConcatenate,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kDimensionsAttrs,
    .kernel = KernelKind::kView,
    .types = "any array",
    .doc = "Operands one after another along one dimension. (Concatenate)"};
constinit const OpDef kDynamicSliceOp{
    .opcode = Opcode::kDynamicSlice,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kDynamicSliceAttrs,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .types = "any array, integer starts",
    .doc = "A box at start indices that are clamped to fit. (DynamicSlice)"};
constinit const OpDef kDynamicUpdateSliceOp{
    .opcode = Opcode::kDynamicUpdateSlice,
    .min_operands = 2,
    .max_operands = kAnyNumber,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .types = "any array, integer starts",
    .doc = "The first operand with a box at clamped start indices replaced by the second. "
           "(DynamicUpdateSlice)"};
constinit const OpDef kPadOp{
    .opcode = Opcode::kPad,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kPadAttrs,
    .kernel = KernelKind::kView,
    .types = "any array",
    .doc = "Padding between elements, then at the edges; negative edges crop. (Pad)"};
constinit const OpDef kReshapeOp{
    .opcode = Opcode::kReshape,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kReshapeAttrs,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .types = "any array",
    .doc = "The same elements in row-major order under other dimensions. (Reshape)"};
constinit const OpDef kReverseOp{
    .opcode = Opcode::kReverse,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kDimensionsAttrs,
    .kernel = KernelKind::kView,
    .tier = Tier::kT2,
    .types = "any array",
    .doc = "Reverses the listed dimensions. (Rev)"};
constinit const OpDef kSliceOp{
    .opcode = Opcode::kSlice,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kSliceAttrs,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .types = "any array",
    .doc = "A strided box. (Slice)"};
constinit const OpDef kTransposeOp{
    .opcode = Opcode::kTranspose,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kDimensionsAttrs,
    .kernel = KernelKind::kView,
    .types = "any array",
    .doc = "Result dimension i is operand dimension dimensions[i]. (Transpose)"};

}  // namespace hv
