// Rows of the collectives and of their native start and done forms. Source: XLA operation semantics,
// AllGather, AllReduce, AllToAll, CollectiveBroadcast, CollectivePermute, RaggedAllToAll,
// ReduceScatter.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kAllGatherAttrs[] = {{Attr::kChannelId},
                                        {Attr::kReplicaGroups},
                                        {Attr::kConstrainLayout},
                                        {Attr::kDimensions, kRequired},
                                        {Attr::kUseGlobalDeviceIds}};
constexpr AttrSpec kAllReduceAttrs[] = {{Attr::kChannelId},
                                        {Attr::kReplicaGroups},
                                        {Attr::kConstrainLayout},
                                        {Attr::kUseGlobalDeviceIds},
                                        {Attr::kMode},
                                        {Attr::kToApply, kRequired}};
constexpr AttrSpec kReduceScatterAttrs[] = {
    {Attr::kChannelId},          {Attr::kReplicaGroups},         {Attr::kConstrainLayout},
    {Attr::kUseGlobalDeviceIds}, {Attr::kDimensions, kRequired}, {Attr::kMode},
    {Attr::kToApply, kRequired}};
constexpr AttrSpec kAllToAllAttrs[] = {
    {Attr::kChannelId}, {Attr::kReplicaGroups}, {Attr::kConstrainLayout}, {Attr::kDimensions}};
constexpr AttrSpec kRaggedAllToAllAttrs[] = {
    {Attr::kChannelId}, {Attr::kReplicaGroups}, {Attr::kDimensions}};
constexpr AttrSpec kBroadcastAttrs[] = {
    {Attr::kChannelId}, {Attr::kReplicaGroups}, {Attr::kHasDynamicRoot}};
constexpr AttrSpec kPermuteAttrs[] = {
    {Attr::kChannelId}, {Attr::kSourceTargetPairs, kRequired}, {Attr::kSliceSizes}};

// The rules here need no mesh; group sizes, ids and channels are checked against the mesh by the
// validator (validator_groups.cc).

std::vector<const Shape*> OperandShapes(const OpContext& context) {
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < context.operand_count(); ++i) shapes.push_back(&context.operand(i));
  return shapes;
}

// A scalar function of two values. Operands of several types may share it, so only the kind of type
// (float, integer, ...) has to fit.
Status CheckFold(const OpContext& context) {
  const Computation& fold = context.module.At(context.instruction.Computation(Attr::kToApply));
  const ElementType type = fold.Root().shape->type;
  const Shape* scalar = fold.Root().shape;
  if (!scalar->IsScalar()) {
    return Wrong(context, Attr::kToApply, "computation-result",
                 fmt::format("{} returns {}, no scalar", fold.name, Text(*scalar)));
  }
  const Shape* scalars[] = {scalar, scalar};
  HV_RETURN_IF_ERROR(
      CheckSignature(context, Attr::kToApply, scalars, scalar, FloatWidth::kExact));
  for (size_t i = 0; i < context.operand_count(); ++i) {
    if (SameType(context.operand(i).type, type, FloatWidth::kAny)) continue;
    return Wrong(context, Attr::kToApply, "computation-parameters",
                 fmt::format("{} works on {}, but operand {} is {}", fold.name, ToString(type), i,
                             Text(context.operand(i))));
  }
  return {};
}

Status CheckAllReduce(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckFold(context));
  return CheckResult(context, *TupleOrSingle(context, OperandShapes(context)), FloatWidth::kExact);
}

// Parts of a declared shape that stand for the operands one by one; empty if it has another form.
std::vector<const Shape*> Parts(const OpContext& context, const Shape& shape) {
  if (context.operand_count() == 1) return {&shape};
  if (!shape.IsTuple() || shape.elements.size() != context.operand_count()) return {};
  return {shape.elements.begin(), shape.elements.end()};
}

