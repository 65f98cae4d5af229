// Rows of the ops that yield an operand, or a part of it, unchanged. Source: XLA operation semantics,
// Tuple, GetTupleElement, OptimizationBarrier, AddDependency, Copy.
#include <fmt/format.h>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kCopyStartAttrs[] = {{Attr::kCrossProgramPrefetch}};
constexpr AttrSpec kDomainAttrs[] = {{Attr::kDomain, kRequired}};
constexpr AttrSpec kIndexAttrs[] = {{Attr::kIndex, kRequired}};

Result<const Shape*> InferOperand(const OpContext& context) { return &context.operand(0); }

Result<const Shape*> InferAddDependency(const OpContext& context) {
  if (context.operand(1).IsToken()) return &context.operand(0);
  return Wrong(context, "operand-token", "operand 1 must be a token");
}

// (destination, source, u32[]): both like the operand.
Status CheckCopyStart(const OpContext& context) {
  const Shape* parts[] = {&context.operand(0), &context.operand(0),
                          context.shapes.Scalar(ElementType::kU32)};
  return CheckResult(context, *context.shapes.Tuple(parts), FloatWidth::kExact);
}

Result<const Shape*> InferElement(const OpContext& context, int64_t index) {
  const Shape& tuple = context.operand(0);
  if (!tuple.IsTuple()) {
    return Wrong(context, "operand-tuple", fmt::format("operand is {}, no tuple", Text(tuple)));
  }
  if (index < 0 || index >= static_cast<int64_t>(tuple.elements.size())) {
    return Wrong(context, Attr::kIndex, "tuple-index",
                 fmt::format("element {} of a tuple of {}", index, tuple.elements.size()));
  }
  return tuple.elements[static_cast<size_t>(index)];
}

Result<const Shape*> InferCopyDone(const OpContext& context) { return InferElement(context, 0); }

Result<const Shape*> InferGetTupleElement(const OpContext& context) {
  return InferElement(context, context.instruction.Int(Attr::kIndex, 0));
}

Result<const Shape*> InferTuple(const OpContext& context) {
  std::vector<const Shape*> elements;
  for (size_t i = 0; i < context.operand_count(); ++i) elements.push_back(&context.operand(i));
  return context.shapes.Tuple(elements);
}

}  // namespace

constinit const OpDef kAddDependencyOp{
    .opcode = Opcode::kAddDependency,
    .min_operands = 2,
    .max_operands = 2,
    .infer = InferAddDependency,
    .kernel = KernelKind::kAlias,
    .types = "any, token",
    .doc = "The first operand, after the token. (AddDependency)"};
constinit const OpDef kCopyOp{
    .opcode = Opcode::kCopy,
    .min_operands = 1,
    .max_operands = 1,
    .infer = InferOperand,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "Same values, perhaps in another layout or memory. (Copy)"};
constinit const OpDef kCopyDoneOp{
    .opcode = Opcode::kCopyDone,
    .min_operands = 1,
    .max_operands = 1,
    .infer = InferCopyDone,
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
    .rule = CheckCopyStart,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "Begins a copy: (destination, source, u32[]). (Copy)"};
constinit const OpDef kDomainOp{
    .opcode = Opcode::kDomain,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kDomainAttrs,
    .infer = InferOperand,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "The operand; marks a border between shardings. (Domain)"};
constinit const OpDef kGetTupleElementOp{
    .opcode = Opcode::kGetTupleElement,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kIndexAttrs,
    .infer = InferGetTupleElement,
    .kernel = KernelKind::kAlias,
    .types = "tuple",
    .doc = "One element of a tuple. (GetTupleElement)"};
constinit const OpDef kOptBarrierOp{
    .opcode = Opcode::kOptBarrier,
    .min_operands = 1,
    .max_operands = 1,
    .infer = InferOperand,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "The operand; nothing moves across. (OptimizationBarrier)"};
constinit const OpDef kTupleOp{
    .opcode = Opcode::kTuple,
    .max_operands = kAnyNumber,
    .infer = InferTuple,
    .kernel = KernelKind::kAlias,
    .types = "any",
    .doc = "A tuple of the operands. (Tuple)"};

}  // namespace hv
