// Rows of the ops that run other computations, and of custom-call. Source: XLA operation semantics,
// Call, Conditional, Fusion, Map, Scan, While, CustomCall.
#include <fmt/format.h>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kCallAttrs[] = {{Attr::kToApply, kRequired}, {Attr::kIsComposite}};
constexpr AttrSpec kConditionalAttrs[] = {
    {Attr::kTrueComputation}, {Attr::kFalseComputation}, {Attr::kBranchComputations}};
constexpr AttrSpec kCustomCallAttrs[] = {{Attr::kWindow},
                                         {Attr::kDimLabels},
                                         {Attr::kFeatureGroupCount},
                                         {Attr::kBatchGroupCount},
                                         {Attr::kOperandPrecision},
                                         {Attr::kPaddingType},
                                         {Attr::kCustomCallTarget, kRequired},
                                         {Attr::kOperandLayoutConstraints},
                                         {Attr::kHasSideEffect},
                                         {Attr::kLiteralValue},
                                         {Attr::kOutputOperandAliasing},
                                         {Attr::kSchedule},
                                         {Attr::kApiVersion},
                                         {Attr::kToApply},
                                         {Attr::kCalledComputations}};
constexpr AttrSpec kFusionAttrs[] = {
    {Attr::kFusionKind, kRequired}, {Attr::kOutputOperandAliasing}, {Attr::kCalls, kRequired}};
constexpr AttrSpec kMapAttrs[] = {{Attr::kDimensions}, {Attr::kToApply, kRequired}};
constexpr AttrSpec kScanAttrs[] = {{Attr::kDimensions, kRequired},
                                   {Attr::kNumCarries, kRequired},
                                   {Attr::kIsReverse},
                                   {Attr::kIsAssociative},
                                   {Attr::kToApply, kRequired}};
constexpr AttrSpec kWhileAttrs[] = {{Attr::kCondition, kRequired}, {Attr::kBody, kRequired}};

std::vector<const Shape*> OperandShapes(const OpContext& context) {
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < context.operand_count(); ++i) shapes.push_back(&context.operand(i));
  return shapes;
}

Result<const Shape*> InferCall(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckSignature(context, Attr::kToApply, OperandShapes(context), nullptr,
                                    FloatWidth::kExact));
  return &ResultOf(context, Attr::kToApply);
}

Result<const Shape*> InferFusion(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckSignature(context, Attr::kCalls, OperandShapes(context), nullptr,
                                    FloatWidth::kExact));
  return &ResultOf(context, Attr::kCalls);
}

// The branches, in order; empty if the attributes do not fit the selector.
std::vector<ComputationIndex> Branches(const OpContext& context) {
  const Instruction& instruction = context.instruction;
  const auto list = instruction.List<ComputationIndex>(Attr::kBranchComputations);
  const bool two_way =
      instruction.Has(Attr::kTrueComputation) && instruction.Has(Attr::kFalseComputation);
  const bool either =
      instruction.Has(Attr::kTrueComputation) || instruction.Has(Attr::kFalseComputation);
  if (IsPred(context.operand(0).type)) {
    if (!two_way || !list.empty()) return {};
    return {instruction.Computation(Attr::kTrueComputation),
            instruction.Computation(Attr::kFalseComputation)};
  }
  if (either) return {};
  return {list.begin(), list.end()};
}

Result<const Shape*> InferConditional(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckScalar(context, 0));
  if (!IsPred(context.operand(0).type) && context.operand(0).type != ElementType::kS32) {
    return Wrong(context, "operand-type", "the selector must be pred[] or s32[]");
  }
  const std::vector<ComputationIndex> branches = Branches(context);
  if (branches.empty() || branches.size() + 1 != context.operand_count()) {
    return Wrong(context, "conditional-branches",
                 fmt::format("{} operands do not fit the branches: a pred selector needs "
                             "true_computation and false_computation, s32 branch_computations, "
                             "and each branch one operand",
                             context.operand_count()));
  }
  const Shape* result = context.module.At(branches[0]).Root().shape;
  const bool named = IsPred(context.operand(0).type);
  for (size_t k = 0; k < branches.size(); ++k) {
    const Shape* argument[] = {&context.operand(k + 1)};
    const Attr key = !named ? Attr::kBranchComputations
                            : (k == 0 ? Attr::kTrueComputation : Attr::kFalseComputation);
    HV_RETURN_IF_ERROR(
        CheckSignature(context, key, branches[k], argument, result, FloatWidth::kExact));
  }
  return result;
}