// Every part of `whole` is `factor`-fold the operand in dimension d (or the other way round) and
// equal elsewhere; the factor is the same for all.
Status CheckScaled(const OpContext& context, const Shape& whole, bool grows) {
  HV_ASSIGN(const int64_t d, OneDimension(context, Attr::kDimensions, context.operand(0).rank()));
  const size_t along = static_cast<size_t>(d);
  const std::vector<const Shape*> parts = Parts(context, whole);
  if (parts.empty()) {
    return Wrong(context, "result-shape",
                 fmt::format("{} does not stand for {} operands", Text(whole),
                             context.operand_count()));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const Shape &operand = context.operand(i), &part = *parts[i];
    HV_RETURN_IF_ERROR(CheckDimension(context, Attr::kDimensions, d, operand.rank()));
    bool fits = part.IsArray() && part.type == operand.type && part.rank() == operand.rank();
    for (size_t k = 0; fits && k < operand.dims.size(); ++k) {
      const int64_t small = grows ? operand.dims[k] : part.dims[k];
      const int64_t large = grows ? part.dims[k] : operand.dims[k];
      fits = k == along ? (small == 0 ? large == 0 : large % small == 0) : small == large;
    }
    if (!fits) {
      return Wrong(context, "result-shape",
                   fmt::format("{} does not follow from {} along dimension {}", Text(part),
                               Text(operand), d));
    }
  }
  return {};
}

Status CheckAllGather(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  return CheckScaled(context, *context.instruction.shape, /*grows=*/true);
}

// A declared start shape: (operands, results, contexts...). `results` is null if it has another form.
const Shape* ResultsOfStart(const OpContext& context) {
  const Shape& shape = *context.instruction.shape;
  if (!shape.IsTuple() || shape.elements.size() < 2) return nullptr;
  const Shape* operands = TupleOrSingle(context, OperandShapes(context));
  if (!Compatible(*shape.elements[0], *operands, FloatWidth::kExact)) return nullptr;
  return shape.elements[1];
}

tl::unexpected<Error> WrongStart(const OpContext& context) {
  return Wrong(context, "result-shape",
               fmt::format("{} does not begin with (operands, results)",
                           Text(*context.instruction.shape)));
}

Status CheckAllGatherStart(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape* results = ResultsOfStart(context);
  if (results == nullptr) return WrongStart(context);
  return CheckScaled(context, *results, /*grows=*/true);
}

Status CheckReduceScatter(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckFold(context));
  for (size_t i = 1; i < context.operand_count(); ++i) {
    HV_RETURN_IF_ERROR(CheckSameType(context, 0, i, FloatWidth::kExact));
  }
  return CheckScaled(context, *context.instruction.shape, /*grows=*/false);
}

// With a dimension: one operand, shape unchanged. Without: one operand per member, all alike.
Status CheckAllToAll(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  if (!context.instruction.Has(Attr::kDimensions)) {
    const std::vector<const Shape*> shapes = OperandShapes(context);
    for (size_t i = 1; i < shapes.size(); ++i) {
      HV_RETURN_IF_ERROR(CheckSameType(context, 0, i, FloatWidth::kExact));
      HV_RETURN_IF_ERROR(CheckSameDims(context, 0, i));
    }
    return CheckResult(context, *context.shapes.Tuple(shapes), FloatWidth::kExact);
  }
  if (context.operand_count() != 1) {
    return Wrong(context, "operand-count", "with dimensions it takes one operand");
  }
  HV_RETURN_IF_ERROR(OneDimension(context, Attr::kDimensions, context.operand(0).rank()));
  return CheckResult(context, context.operand(0), FloatWidth::kExact);
}

