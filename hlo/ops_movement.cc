// Rows of the ops that only move elements to places known from shapes, attributes and start indices.
// Source: XLA operation semantics, Broadcast ... Transpose.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/checked.h"
#include "hlo/op_rows.h"
#include "hlo/rules.h"
#include "hlo/view_ops.h"

namespace hv {
namespace {

constexpr AttrSpec kDimensionsAttrs[] = {{Attr::kDimensions, kRequired}};
constexpr AttrSpec kBroadcastAttrs[] = {{Attr::kDimensions}};
constexpr AttrSpec kDynamicSliceAttrs[] = {{Attr::kDynamicSliceSizes, kRequired}};
constexpr AttrSpec kPadAttrs[] = {{Attr::kPadding, kRequired}};
constexpr AttrSpec kReshapeAttrs[] = {{Attr::kInferredDimension}};
constexpr AttrSpec kSliceAttrs[] = {{Attr::kSlice, kRequired}};

std::vector<int64_t> CopyDims(const Shape& shape) { return {shape.dims.begin(), shape.dims.end()}; }

// Same element type as operand 0, whatever the dims.
Status CheckResultType(const OpContext& context) {
  const Shape& result = *context.instruction.shape;
  if (result.IsArray() && result.type == context.operand(0).type) return {};
  return Wrong(context, "result-shape",
               fmt::format("result {} must have the element type of {}", Text(result),
                           Text(context.operand(0))));
}

Status CheckBitcast(const OpContext& context) {
  const Shape &from = context.operand(0), &to = *context.instruction.shape;
  if (from.is_buffer || to.is_buffer || from.IsTuple()) {
    return CheckResult(context, from, FloatWidth::kExact);
  }
  HV_RETURN_IF_ERROR(CheckArrays(context));
  if (!to.IsArray()) return Wrong(context, "result-shape", "result must be an array");
  const auto bits = [](const Shape& shape) { return shape.element_count * BitWidth(shape.type); };
  // Tiles and packed elements change sizes in memory; they are the layout's own affair.
  if (!from.layout_suffix.empty() || !to.layout_suffix.empty()) return {};
  if (from.ByteSize() == to.ByteSize() || bits(from) == bits(to)) return {};
  return Wrong(context, "bitcast-size",
               fmt::format("{} and {} differ in size", Text(from), Text(to)));
}

Status CheckBroadcast(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckResultType(context));
  const Shape &from = context.operand(0), &to = *context.instruction.shape;
  HV_RETURN_IF_ERROR(CheckCount(context, Attr::kDimensions, from.dims.size()));
  HV_RETURN_IF_ERROR(CheckDimensions(context, Attr::kDimensions, to.rank()));
  const Dims mapping = context.instruction.Ints(Attr::kDimensions);
  for (size_t k = 0; k < mapping.size(); ++k) {
    const int64_t size = to.dims[static_cast<size_t>(mapping[k])];
    if (from.dims[k] != size) {
      return Wrong(context, Attr::kDimensions, "broadcast-size",
                   fmt::format("operand dimension {} of size {} becomes result dimension {} of "
                               "size {}", k, from.dims[k], mapping[k], size));
    }
  }
  return {};
}

Result<const Shape*> InferConcatenate(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape& first = context.operand(0);
  HV_ASSIGN(const int64_t d, OneDimension(context, Attr::kDimensions, first.rank()));
  Wide along = 0;
  for (size_t i = 0; i < context.operand_count(); ++i) {
    HV_RETURN_IF_ERROR(CheckSameType(context, 0, i, FloatWidth::kExact));
    HV_RETURN_IF_ERROR(CheckRank(context, i, first.rank()));
    const Dims dims = context.operand(i).dims;
    for (size_t k = 0; k < dims.size(); ++k) {
      if (k != static_cast<size_t>(d) && dims[k] != first.dims[k]) {
        return Wrong(context, "operand-dims",
                     fmt::format("operands 0 and {} differ in dimension {}: {} and {}", i, k,
                                 Text(first), Text(context.operand(i))));
      }
    }
    along += dims[static_cast<size_t>(d)];
  }
  std::vector<int64_t> dims = CopyDims(first);
  dims[static_cast<size_t>(d)] = Narrow(along).value_or(INT64_MAX);
  return MakeArray(context, first.type, dims);
}

// Start operands from `first` on: one integer scalar per dimension, all of one type, or one vector.
Status CheckStarts(const OpContext& context, size_t first) {
  const size_t rank = context.operand(0).dims.size();
  const size_t count = context.operand_count() - first;
  const bool vector = count == 1 && context.operand(first).rank() == 1;
  if (vector ? context.operand(first).dims[0] != static_cast<int64_t>(rank) : count != rank) {
    return Wrong(context, "start-count",
                 fmt::format("{} start indices for rank {}",
                             vector ? context.operand(first).dims[0] : static_cast<int64_t>(count),
                             rank));
  }
  for (size_t i = first; i < first + count; ++i) {
    if (!vector) HV_RETURN_IF_ERROR(CheckScalar(context, i));
    HV_RETURN_IF_ERROR(CheckAccepted(context, i, kIntegers));
    HV_RETURN_IF_ERROR(CheckSameType(context, first, i, FloatWidth::kExact));
  }
  return {};
}

// A box of these sizes fits into the dims of operand 0.
Status CheckBox(const OpContext& context, Dims sizes) {
  const Dims dims = context.operand(0).dims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || sizes[d] > dims[d]) {
      return Wrong(context, Attr::kDynamicSliceSizes, "slice-size",
                   fmt::format("size {} in dimension {} of {}", sizes[d], d,
                               Text(context.operand(0))));
    }
  }
  return {};
}