Status CheckCustomCall(const OpContext& context) {
  const Attribute* constraints = context.instruction.Find(Attr::kOperandLayoutConstraints);
  if (constraints != nullptr && constraints->size != context.operand_count()) {
    return Wrong(context, Attr::kOperandLayoutConstraints, "operand-count",
                 fmt::format("{} layout constraints for {} operands", constraints->size,
                             context.operand_count()));
  }
  if (context.instruction.Has(Attr::kToApply) &&
      context.instruction.Has(Attr::kCalledComputations)) {
    return Wrong(context, Attr::kCalledComputations, "attribute-conflict",
                 "takes to_apply or called_computations, not both");
  }
  return {};
}

Result<const Shape*> InferMap(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  std::vector<const Shape*> scalars;
  for (size_t i = 0; i < context.operand_count(); ++i) {
    HV_RETURN_IF_ERROR(CheckSameDims(context, 0, i));
    scalars.push_back(context.shapes.Scalar(context.operand(i).type));
  }
  const Dims listed = context.instruction.Ints(Attr::kDimensions);
  for (size_t d = 0; d < listed.size(); ++d) {
    if (listed[d] != static_cast<int64_t>(d)) {
      return Wrong(context, Attr::kDimensions, "map-dimensions", "dimensions must be 0,1,2,...");
    }
  }
  if (context.instruction.Has(Attr::kDimensions)) {
    HV_RETURN_IF_ERROR(CheckCount(context, Attr::kDimensions, context.operand(0).dims.size()));
  }
  HV_RETURN_IF_ERROR(
      CheckSignature(context, Attr::kToApply, scalars, nullptr, FloatWidth::kAny));
  const Shape& result = ResultOf(context, Attr::kToApply);
  if (!result.IsScalar()) {
    return Wrong(context, Attr::kToApply, "computation-result",
                 fmt::format("returns {}, no scalar", Text(result)));
  }
  return WithType(context, context.operand(0), result.type);
}

// Operands: inputs, then initial carries. to_apply takes slices of the inputs without dimension d
// and the carries; it returns slices of the outputs and the next carries.
Result<const Shape*> InferScan(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_ASSIGN(const int64_t d, OneDimension(context, Attr::kDimensions, context.operand(0).rank()));
  const int64_t carries = context.instruction.Int(Attr::kNumCarries, 0);
  const int64_t inputs = static_cast<int64_t>(context.operand_count()) - carries;
  if (carries < 0 || inputs < 1) {
    return Wrong(context, Attr::kNumCarries, "scan-carries",
                 fmt::format("{} carries of {} operands", carries, context.operand_count()));
  }
  const int64_t steps = context.operand(0).dims[static_cast<size_t>(d)];
  std::vector<const Shape*> parameters = OperandShapes(context);
  for (size_t i = 0; i < static_cast<size_t>(inputs); ++i) {
    const Shape& input = *parameters[i];
    if (d >= input.rank() || input.dims[static_cast<size_t>(d)] != steps) {
      return Wrong(context, "operand-dims",
                   fmt::format("input {} is {}, but dimension {} must have size {}", i,
                               Text(input), d, steps));
    }
    std::vector<int64_t> dims(input.dims.begin(), input.dims.end());
    dims.erase(dims.begin() + d);
    HV_ASSIGN(parameters[i], MakeArray(context, input.type, dims));
  }
  HV_RETURN_IF_ERROR(
      CheckSignature(context, Attr::kToApply, parameters, nullptr, FloatWidth::kExact));
  const Shape& root = ResultOf(context, Attr::kToApply);
  std::vector<const Shape*> results{&root};
  if (root.IsTuple()) results.assign(root.elements.begin(), root.elements.end());
  if (static_cast<int64_t>(results.size()) < carries) {
    return Wrong(context, Attr::kToApply, "computation-result",
                 fmt::format("returns {}, with fewer than {} carries", Text(root), carries));
  }
  for (size_t i = 0; i + static_cast<size_t>(carries) < results.size(); ++i) {
    std::vector<int64_t> dims(results[i]->dims.begin(), results[i]->dims.end());
    if (!results[i]->IsArray() || d > results[i]->rank()) {
      return Wrong(context, Attr::kToApply, "computation-result",
                   fmt::format("output {} cannot be stacked along dimension {}",
                               Text(*results[i]), d));
    }
    dims.insert(dims.begin() + d, steps);
    HV_ASSIGN(results[i], MakeArray(context, results[i]->type, dims));
  }
  return TupleOrSingle(context, results);
}