// With a dynamic root the last operand names the root of each of the others.
Status CheckBroadcast(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  std::vector<const Shape*> data = OperandShapes(context);
  if (context.instruction.Bool(Attr::kHasDynamicRoot)) {
    const Shape& roots = *data.back();
    data.pop_back();
    if (roots.type != ElementType::kS32 || roots.rank() != 1 ||
        roots.dims[0] != static_cast<int64_t>(data.size()) || data.empty()) {
      return Wrong(context, "operand-dims",
                   fmt::format("roots are {}, not s32[{}]", Text(roots), data.size()));
    }
  }
  for (size_t i = 1; i < data.size(); ++i) {
    if (IsFloat(data[0]->type) && IsFloat(data[i]->type)) {
      HV_RETURN_IF_ERROR(CheckSameType(context, 0, i, FloatWidth::kExact));
    }
  }
  return CheckResult(context, *TupleOrSingle(context, data), FloatWidth::kExact);
}

bool IsInPlacePermute(const OpContext& context) {
  return context.instruction.Has(Attr::kSliceSizes);
}

// (input, output, input offsets, output offsets): output with slices replaced by received ones.
Status CheckInPlacePermute(const OpContext& context) {
  if (context.operand_count() != 4) {
    return Wrong(context, Attr::kSliceSizes, "operand-count",
                 fmt::format("the in-place form takes 4 operands, not {}",
                             context.operand_count()));
  }
  for (const size_t offsets : {size_t{2}, size_t{3}}) {
    if (!context.operand(offsets).IsTuple()) {
      return Wrong(context, "operand-tuple",
                   fmt::format("offsets are {}, no tuple", Text(context.operand(offsets))));
    }
  }
  return {};
}

Status CheckPermute(const OpContext& context) {
  if (IsInPlacePermute(context)) {
    HV_RETURN_IF_ERROR(CheckInPlacePermute(context));
    return CheckResult(context, context.operand(1), FloatWidth::kExact);
  }
  HV_RETURN_IF_ERROR(CheckArrays(context));
  return CheckResult(context, *TupleOrSingle(context, OperandShapes(context)), FloatWidth::kExact);
}

Status CheckPermuteStart(const OpContext& context) {
  if (IsInPlacePermute(context)) return CheckInPlacePermute(context);
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape* results = ResultsOfStart(context);
  const Shape* operands = TupleOrSingle(context, OperandShapes(context));
  if (results == nullptr || !Compatible(*results, *operands, FloatWidth::kExact)) {
    return WrongStart(context);
  }
  const Shape& shape = *context.instruction.shape;
  for (const Shape* part : shape.elements.subspan(2)) {
    if (!part->IsScalar() || !IsInteger(part->type)) return WrongStart(context);
  }
  return {};
}

// Offsets and sizes are integers of one shape: [members] or [members, updates].
Status CheckRaggedAllToAll(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckSameType(context, 0, 1, FloatWidth::kExact));
  const Shape &input = context.operand(0), &output = context.operand(1);
  if (input.rank() != output.rank() || input.rank() == 0 ||
      !std::equal(input.dims.begin() + 1, input.dims.end(), output.dims.begin() + 1)) {
    return Wrong(context, "operand-dims",
                 fmt::format("rows of {} and {} differ", Text(input), Text(output)));
  }
  for (size_t i = 2; i < 6; ++i) {
    HV_RETURN_IF_ERROR(CheckAccepted(context, i, kIntegers));
    HV_RETURN_IF_ERROR(CheckSameDims(context, 2, i));
    HV_RETURN_IF_ERROR(CheckSameType(context, 2, i, FloatWidth::kExact));
  }
  if (context.operand(2).rank() != 2) HV_RETURN_IF_ERROR(CheckRank(context, 2, 1));
  return CheckResult(context, output, FloatWidth::kExact);
}

// The value of the start, or element 1 of it. That the operand is a start is the validator's to say.
Result<const Shape*> InferAllReduceDone(const OpContext& context) { return &context.operand(0); }

Result<const Shape*> InferSecond(const OpContext& context) {
  const Shape& start = context.operand(0);
  if (start.IsTuple() && start.elements.size() >= 2) return start.elements[1];
  return Wrong(context, "operand-tuple", fmt::format("operand is {}, no start", Text(start)));
}