Result<const Shape*> InferDynamicSlice(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckStarts(context, 1));
  const Dims sizes = context.instruction.Ints(Attr::kDynamicSliceSizes);
  HV_RETURN_IF_ERROR(CheckCount(context, Attr::kDynamicSliceSizes, context.operand(0).dims.size()));
  HV_RETURN_IF_ERROR(CheckBox(context, sizes));
  return MakeArray(context, context.operand(0).type, sizes);
}

Result<const Shape*> InferDynamicUpdateSlice(const OpContext& context) {
  if (context.operand(0).is_buffer) return &context.operand(0);
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckStarts(context, 2));
  HV_RETURN_IF_ERROR(CheckSameType(context, 0, 1, FloatWidth::kExact));
  HV_RETURN_IF_ERROR(CheckRank(context, 1, context.operand(0).rank()));
  HV_RETURN_IF_ERROR(CheckBox(context, context.operand(1).dims));
  return &context.operand(0);
}

Result<const Shape*> InferPad(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckScalar(context, 1));
  HV_RETURN_IF_ERROR(CheckSameType(context, 0, 1, FloatWidth::kExact));
  HV_RETURN_IF_ERROR(CheckCount(context, Attr::kPadding, context.operand(0).dims.size()));
  std::vector<int64_t> dims = CopyDims(context.operand(0));
  const std::span<const PaddingDim> padding = context.instruction.List<PaddingDim>(Attr::kPadding);
  for (size_t d = 0; d < dims.size(); ++d) {
    const PaddingDim& p = padding[d];
    const Wide size = Wide{p.low} + p.high + dims[d] +
                      Wide{std::max<int64_t>(dims[d] - 1, 0)} * p.interior;
    if (p.interior < 0 || size < 0) {
      return Wrong(context, Attr::kPadding, "padding-size",
                   fmt::format("dimension {} of size {} cannot be padded {}_{}_{}", d, dims[d],
                               p.low, p.high, p.interior));
    }
    dims[d] = Narrow(size).value_or(INT64_MAX);
  }
  return MakeArray(context, context.operand(0).type, dims);
}

Status CheckReshape(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckResultType(context));
  const Shape &from = context.operand(0), &to = *context.instruction.shape;
  if (from.element_count != to.element_count) {
    return Wrong(context, "reshape-size",
                 fmt::format("{} and {} differ in element count", Text(from), Text(to)));
  }
  if (const Attribute* inferred = context.instruction.Find(Attr::kInferredDimension)) {
    return CheckDimension(context, Attr::kInferredDimension, inferred->integer, to.rank());
  }
  return {};
}

Result<const Shape*> InferReverse(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckDimensions(context, Attr::kDimensions, context.operand(0).rank()));
  return &context.operand(0);
}

Result<const Shape*> InferSlice(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckCount(context, Attr::kSlice, context.operand(0).dims.size()));
  std::vector<int64_t> dims = CopyDims(context.operand(0));
  const std::span<const SliceDim> slice = context.instruction.List<SliceDim>(Attr::kSlice);
  for (size_t d = 0; d < dims.size(); ++d) {
    const SliceDim& s = slice[d];
    if (s.stride < 1 || s.start < 0 || s.start > s.limit || s.limit > dims[d]) {
      return Wrong(context, Attr::kSlice, "slice-bounds",
                   fmt::format("[{}:{}:{}] in dimension {} of {}", s.start, s.limit, s.stride, d,
                               Text(context.operand(0))));
    }
    const int64_t extent = s.limit - s.start;
    dims[d] = extent / s.stride + (extent % s.stride != 0 ? 1 : 0);
  }
  return MakeArray(context, context.operand(0).type, dims);
}