Result<const Shape*> InferWhile(const OpContext& context) {
  const Shape* state[] = {&context.operand(0)};
  const Shape* pred = context.shapes.Scalar(ElementType::kPred);
  HV_RETURN_IF_ERROR(CheckSignature(context, Attr::kCondition, state, pred, FloatWidth::kExact));
  HV_RETURN_IF_ERROR(CheckSignature(context, Attr::kBody, state, state[0], FloatWidth::kExact));
  return state[0];
}

}  // namespace

constinit const OpDef kCallOp{
    .opcode = Opcode::kCall,
    .max_operands = kAnyNumber,
    .attributes = kCallAttrs,
    .infer = InferCall,
    .kernel = KernelKind::kRegion,
    .types = "any",
    .doc = "Runs a computation on the operands. (Call)"};
constinit const OpDef kConditionalOp{
    .opcode = Opcode::kConditional,
    .min_operands = 2,
    .max_operands = kAnyNumber,
    .attributes = kConditionalAttrs,
    .infer = InferConditional,
    .kernel = KernelKind::kRegion,
    .types = "pred[] or s32[], then any",
    .doc = "Runs the selected branch; the last one if the selector is out of range. (Conditional)"};
constinit const OpDef kCustomCallOp{
    .opcode = Opcode::kCustomCall,
    .max_operands = kAnyNumber,
    .attributes = kCustomCallAttrs,
    .shape_required = true,
    .rule = CheckCustomCall,
    .kernel = KernelKind::kOpaque,
    .exactness = Exactness::kNone,
    .tier = Tier::kX,
    .types = "any",
    .doc = "A function of a target, known by name only. (CustomCall)"};
constinit const OpDef kFusionOp{
    .opcode = Opcode::kFusion,
    .max_operands = kAnyNumber,
    .attributes = kFusionAttrs,
    .infer = InferFusion,
    .shape_required = true,
    .kernel = KernelKind::kRegion,
    .types = "any",
    .doc = "Runs a computation that the compiler made one kernel of. (Fusion)"};
constinit const OpDef kMapOp{
    .opcode = Opcode::kMap,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kMapAttrs,
    .infer = InferMap,
    .kernel = KernelKind::kRegion,
    .tier = Tier::kT2,
    .types = "any array",
    .doc = "Applies a scalar computation to every element. (Map)"};
constinit const OpDef kScanOp{
    .opcode = Opcode::kScan,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kScanAttrs,
    .infer = InferScan,
    .kernel = KernelKind::kRegion,
    .tier = Tier::kT3,
    .types = "any array",
    .doc = "Runs a computation along a dimension, handing carries on. (Scan)"};
constinit const OpDef kWhileOp{
    .opcode = Opcode::kWhile,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kWhileAttrs,
    .infer = InferWhile,
    .kernel = KernelKind::kRegion,
    .types = "any",
    .doc = "Runs body on the value while condition is true of it. (While)"};

}  // namespace hv
