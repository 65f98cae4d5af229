// Rules about asynchronous ops: a start has one user, which is an update or done of its kind; a done
// ends a start of its kind; wrapped computations are run by one start. Source:
// xla/service/hlo_verifier.cc (async instructions, send and recv).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hlo/findings.h"
#include "hlo/rules.h"

namespace hv {
namespace {

// What may follow a start (or an update), what may precede a done; starts and dones of one kind share
// a row.
struct AsyncKind {
  Opcode start, done;
};
constexpr AsyncKind kKinds[] = {
    {Opcode::kAllGatherStart, Opcode::kAllGatherDone},
    {Opcode::kAllReduceStart, Opcode::kAllReduceDone},
    {Opcode::kCollectivePermuteStart, Opcode::kCollectivePermuteDone},
    {Opcode::kCopyStart, Opcode::kCopyDone},
    {Opcode::kAsyncStart, Opcode::kAsyncDone},
    {Opcode::kAsyncUpdate, Opcode::kAsyncDone},
};

std::optional<Opcode> DoneOf(Opcode start) {
  for (const AsyncKind& kind : kKinds) {
    if (kind.start == start) return kind.done;
  }
  return std::nullopt;
}

bool IsDone(Opcode opcode) {
  return std::any_of(std::begin(kKinds), std::end(kKinds),
                     [opcode](const AsyncKind& kind) { return kind.done == opcode; });
}

bool Follows(Opcode user, Opcode start) {
  if (user == DoneOf(start)) return true;
  return user == Opcode::kAsyncUpdate &&
         (start == Opcode::kAsyncStart || start == Opcode::kAsyncUpdate);
}

// A custom call that only orders does not count as a user.
bool OnlyOrders(const Instruction& user) {
  return user.opcode == Opcode::kCustomCall && user.Text(Attr::kCustomCallTarget) == "control_dep";
}

using UserList = std::vector<InstructionIndex>;

void CheckStart(const Computation& computation, InstructionIndex index, const UserList& users,
                RuleFindings* findings) {
  const Instruction& start = computation.At(index);
  int followers = 0;
  for (const InstructionIndex u : users) {
    const Instruction& user = computation.At(u);
    if (OnlyOrders(user)) continue;
    ++followers;
    if (!Follows(user.opcode, start.opcode)) {
      findings->Add(start, "async-user",
                    fmt::format("is used by {} {}", ToString(user.opcode), user.name));
      return;
    }
    if (std::count(user.operands.begin(), user.operands.end(), index) != 1 ||
        user.operands[0] != index) {
      findings->Add(user, "async-operand", "an async value may only be operand 0");
      return;
    }
  }
  if (followers != 1) {
    findings->Add(start, "async-user-count", fmt::format("has {} users, not one", followers));
  }
}

void CheckDone(const Computation& computation, const Instruction& done, RuleFindings* findings) {
  const Instruction& operand = computation.At(done.operands[0]);
  if (Follows(done.opcode, operand.opcode)) return;
  findings->Add(done, "async-start",
                fmt::format("its operand {} is no start of its kind, but {}", operand.name,
                            ToString(operand.opcode)));
}

// The operands of a start and its updates, in order, are the arguments of the wrapped computation.
void CheckArguments(const Module& module, const Computation& computation, const Instruction& done,
                    RuleFindings* findings) {
  std::vector<InstructionIndex> arguments;
  const Instruction* link = &computation.At(done.operands[0]);
  while (link->opcode == Opcode::kAsyncUpdate) {
    arguments.insert(arguments.begin(), link->operands.begin() + 1, link->operands.end());
    link = &computation.At(link->operands[0]);
  }
  if (link->opcode != Opcode::kAsyncStart) return;
  const Computation& body = module.At(link->Computation(Attr::kCalls));
  // What the start binds is checked there.
  if (arguments.empty() && link->operands.size() == body.parameters.size()) return;
  arguments.insert(arguments.begin(), link->operands.begin(), link->operands.end());
  bool fits = arguments.size() == body.parameters.size();
  for (size_t i = 0; fits && i < arguments.size(); ++i) {
    fits = Compatible(*computation.At(arguments[i]).shape, *body.At(body.parameters[i]).shape,
                      FloatWidth::kExact);
  }
  if (fits) return;
  findings->Add(done, "async-arguments",
                fmt::format("{} arguments of its start and updates do not fit {}",
                            arguments.size(), body.name));
}

// With a channel, a transfer has one user: its done, or a tuple that carries it through a loop.
void CheckTransfer(const Computation& computation, const Instruction& transfer,
                   const UserList& users, RuleFindings* findings) {
  const Opcode done =
      transfer.opcode == Opcode::kSend ? Opcode::kSendDone : Opcode::kRecvDone;
  if (transfer.Int(Attr::kChannelId, 0) <= 0) return;
  if (users.size() != 1) {
    findings->Add(transfer, "async-user-count", fmt::format("has {} users, not one", users.size()));
    return;
  }
  const Instruction& user = computation.At(users[0]);
  if (user.opcode == Opcode::kTuple) return;
  if (user.opcode != done) {
    findings->Add(transfer, "async-user",
                  fmt::format("is used by {} {}", ToString(user.opcode), user.name));
  } else if (user.Int(Attr::kChannelId, 0) != transfer.Int(Attr::kChannelId, 0) ||
             user.Bool(Attr::kIsHostTransfer) != transfer.Bool(Attr::kIsHostTransfer)) {
    findings->Add(user, Attr::kChannelId, "transfer-channel",
                  "channel_id and is_host_transfer must be those of its start");
  }
}

void CheckTransferDone(const Computation& computation, const Instruction& done,
                       RuleFindings* findings) {
  const Opcode operand = computation.At(done.operands[0]).opcode;
  const Opcode start = done.opcode == Opcode::kSendDone ? Opcode::kSend : Opcode::kRecv;
  if (operand == start || operand == Opcode::kGetTupleElement) return;
  findings->Add(done, "async-start",
                fmt::format("its operand is {}, no {}", ToString(operand), ToString(start)));
}

bool IsPlainBody(const Computation& body) {
  for (size_t i = 0; i < body.instructions.size(); ++i) {
    const Instruction& instruction = body.instructions[i];
    if (instruction.opcode != Opcode::kParameter &&
        static_cast<InstructionIndex>(i) != body.root) {
      return false;
    }
  }
  return true;
}

bool IsCollectivesGroup(const Instruction& start) {
  const auto entries = start.List<DictionaryEntry>(Attr::kFrontendAttributes);
  return std::any_of(entries.begin(), entries.end(), [](const DictionaryEntry& entry) {
    return entry.key == "_collectives_group";
  });
}

std::string_view ThreadOf(const Computation& computation) {
  return computation.execution_thread.empty() ? "main" : computation.execution_thread;
}

// The wrapped computation is one op, unless another thread runs it.
void CheckBody(const Module& module, const Instruction& start, RuleFindings* findings) {
  const Computation& body = module.At(start.Computation(Attr::kCalls));
  const std::string_view thread = start.Text(Attr::kAsyncExecutionThread, "main");
  const std::string_view body_thread = ThreadOf(body);
  if (thread != body_thread) {
    findings->Add(start, Attr::kAsyncExecutionThread, "execution-thread",
                  fmt::format("runs on thread {}, but {} on {}", thread, body.name, body_thread));
  }
  if (body_thread == "main" && !IsCollectivesGroup(start) && !IsPlainBody(body)) {
    findings->Add(start, Attr::kCalls, "async-body",
                  fmt::format("{} holds more than parameters and a root", body.name));
  }
}

// Other computations run on their caller's thread.
void CheckThread(const Module& module, const Computation& computation,
                 const Instruction& instruction, RuleFindings* findings) {
  switch (instruction.opcode) {
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kFusion:
    case Opcode::kWhile: break;
    default: return;
  }
  for (const ComputationIndex callee : CalledComputations(instruction)) {
    if (ThreadOf(module.At(callee)) == ThreadOf(computation)) continue;
    findings->Add(instruction, "execution-thread",
                  fmt::format("stands on thread {}, but {} on {}", ThreadOf(computation),
                              module.At(callee).name, ThreadOf(module.At(callee))));
  }
}

}  // namespace

void CheckAsynchronous(const Module& module, const Computation& computation,
                       RuleFindings* findings) {
  std::vector<UserList> users;  // made when first needed: most computations need none
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    const auto index = static_cast<InstructionIndex>(i);
    const Opcode opcode = instruction.opcode;
    CheckThread(module, computation, instruction, findings);
    const bool transfers = opcode == Opcode::kSend || opcode == Opcode::kRecv;
    if ((transfers || DoneOf(opcode)) && users.empty()) users = Users(computation);
    if (DoneOf(opcode)) CheckStart(computation, index, users[i], findings);
    if (transfers) CheckTransfer(computation, instruction, users[i], findings);
    if (instruction.operands.empty()) continue;
    if (IsDone(opcode) || opcode == Opcode::kAsyncUpdate) {
      CheckDone(computation, instruction, findings);
    }
    if (opcode == Opcode::kAsyncDone) CheckArguments(module, computation, instruction, findings);
    if (opcode == Opcode::kSendDone || opcode == Opcode::kRecvDone) {
      CheckTransferDone(computation, instruction, findings);
    }
    if (opcode == Opcode::kAsyncStart) CheckBody(module, instruction, findings);
  }
}

void CheckAsyncCallers(const Module& module, RuleFindings* findings) {
  std::vector<bool> started(module.computations.size());
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode != Opcode::kAsyncStart) continue;
      const auto body = static_cast<size_t>(instruction.Computation(Attr::kCalls));
      if (started[body]) {
        findings->Add(instruction, Attr::kCalls, "async-shared",
                      fmt::format("{} is already run by another async-start",
                                  module.computations[body].name));
      }
      started[body] = true;
    }
  }
}

}  // namespace hv