Result<const Shape*> InferTranspose(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape& operand = context.operand(0);
  HV_RETURN_IF_ERROR(CheckCount(context, Attr::kDimensions, operand.dims.size()));
  HV_RETURN_IF_ERROR(CheckDimensions(context, Attr::kDimensions, operand.rank()));
  std::vector<int64_t> dims;
  for (const int64_t d : context.instruction.Ints(Attr::kDimensions)) {
    dims.push_back(operand.dims[static_cast<size_t>(d)]);
  }
  return MakeArray(context, operand.type, dims);
}

}  // namespace

constinit const OpDef kBitcastOp{
    .opcode = Opcode::kBitcast,
    .min_operands = 1,
    .max_operands = 1,
    .shape_required = true,
    .rule = CheckBitcast,
    .kernel = KernelKind::kView,
    .scalar = ScalarFn::kBitcastConvert,
    .view = BitcastPieces,
    .types = "any array",
    .doc = "The same memory read with another shape and layout. (Bitcast)"};
constinit const OpDef kBroadcastOp{
    .opcode = Opcode::kBroadcast,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kBroadcastAttrs,
    .shape_required = true,
    .rule = CheckBroadcast,
    .kernel = KernelKind::kView,
    .view = BroadcastPieces,
    .types = "any array",
    .doc = "Repeats the operand along the result dimensions not listed. (BroadcastInDim)"};
constinit const OpDef kConcatenateOp{
    .opcode = Opcode::kConcatenate,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kDimensionsAttrs,
    .infer = InferConcatenate,
    .kernel = KernelKind::kView,
    .view = ConcatenateOpPieces,
    .types = "any array",
    .doc = "Operands one after another along one dimension. (Concatenate)"};
constinit const OpDef kDynamicSliceOp{
    .opcode = Opcode::kDynamicSlice,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kDynamicSliceAttrs,
    .infer = InferDynamicSlice,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .view = DynamicSlicePieces,
    .types = "any array, integer starts",
    .doc = "A box at start indices that are clamped to fit. (DynamicSlice)"};
constinit const OpDef kDynamicUpdateSliceOp{
    .opcode = Opcode::kDynamicUpdateSlice,
    .min_operands = 2,
    .max_operands = kAnyNumber,
    .infer = InferDynamicUpdateSlice,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .view = DynamicUpdateSlicePieces,
    .types = "any array, integer starts",
    .doc = "The first operand with a box at clamped start indices replaced by the second. "
           "(DynamicUpdateSlice)"};
constinit const OpDef kPadOp{
    .opcode = Opcode::kPad,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kPadAttrs,
    .infer = InferPad,
    .kernel = KernelKind::kView,
    .view = PadPieces,
    .types = "any array",
    .doc = "Padding between elements, then at the edges; negative edges crop. (Pad)"};
constinit const OpDef kReshapeOp{
    .opcode = Opcode::kReshape,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kReshapeAttrs,
    .shape_required = true,
    .rule = CheckReshape,
    .kernel = KernelKind::kView,
    .view = ReshapePieces,
    .types = "any array",
    .doc = "The same elements in row-major order under other dimensions. (Reshape)"};
constinit const OpDef kReverseOp{
    .opcode = Opcode::kReverse,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kDimensionsAttrs,
    .infer = InferReverse,
    .kernel = KernelKind::kView,
    .view = ReversePieces,
    .tier = Tier::kT2,
    .types = "any array",
    .doc = "Reverses the listed dimensions. (Rev)"};
constinit const OpDef kSliceOp{
    .opcode = Opcode::kSlice,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kSliceAttrs,
    .infer = InferSlice,
    .shape_required = true,
    .kernel = KernelKind::kView,
    .view = SlicePieces,
    .types = "any array",
    .doc = "A strided box. (Slice)"};
constinit const OpDef kTransposeOp{
    .opcode = Opcode::kTranspose,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kDimensionsAttrs,
    .infer = InferTranspose,
    .kernel = KernelKind::kView,
    .view = TransposePieces,
    .types = "any array",
    .doc = "Result dimension i is operand dimension dimensions[i]. (Transpose)"};

}  // namespace hv
