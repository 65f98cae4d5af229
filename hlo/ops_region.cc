// Rows of the ops that run other computations, and of custom-call. Source: XLA operation semantics,
// Call, Conditional, Fusion, Map, Scan, While, CustomCall.
#include "hlo/op_rows.h"

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

}  // namespace

constinit const OpDef kCallOp{
    .opcode = Opcode::kCall,
    .max_operands = kAnyNumber,
    .attributes = kCallAttrs,
    .kernel = KernelKind::kRegion,
    .types = "any",
    .doc = "Runs a computation on the operands. (Call)"};
constinit const OpDef kConditionalOp{
    .opcode = Opcode::kConditional,
    .min_operands = 2,
    .max_operands = kAnyNumber,
    .attributes = kConditionalAttrs,
    .kernel = KernelKind::kRegion,
    .types = "pred[] or s32[], then any",
    .doc = "Runs the selected branch; the last one if the selector is out of range. (Conditional)"};
constinit const OpDef kCustomCallOp{
    .opcode = Opcode::kCustomCall,
    .max_operands = kAnyNumber,
    .attributes = kCustomCallAttrs,
    .shape_required = true,
    .kernel = KernelKind::kOpaque,
    .exactness = Exactness::kNone,
    .tier = Tier::kX,
    .types = "any",
    .doc = "A function of a target, known by name only. (CustomCall)"};
constinit const OpDef kFusionOp{
    .opcode = Opcode::kFusion,
    .max_operands = kAnyNumber,
    .attributes = kFusionAttrs,
    .shape_required = true,
    .kernel = KernelKind::kRegion,
    .types = "any",
    .doc = "Runs a computation that the compiler made one kernel of. (Fusion)"};
constinit const OpDef kMapOp{
    .opcode = Opcode::kMap,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kMapAttrs,
    .kernel = KernelKind::kRegion,
    .tier = Tier::kT2,
    .types = "any array",
    .doc = "Applies a scalar computation to every element. (Map)"};
constinit const OpDef kScanOp{
    .opcode = Opcode::kScan,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kScanAttrs,
    .kernel = KernelKind::kRegion,
    .tier = Tier::kT3,
    .types = "any array",
    .doc = "Runs a computation along a dimension, handing carries on. (Scan)"};
constinit const OpDef kWhileOp{
    .opcode = Opcode::kWhile,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kWhileAttrs,
    .kernel = KernelKind::kRegion,
    .types = "any",
    .doc = "Runs body on the value while condition is true of it. (While)"};

}  // namespace hv