constexpr OpDef Collective(Opcode opcode, RuleFn rule, int min_operands, int max_operands,
                           std::span<const AttrSpec> attributes, std::string_view doc,
                           Exactness exactness = Exactness::kExact) {
  return {.opcode = opcode,
          .min_operands = min_operands,
          .max_operands = max_operands,
          .attributes = attributes,
          .shape_required = true,
          .rule = rule,
          .kernel = KernelKind::kCollective,
          .exactness = exactness,
          .types = "any array",
          .doc = doc};
}

constexpr OpDef Done(Opcode opcode, InferFn infer, std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = 1,
          .max_operands = 1,
          .infer = infer,
          .shape_required = true,
          .kernel = KernelKind::kDone,
          .types = "a start",
          .doc = doc};
}

}  // namespace

constinit const OpDef kAllGatherOp =
    Collective(Opcode::kAllGather, CheckAllGather, 1, kAnyNumber, kAllGatherAttrs,
               "Operands of the group one after another along a dimension. (AllGather)");
constinit const OpDef kAllGatherStartOp =
    Collective(Opcode::kAllGatherStart, CheckAllGatherStart, 1, kAnyNumber, kAllGatherAttrs,
               "Begins an all-gather: (operands, results). (AllGather)");
constinit const OpDef kAllGatherDoneOp =
    Done(Opcode::kAllGatherDone, InferSecond, "Ends an all-gather: element 1 of the start. (AllGather)");
constinit const OpDef kAllReduceOp =
    Collective(Opcode::kAllReduce, CheckAllReduce, 1, kAnyNumber, kAllReduceAttrs,
               "Element-wise reduction over the group, to every member. (AllReduce)",
               Exactness::kOrder);
constinit const OpDef kAllReduceStartOp =
    Collective(Opcode::kAllReduceStart, CheckAllReduce, 1, kAnyNumber, kAllReduceAttrs,
               "Begins an all-reduce; has its result's shape. (AllReduce)", Exactness::kOrder);
constinit const OpDef kAllReduceDoneOp =
    Done(Opcode::kAllReduceDone, InferAllReduceDone, "Ends an all-reduce: the start's value. (AllReduce)");
constinit const OpDef kAllToAllOp =
    Collective(Opcode::kAllToAll, CheckAllToAll, 1, kAnyNumber, kAllToAllAttrs,
               "Block j goes to member j; blocks of a dimension, or one operand each. (AllToAll)");
constinit const OpDef kCollectiveBroadcastOp =
    Collective(Opcode::kCollectiveBroadcast, CheckBroadcast, 1, kAnyNumber, kBroadcastAttrs,
               "The value of the group's root; zeros outside the groups. (CollectiveBroadcast)");
constinit const OpDef kCollectivePermuteOp =
    Collective(Opcode::kCollectivePermute, CheckPermute, 1, kAnyNumber, kPermuteAttrs,
               "Copies along source-target pairs; zeros for who is no target. "
               "(CollectivePermute)");
constinit const OpDef kCollectivePermuteStartOp =
    Collective(Opcode::kCollectivePermuteStart, CheckPermuteStart, 1, kAnyNumber, kPermuteAttrs,
               "Begins a collective-permute: (operands, results, contexts). (CollectivePermute)");
constinit const OpDef kCollectivePermuteDoneOp =
    Done(Opcode::kCollectivePermuteDone, InferSecond,
         "Ends a collective-permute: element 1 of the start. (CollectivePermute)");
constinit const OpDef kRaggedAllToAllOp =
    Collective(Opcode::kRaggedAllToAll, CheckRaggedAllToAll, 6, 6, kRaggedAllToAllAttrs,
               "Rows of run-time counts to every member, at offsets the sender names. "
               "(RaggedAllToAll)");
constinit const OpDef kReduceScatterOp =
    Collective(Opcode::kReduceScatter, CheckReduceScatter, 1, kAnyNumber, kReduceScatterAttrs,
               "Element-wise reduction over the group, block k to member k. (ReduceScatter)",
               Exactness::kOrder);

}  // namespace hv
