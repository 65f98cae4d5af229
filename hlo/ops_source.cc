// Rows of the ops without data operands, and of those that talk to a host. Source: XLA operation
// semantics, Parameter, Constant, Iota, AfterAll, Infeed, Outfeed.
#include <fmt/format.h>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kIotaAttrs[] = {{Attr::kIotaDimension, kRequired}};
constexpr AttrSpec kInfeedAttrs[] = {{Attr::kInfeedConfig}};
constexpr AttrSpec kOutfeedAttrs[] = {{Attr::kOutfeedShape}, {Attr::kOutfeedConfig}};

Result<const Shape*> InferAfterAll(const OpContext& context) {
  for (size_t i = 0; i < context.operand_count(); ++i) {
    if (!context.operand(i).IsToken()) {
      return Wrong(context, "operand-token",
                   fmt::format("operand {} is {}, no token", i, Text(context.operand(i))));
    }
  }
  return context.shapes.Token();
}

Status CheckConstant(const OpContext& context) {
  const Literal* literal = context.instruction.literal;
  if (literal == nullptr) return Wrong(context, "constant-literal", "has no literal");
  return CheckResult(context, *literal->shape, FloatWidth::kExact);
}

Status CheckInfeed(const OpContext& context) {
  HV_RETURN_IF_ERROR(InferAfterAll(context));  // one token operand
  const Shape& result = *context.instruction.shape;
  if (result.IsTuple() && result.elements.size() == 2 && result.elements[1]->IsToken()) return {};
  return Wrong(context, "result-shape", fmt::format("{} is no (data, token)", Text(result)));
}

Status CheckIota(const OpContext& context) {
  const Shape& result = *context.instruction.shape;
  if (!result.IsArray() || IsPred(result.type)) {
    return Wrong(context, "result-shape", fmt::format("{} cannot be counted in", Text(result)));
  }
  return CheckDimension(context, Attr::kIotaDimension,
                        context.instruction.Int(Attr::kIotaDimension, 0), result.rank());
}

Status CheckOutfeed(const OpContext& context) {
  if (!context.operand(1).IsToken()) {
    return Wrong(context, "operand-token", "operand 1 must be a token");
  }
  const Shape* shape = context.instruction.Object<Shape>(Attr::kOutfeedShape);
  if (shape != nullptr && !Compatible(*shape, context.operand(0), FloatWidth::kExact)) {
    return Wrong(context, Attr::kOutfeedShape, "operand-dims",
                 fmt::format("outfeed_shape is {}, but operand 0 is {}", Text(*shape),
                             Text(context.operand(0))));
  }
  return CheckResult(context, *context.shapes.Token(), FloatWidth::kExact);
}

Result<const Shape*> InferDeviceId(const OpContext& context) {
  return context.shapes.Scalar(ElementType::kU32);
}

}  // namespace

constinit const OpDef kAfterAllOp{
    .opcode = Opcode::kAfterAll,
    .max_operands = kAnyNumber,
    .infer = InferAfterAll,
    .kernel = KernelKind::kSource,
    .types = "token",
    .doc = "A token that comes after all operands. (AfterAll)"};
constinit const OpDef kConstantOp{
    .opcode = Opcode::kConstant,
    .shape_required = true,
    .rule = CheckConstant,
    .kernel = KernelKind::kSource,
    .types = "any",
    .doc = "The literal in its parentheses. (Constant)"};
constinit const OpDef kInfeedOp{
    .opcode = Opcode::kInfeed,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kInfeedAttrs,
    .shape_required = true,
    .rule = CheckInfeed,
    .kernel = KernelKind::kRefused,
    .exactness = Exactness::kNone,
    .tier = Tier::kX,
    .side_effect = true,
    .types = "token",
    .doc = "Reads from the host: (data, token). (Infeed)"};
constinit const OpDef kIotaOp{
    .opcode = Opcode::kIota,
    .attributes = kIotaAttrs,
    .shape_required = true,
    .rule = CheckIota,
    .kernel = KernelKind::kSource,
    .types = "integer, float, complex",
    .doc = "Each element is its index along iota_dimension. (Iota)"};
constinit const OpDef kOutfeedOp{
    .opcode = Opcode::kOutfeed,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kOutfeedAttrs,
    .shape_required = true,
    .rule = CheckOutfeed,
    .kernel = KernelKind::kRefused,
    .exactness = Exactness::kNone,
    .tier = Tier::kX,
    .side_effect = true,
    .types = "any, token",
    .doc = "Writes to the host, gives a token. (Outfeed)"};
constinit const OpDef kParameterOp{
    .opcode = Opcode::kParameter,
    .shape_required = true,
    .kernel = KernelKind::kSource,
    .types = "any",
    .doc = "The argument of this number. (Parameter)"};
constinit const OpDef kPartitionIdOp{
    .opcode = Opcode::kPartitionId,
    .infer = InferDeviceId,
    .kernel = KernelKind::kSource,
    .types = "u32[]",
    .doc = "Partition number of the device. (PartitionId)"};
constinit const OpDef kReplicaIdOp{
    .opcode = Opcode::kReplicaId,
    .infer = InferDeviceId,
    .kernel = KernelKind::kSource,
    .types = "u32[]",
    .doc = "Replica number of the device. (ReplicaId)"};

}  // namespace hv
