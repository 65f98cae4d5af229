// Rows of the reductions and orderings: reduce, windows, sort, topk. Source: XLA operation semantics,
// Reduce, ReduceWindow, SelectAndScatter, Sort, TopK.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/op_rows.h"
#include "hlo/rules.h"
#include "hlo/window_rules.h"

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

// Half inputs of equal dims, half scalar init values of the inputs' types; how many of each.
Result<size_t> InputCount(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const size_t n = context.operand_count() / 2;
  if (2 * n != context.operand_count()) {
    return Wrong(context, "operand-count",
                 fmt::format("{} operands are not inputs and as many init values",
                             context.operand_count()));
  }
  for (size_t i = 0; i < n; ++i) {
    HV_RETURN_IF_ERROR(CheckSameDims(context, 0, i));
    HV_RETURN_IF_ERROR(CheckScalar(context, n + i));
    HV_RETURN_IF_ERROR(CheckSameType(context, i, n + i, FloatWidth::kAny));
  }
  return n;
}

// Arrays of `dims` with the element types that to_apply returns.
Result<const Shape*> Reduced(const OpContext& context, size_t n, Dims dims) {
  HV_RETURN_IF_ERROR(CheckReducer(context, Attr::kToApply, n));
  const Shape& root = ResultOf(context, Attr::kToApply);
  std::vector<const Shape*> results;
  for (size_t i = 0; i < n; ++i) {
    const ElementType type = (n == 1 ? root : *root.elements[i]).type;
    HV_ASSIGN(const Shape* result, MakeArray(context, type, dims));
    results.push_back(result);
  }
  return TupleOrSingle(context, results);
}

Result<const Shape*> InferReduce(const OpContext& context) {
  HV_ASSIGN(const size_t n, InputCount(context));
  const Shape& input = context.operand(0);
  HV_RETURN_IF_ERROR(CheckDimensions(context, Attr::kDimensions, input.rank()));
  const Dims reduced = context.instruction.Ints(Attr::kDimensions);
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < input.rank(); ++d) {
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) {
      dims.push_back(input.dims[static_cast<size_t>(d)]);
    }
  }
  return Reduced(context, n, dims);
}

Result<const Shape*> InferReduceWindow(const OpContext& context) {
  HV_ASSIGN(const size_t n, InputCount(context));
  HV_ASSIGN(const std::vector<int64_t> dims,
            WindowPositions(context, context.operand(0).dims,
                            context.instruction.List<WindowDim>(Attr::kWindow)));
  return Reduced(context, n, dims);
}

// Operand, source (one element per window position), init value.
Result<const Shape*> InferSelectAndScatter(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape &operand = context.operand(0), &source = context.operand(1);
  HV_RETURN_IF_ERROR(CheckSameType(context, 0, 1, FloatWidth::kAny));
  HV_RETURN_IF_ERROR(CheckSameType(context, 0, 2, FloatWidth::kAny));
  HV_RETURN_IF_ERROR(CheckScalar(context, 2));
  HV_ASSIGN(const std::vector<int64_t> dims,
            WindowPositions(context, operand.dims,
                            context.instruction.List<WindowDim>(Attr::kWindow)));
  if (!std::equal(dims.begin(), dims.end(), source.dims.begin(), source.dims.end())) {
    return Wrong(context, "operand-dims",
                 fmt::format("source is {}, but the window has positions {}", Text(source),
                             Text(Dims(dims))));
  }
  const Shape* scalar = context.shapes.Scalar(operand.type);
  const Shape* pair[] = {scalar, scalar};
  HV_RETURN_IF_ERROR(CheckSignature(context, Attr::kSelect, pair,
                                    context.shapes.Scalar(ElementType::kPred), FloatWidth::kAny));
  HV_RETURN_IF_ERROR(CheckSignature(context, Attr::kScatter, pair, scalar, FloatWidth::kAny));
  return &operand;
}

// The comparator takes two elements of each operand, interleaved.
Result<const Shape*> InferSort(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(OneDimension(context, Attr::kDimensions, context.operand(0).rank()));
  std::vector<const Shape*> results, scalars;
  for (size_t i = 0; i < context.operand_count(); ++i) {
    HV_RETURN_IF_ERROR(CheckSameDims(context, 0, i));
    results.push_back(&context.operand(i));
    scalars.insert(scalars.end(), 2, context.shapes.Scalar(context.operand(i).type));
  }
  HV_RETURN_IF_ERROR(CheckSignature(context, Attr::kToApply, scalars,
                                    context.shapes.Scalar(ElementType::kPred), FloatWidth::kAny));
  return TupleOrSingle(context, results);
}

Result<const Shape*> InferTopk(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 0, kIntegers | kFloats));
  const Shape& operand = context.operand(0);
  const int64_t k = context.instruction.Int(Attr::kTopKCount, 0);
  if (operand.rank() == 0 || k < 0 || k > operand.dims.back()) {
    return Wrong(context, Attr::kTopKCount, "topk-count",
                 fmt::format("{} of the last dimension of {}", k, Text(operand)));
  }
  std::vector<int64_t> dims(operand.dims.begin(), operand.dims.end());
  dims.back() = k;
  const Shape* results[] = {context.shapes.Array(operand.type, dims),
                            context.shapes.Array(ElementType::kS32, dims)};
  return context.shapes.Tuple(results);
}

}  // namespace

constinit const OpDef kReduceOp{
    .opcode = Opcode::kReduce,
    .min_operands = 2,
    .max_operands = kAnyNumber,
    .attributes = kReduceAttrs,
    .infer = InferReduce,
    .kernel = KernelKind::kReduce,
    .exactness = Exactness::kOrder,
    .types = "any array",
    .doc = "Folds the listed dimensions, starting from the init values. (Reduce)"};
constinit const OpDef kReduceWindowOp{
    .opcode = Opcode::kReduceWindow,
    .min_operands = 2,
    .max_operands = kAnyNumber,
    .attributes = kReduceWindowAttrs,
    .infer = InferReduceWindow,
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
    .infer = InferSelectAndScatter,
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
    .infer = InferSort,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT2,
    .types = "any array",
    .doc = "Sorts along one dimension, all operands by one permutation. (Sort)"};
constinit const OpDef kTopkOp{
    .opcode = Opcode::kTopk,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kTopkAttrs,
    .infer = InferTopk,
    .kernel = KernelKind::kOpaque,
    .tier = Tier::kT2,
    .types = "integer, float",
    .doc = "The k largest (or smallest) of the last dimension with their indices. (TopK)"};

}  // namespace hv
