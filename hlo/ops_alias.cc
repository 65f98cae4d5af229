// Rows of the ops that yield an operand, or a part of it, unchanged. Source: XLA operation semantics,
// Tuple, GetTupleElement, OptimizationBarrier, AddDependency, Copy.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kCopyStartAttrs[] = {{Attr::kCrossProgramPrefetch}};
constexpr AttrSpec kDomainAttrs[] = {{Attr::kDomain, kRequired}};
constexpr AttrSpec kIndexAttrs[] = {{Attr::kIndex, kRequired}};

}  // namespace

constinit const OpDef kAddDependencyOp{
    .opcode = Opcode::kAddDependency,
    .min_operands = 2,
    .max_operands = 2,
    .kernel = KernelKind::kAlias,
    .types = "any, token",
    .doc = "The first operand, after the token. (AddDependency)"};
constinit const OpDef kCopyOp{
    .opcode = Opcode::kCopy,
    .min_operands = 1,
    .max_operands = 1,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "Same values, perhaps in another layout or memory. (Copy)"};
constinit const OpDef kCopyDoneOp{
    .opcode = Opcode::kCopyDone,
    .min_operands = 1,
    .max_operands = 1,
    .shape_required = true,
    .kernel = KernelKind::kAlias,
    .types = "tuple",
    .doc = "The copy that copy-start began: element 0. (Copy)"};
constinit const OpDef kCopyStartOp{
    .opcode = Opcode::kCopyStart,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kCopyStartAttrs,
    .shape_required = true,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "Begins a copy: (destination, source, u32[]). (Copy)"};
constinit const OpDef kDomainOp{
    .opcode = Opcode::kDomain,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kDomainAttrs,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "The operand; marks a border between shardings. (Domain)"};
constinit const OpDef kGetTupleElementOp{
    .opcode = Opcode::kGetTupleElement,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kIndexAttrs,
    .kernel = KernelKind::kAlias,
    .types = "tuple",
    .doc = "One element of a tuple. (GetTupleElement)"};
constinit const OpDef kOptBarrierOp{
    .opcode = Opcode::kOptBarrier,
    .min_operands = 1,
    .max_operands = 1,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "The operand; nothing moves across. (OptimizationBarrier)"};
constinit const OpDef kTupleOp{
    .opcode = Opcode::kTuple,
    .max_operands = kAnyNumber,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "A tuple of the operands. (Tuple)"};

}  // namespace hv
