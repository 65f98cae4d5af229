// Rows of the asynchronous wrappers and of point-to-point transfers. Source: XLA, "Async HLO
// instructions"; operation semantics, Send, Recv.
#include <fmt/format.h>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kStartAttrs[] = {
    {Attr::kOutputOperandAliasing}, {Attr::kAsyncExecutionThread}, {Attr::kCalls, kRequired}};
// Older printers repeat the start's computation on every link of the chain.
constexpr AttrSpec kLinkAttrs[] = {{Attr::kAsyncExecutionThread}, {Attr::kCalls}};
constexpr AttrSpec kTransferAttrs[] = {{Attr::kChannelId}, {Attr::kIsHostTransfer}};

tl::unexpected<Error> WrongResult(const OpContext& context, std::string_view form) {
  return Wrong(context, "result-shape",
               fmt::format("{} is not {}", Text(*context.instruction.shape), form));
}

// ((operands), result, contexts...). Operands missing here are bound by async-updates.
Status CheckAsyncStart(const OpContext& context) {
  const Shape& shape = *context.instruction.shape;
  const Computation& body = context.module.At(context.instruction.Computation(Attr::kCalls));
  const size_t bound = context.operand_count(), all = body.parameters.size();
  if (bound > all) {
    return Wrong(context, Attr::kCalls, "computation-parameters",
                 fmt::format("{} takes {} parameters, but {} are given", body.name, all, bound));
  }
  if (!shape.IsTuple() || shape.elements.size() < 2 || !shape.elements[0]->IsTuple() ||
      shape.elements[0]->elements.size() < bound || shape.elements[0]->elements.size() > all) {
    return WrongResult(context, "((operands), result, contexts...)");
  }
  for (size_t i = 0; i < bound; ++i) {
    const Shape& formal = *body.At(body.parameters[i]).shape;
    if (!Compatible(formal, context.operand(i), FloatWidth::kExact)) {
      return Wrong(context, Attr::kCalls, "computation-parameters",
                   fmt::format("parameter {} of {} is {}, but operand is {}", i, body.name,
                               Text(formal), Text(context.operand(i))));
    }
    if (!Compatible(*shape.elements[0]->elements[i], context.operand(i), FloatWidth::kExact)) {
      return WrongResult(context, "the tuple of the operands first");
    }
  }
  if (!Compatible(*shape.elements[1], *body.Root().shape, FloatWidth::kExact)) {
    return WrongResult(context, fmt::format("(..., {}, ...)", Text(*body.Root().shape)));
  }
  return {};
}

// The async value handed on; with late operands its first element may have grown.
Status CheckAsyncUpdate(const OpContext& context) {
  if (context.operand_count() == 1) {
    return CheckResult(context, context.operand(0), FloatWidth::kExact);
  }
  const Shape &before = context.operand(0), &after = *context.instruction.shape;
  const bool alike = before.IsTuple() && after.IsTuple() && before.elements.size() >= 2 &&
                     before.elements.size() == after.elements.size() &&
                     Compatible(*before.elements[1], *after.elements[1], FloatWidth::kExact);
  if (alike) return {};
  return WrongResult(context, fmt::format("a successor of {}", Text(before)));
}

Result<const Shape*> InferAsyncDone(const OpContext& context) {
  const Shape& start = context.operand(0);
  if (start.IsTuple() && start.elements.size() >= 2) return start.elements[1];
  return Wrong(context, "operand-tuple", fmt::format("operand is {}, no start", Text(start)));
}

Status CheckToken(const OpContext& context, size_t operand) {
  if (context.operand(operand).IsToken()) return {};
  return Wrong(context, "operand-token",
               fmt::format("operand {} is {}, no token", operand, Text(context.operand(operand))));
}

// (data, u32[], token).
Status CheckInFlight(const OpContext& context, const Shape& data) {
  const Shape* parts[] = {&data, context.shapes.Scalar(ElementType::kU32),
                          context.shapes.Token()};
  return CheckResult(context, *context.shapes.Tuple(parts), FloatWidth::kExact);
}

Status CheckSend(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckToken(context, 1));
  return CheckInFlight(context, context.operand(0));
}

Status CheckRecv(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckToken(context, 0));
  const Shape& shape = *context.instruction.shape;
  if (!shape.IsTuple() || shape.elements.empty()) {
    return WrongResult(context, "(data, u32[], token[])");
  }
  return CheckInFlight(context, *shape.elements[0]);
}

// The three elements of what send and recv give.
Status CheckTransferOperand(const OpContext& context) {
  const Shape& shape = context.operand(0);
  if (shape.IsTuple() && shape.elements.size() == 3 && shape.elements[2]->IsToken()) return {};
  return Wrong(context, "operand-tuple",
               fmt::format("operand is {}, no (data, u32[], token[])", Text(shape)));
}

Result<const Shape*> InferSendDone(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckTransferOperand(context));
  return context.shapes.Token();
}

Result<const Shape*> InferRecvDone(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckTransferOperand(context));
  const Shape* parts[] = {context.operand(0).elements[0], context.shapes.Token()};
  return context.shapes.Tuple(parts);
}

constexpr OpDef Transfer(Opcode opcode, KernelKind kernel, InferFn infer, RuleFn rule,
                         int operands, std::string_view types, std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = operands,
          .max_operands = operands,
          .attributes = kTransferAttrs,
          .infer = infer,
          .shape_required = true,
          .rule = rule,
          .kernel = kernel,
          .side_effect = true,
          .types = types,
          .doc = doc};
}

}  // namespace

constinit const OpDef kAsyncStartOp{
    .opcode = Opcode::kAsyncStart,
    .max_operands = kAnyNumber,
    .attributes = kStartAttrs,
    .shape_required = true,
    .rule = CheckAsyncStart,
    .kernel = KernelKind::kRegion,
    .types = "any",
    .doc = "Begins a computation: ((operands), result, contexts). (AsyncStart)"};
constinit const OpDef kAsyncUpdateOp{
    .opcode = Opcode::kAsyncUpdate,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kLinkAttrs,
    .shape_required = true,
    .rule = CheckAsyncUpdate,
    .kernel = KernelKind::kRegion,
    .types = "an async value",
    .doc = "Hands the async value on; may bind late operands. (AsyncUpdate)"};
constinit const OpDef kAsyncDoneOp{
    .opcode = Opcode::kAsyncDone,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kLinkAttrs,
    .infer = InferAsyncDone,
    .shape_required = true,
    .kernel = KernelKind::kDone,
    .types = "an async value",
    .doc = "Ends a computation: its result. (AsyncDone)"};

constinit const OpDef kRecvOp =
    Transfer(Opcode::kRecv, KernelKind::kCollective, nullptr, CheckRecv, 1, "token",
             "Begins to receive what the pair's source sends: (data, u32[], token). (Recv)");
constinit const OpDef kRecvDoneOp = Transfer(Opcode::kRecvDone, KernelKind::kDone, InferRecvDone, nullptr, 1, "a recv",
                                             "Ends a recv: (data, token). (Recv)");
constinit const OpDef kSendOp =
    Transfer(Opcode::kSend, KernelKind::kCollective, nullptr, CheckSend, 2, "any, token",
             "Begins to send to the pair's target: (data, u32[], token). (Send)");
constinit const OpDef kSendDoneOp =
    Transfer(Opcode::kSendDone, KernelKind::kDone, InferSendDone, nullptr, 1, "a send", "Ends a send: a token. (Send)");

}  // namespace hv
