// Rows of the ops about sizes known at run time only. Source: XLA operation semantics, DynamicReshape,
// GetDimensionSize, SetDimensionSize.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kDimensionsAttrs[] = {{Attr::kDimensions, kRequired}};

Status CheckDynamicReshape(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape &from = context.operand(0), &to = *context.instruction.shape;
  if (!to.IsArray() || to.type != from.type || to.element_count != from.element_count) {
    return Wrong(context, "reshape-size",
                 fmt::format("{} cannot become {}", Text(from), Text(to)));
  }
  if (context.operand_count() - 1 != to.dims.size()) {
    return Wrong(context, "operand-count",
                 fmt::format("{} sizes for rank {}", context.operand_count() - 1, to.rank()));
  }
  for (size_t i = 1; i < context.operand_count(); ++i) {
    HV_RETURN_IF_ERROR(CheckScalar(context, i));
    HV_RETURN_IF_ERROR(CheckAccepted(context, i, kIntegers));
  }
  return {};
}

Result<const Shape*> InferGetDimensionSize(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(OneDimension(context, Attr::kDimensions, context.operand(0).rank()));
  return context.shapes.Scalar(ElementType::kS32);
}

// The operand with one dimension marked as dynamic.
Result<const Shape*> InferSetDimensionSize(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape& operand = context.operand(0);
  HV_ASSIGN(const int64_t d, OneDimension(context, Attr::kDimensions, operand.rank()));
  HV_RETURN_IF_ERROR(CheckScalar(context, 1));
  if (context.operand(1).type != ElementType::kS32) {
    return Wrong(context, "operand-type", "the size must be s32");
  }
  const auto dynamic = std::make_unique<bool[]>(operand.dims.size());
  std::copy(operand.dynamic.begin(), operand.dynamic.end(), dynamic.get());
  dynamic[static_cast<size_t>(d)] = true;
  Shape shape = operand;
  shape.dynamic = {dynamic.get(), operand.dims.size()};
  return context.shapes.Intern(shape);
}

}  // namespace

constinit const OpDef kDynamicReshapeOp{
    .opcode = Opcode::kDynamicReshape,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .shape_required = true,
    .rule = CheckDynamicReshape,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT3,
    .types = "any array, s32[] sizes",
    .doc = "Reshape with sizes given as operands; they must equal the bounds. (DynamicReshape)"};
constinit const OpDef kGetDimensionSizeOp{
    .opcode = Opcode::kGetDimensionSize,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kDimensionsAttrs,
    .infer = InferGetDimensionSize,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT3,
    .types = "any array",
    .doc = "Size of one dimension as s32[]. (GetDimensionSize)"};
constinit const OpDef kSetDimensionSizeOp{
    .opcode = Opcode::kSetDimensionSize,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kDimensionsAttrs,
    .infer = InferSetDimensionSize,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT3,
    .types = "any array, s32[]",
    .doc = "Marks how much of one dimension is valid. (SetDimensionSize)"};

}  // namespace hv
