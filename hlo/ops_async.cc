// Rows of the asynchronous wrappers and of point-to-point transfers. Source: XLA, "Async HLO
// instructions"; operation semantics, Send, Recv.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kStartAttrs[] = {
    {Attr::kOutputOperandAliasing}, {Attr::kAsyncExecutionThread}, {Attr::kCalls, kRequired}};
// Older printers repeat the start's computation on every link of the chain.
constexpr AttrSpec kLinkAttrs[] = {{Attr::kAsyncExecutionThread}, {Attr::kCalls}};
constexpr AttrSpec kTransferAttrs[] = {{Attr::kChannelId}, {Attr::kIsHostTransfer}};

constexpr OpDef Transfer(Opcode opcode, KernelKind kernel, int operands, std::string_view types,
                         std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = operands,
          .max_operands = operands,
          .attributes = kTransferAttrs,
          .shape_required = true,
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
    .kernel = KernelKind::kRegion,
    .types = "any",
    .doc = "Begins a computation: ((operands), result, contexts). (AsyncStart)"};
constinit const OpDef kAsyncUpdateOp{
    .opcode = Opcode::kAsyncUpdate,
    .min_operands = 1,
    .max_operands = kAnyNumber,
    .attributes = kLinkAttrs,
    .shape_required = true,
    .kernel = KernelKind::kRegion,
    .types = "an async value",
    .doc = "Hands the async value on; may bind late operands. (AsyncUpdate)"};
constinit const OpDef kAsyncDoneOp{
    .opcode = Opcode::kAsyncDone,
    .min_operands = 1,
    .max_operands = 1,
    .attributes = kLinkAttrs,
    .shape_required = true,
    .kernel = KernelKind::kDone,
    .types = "an async value",
    .doc = "Ends a computation: its result. (AsyncDone)"};

constinit const OpDef kRecvOp =
    Transfer(Opcode::kRecv, KernelKind::kCollective, 1, "token",
             "Begins to receive what the pair's source sends: (data, u32[], token). (Recv)");
constinit const OpDef kRecvDoneOp = Transfer(Opcode::kRecvDone, KernelKind::kDone, 1, "a recv",
                                             "Ends a recv: (data, token). (Recv)");
constinit const OpDef kSendOp =
    Transfer(Opcode::kSend, KernelKind::kCollective, 2, "any, token",
             "Begins to send to the pair's target: (data, u32[], token). (Send)");
constinit const OpDef kSendDoneOp =
    Transfer(Opcode::kSendDone, KernelKind::kDone, 1, "a send", "Ends a send: a token. (Send)");

}  // namespace hv
