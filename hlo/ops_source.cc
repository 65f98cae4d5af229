// Rows of the ops without data operands, and of those that talk to a host. Source: XLA operation
// semantics, Parameter, Constant, Iota, AfterAll, Infeed, Outfeed.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kIotaAttrs[] = {{Attr::kIotaDimension, kRequired}};
constexpr AttrSpec kInfeedAttrs[] = {{Attr::kInfeedConfig}};
constexpr AttrSpec kOutfeedAttrs[] = {{Attr::kOutfeedShape}, {Attr::kOutfeedConfig}};

}  // namespace

constinit const OpDef kAfterAllOp{
    .opcode = Opcode::kAfterAll,
    .max_operands = kAnyNumber,
    .kernel = KernelKind::kSource,
    .types = "token",
    .doc = "A token that comes after all operands. (AfterAll)"};
constinit const OpDef kConstantOp{
    .opcode = Opcode::kConstant,
    .shape_required = true,
    .kernel = KernelKind::kSource,
    .types = "any",
    .doc = "The literal in its parentheses. (Constant)"};
constinit const OpDef kInfeedOp{
    .opcode = Opcode::kInfeed,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kInfeedAttrs,
    .shape_required = true,
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
    .kernel = KernelKind::kSource,
    .types = "integer, float, complex",
    .doc = "Each element is its index along iota_dimension. (Iota)"};
constinit const OpDef kOutfeedOp{
    .opcode = Opcode::kOutfeed,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kOutfeedAttrs,
    .shape_required = true,
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
    .kernel = KernelKind::kSource,
    .types = "u32[]",
    .doc = "Partition number of the device. (PartitionId)"};
constinit const OpDef kReplicaIdOp{
    .opcode = Opcode::kReplicaId,
    .kernel = KernelKind::kSource,
    .types = "u32[]",
    .doc = "Replica number of the device. (ReplicaId)"};

}  // namespace hv
