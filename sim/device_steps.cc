// What each kind of step does on a device. A step yields its value, or nothing if it waits for
// another device or a frame (Deliver brings the value then), or if the device failed.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/time_limit.h"
#include "eval/branches.h"
#include "eval/move.h"
#include "sim/device.h"
#include "sim/leaves.h"
#include "sim/work_note.h"

namespace hv {
namespace {

// May the branch run whether it is picked or not? Messages pair across computations and an
// async-start runs beside its caller, so what they meet would depend on the choice.
bool RunsApart(const Module& module, ComputationIndex computation) {
  for (const Instruction& instruction : module.At(computation).instructions) {
    switch (instruction.opcode) {
      case Opcode::kSend:
      case Opcode::kRecv:
      case Opcode::kAsyncStart:
        return false;
      default:
        break;
    }
    for (const ComputationIndex callee : CalledComputations(instruction)) {
      if (!RunsApart(module, callee)) return false;
    }
  }
  return true;
}

// Selectors of the branches around a frame that are run without being picked, inside out.
std::vector<Value> SelectorsAround(const Frame* frame) {
  std::vector<Value> selectors;
  for (; frame != nullptr; frame = frame->parent) {
    if (frame->role == FrameRole::kBranch) selectors.push_back(frame->choice->selector);
  }
  return selectors;
}

constexpr size_t kWorthWaiting = size_t{1} << 14;  // bytes not to be copied

bool StatesPairs(const Instruction& instruction) {
  for (const DictionaryEntry& e : instruction.List<DictionaryEntry>(Attr::kFrontendAttributes)) {
    if (e.key == "_xla_send_recv_source_target_pairs") return true;
  }
  return false;
}

// Most operands are leaves themselves.
std::vector<Value> LeavesOf(std::vector<Value> values) {
  const auto is_leaf = [](const Value& v) { return v.shape()->IsArray(); };
  if (std::all_of(values.begin(), values.end(), is_leaf)) return values;
  std::vector<Value> leaves;
  for (const Value& value : values) {
    for (Value& leaf : Leaves(value)) leaves.push_back(std::move(leaf));
  }
  return leaves;
}

}  // namespace

Error PlacedAt(Error error, const Module& module, const Instruction& instruction) {
  const std::string prefix = error.kind == ErrorKind::kUnsupported ? "unsupported: " : "";
  for (Diagnostic& d : error.diagnostics) {
    if (d.place.line > 0) continue;
    Diagnostic placed = MakeDiagnostic(module, instruction.offset, d.id, prefix + d.message);
    placed.notes = std::move(d.notes);
    d = std::move(placed);
  }
  return error;
}

Device::StepValue Device::Failed(Error error, const Instruction& instruction) {
  Fail(PlacedAt(std::move(error), context_->module(), instruction));
  return {};
}

Result<int64_t> Device::ControlScalar(const Value& value) const {
  if (value.IsNative()) return IntegerOf(value);
  const std::optional<Value> concrete = context_->domain().Concrete(value);
  if (!concrete) {
    return Unsupported("control-is-data",
                       "control depends on data that has no concrete value in the domain " +
                           std::string(context_->domain().name()));
  }
  return IntegerOf(*concrete);
}

Device::StepValue Device::Execute(Frame* frame, InstructionIndex index) {
  if (has_time_limit_ && TimeLimit::IsOver()) {
    Fail(OutOfTime().value());
    return {};
  }
  const bool alike = frame->plan->At(index).alike;
  return alike ? ExecuteOnce(frame, index) : ExecuteKind(frame, index);
}

// The first device of the process computes it; the last one takes it away.
Device::StepValue Device::ExecuteOnce(Frame* frame, InstructionIndex index) {
  StepMemo& memo = frame->memos[index];
  if (memo.takers == 0) {
    StepValue value = ExecuteKind(frame, index);
    if (!value) return {};
    memo.shared = std::move(*value);
    memo.takers = context_->local_devices();
  } else {
    for (const InstructionIndex o : frame->plan->At(index).operands) TakeOperand(frame, o);
  }
  return --memo.takers == 0 ? std::move(memo.shared) : memo.shared;
}

Device::StepValue Device::ExecuteKind(Frame* frame, InstructionIndex index) {
  const Instruction& instruction = *frame->plan->At(index).instruction;
  WorkNote::Set(instruction);
  switch (frame->plan->At(index).kind) {
    case StepKind::kSkip: case StepKind::kPinned: break;
    case StepKind::kConstant: return ExecuteConstant(frame, index);
    case StepKind::kLocal: return ExecuteLocal(frame, index);
    case StepKind::kFused: return ExecuteFused(frame, index);
    case StepKind::kMove: return ExecuteMove(frame, index);
    case StepKind::kHandOn: return TakeOperand(frame, instruction.operands[0]);
    case StepKind::kTuple: return ExecuteTuple(frame, index);
    case StepKind::kElement: return ExecuteElement(frame, index);
    case StepKind::kCollective:
    case StepKind::kStart: return ExecuteCollective(frame, index);
    case StepKind::kCopyStart: {
      auto pending = std::make_shared<Pending>();
      pending->complete = true;
      pending->result = TakeOperand(frame, instruction.operands[0]);
      return Value::Extended(instruction.shape, std::make_unique<AsyncHandle>(std::move(pending)));
    }
    case StepKind::kAsyncStart: return ExecuteAsyncStart(frame, index);
    case StepKind::kAsyncUpdate: return ExecuteAsyncUpdate(frame, index);
    case StepKind::kDone: return ExecuteDone(frame, index);
    case StepKind::kWhile:
      return ExecuteWhile(frame, index);
    case StepKind::kConditional: return ExecuteConditional(frame, index);
    case StepKind::kCall: return ExecuteCall(frame, index);
  }
  return {};
}

bool Device::PausesBefore(Frame* frame, InstructionIndex index) {
  if (std::exchange(paused_before_, false)) return false;
  const InstructionIndex operand = frame->plan->At(index).operands[0];
  const size_t o = static_cast<size_t>(operand);
  const Value& value = frame->values[o];
  if (frame->plan->At(operand).kind == StepKind::kPinned || frame->reads[o] > 1 ||
      value.IsUnique() || value.bytes().size() < kWorthWaiting) return false;
  paused_ = paused_before_ = true;
  Enqueue(frame);
  return true;
}

Device::StepValue Device::ExecuteLocal(Frame* frame, InstructionIndex index) {
  const Computation& computation = *frame->plan->computation;
  const Instruction& instruction = computation.At(index);
  const KernelCall call{context_->module(), computation, instruction, instruction.shape};
  StepMemo& memo = frame->memos[index];
  if (!memo.is_prepared) {
    memo.is_prepared = true;
    const bool few = instruction.operands.size() <= FewValues::kMost;
    if (few) memo.kernel = context_->domain().Prepare(call);
  }
  std::vector<Value> operands;
  if (memo.kernel != nullptr) {
    FewValues few;
    const std::span<Value> taken = TakeFew(frame, index, &few);
    const auto is_native = [](const Value& v) { return v.IsNative(); };
    if (std::all_of(taken.begin(), taken.end(), is_native)) return memo.kernel->Run(taken);
    operands.assign(std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
  } else {
    operands = TakeOperands(frame, index);
  }
  Result<Value> value = EvaluateInstruction(context_->domain(), call, std::move(operands),
                                            replica_.value, partition_.value);
  if (!value) return Failed(std::move(value).error(), instruction);
  return std::move(*value);
}

Device::StepValue Device::ExecuteFused(Frame* frame, InstructionIndex index) {
  const ComputationPlan& plan = *frame->plan;
  const ElementwiseProgram& program =
      plan.programs[static_cast<size_t>(plan.At(index).program)];
  if (program.operands().size() > FewValues::kMost) {
    std::vector<Value> operands = TakeOperands(frame, index);
    return program.Run(operands);
  }
  FewValues few;
  return program.Run(TakeFew(frame, index, &few));
}

Device::StepValue Device::ExecuteMove(Frame* frame, InstructionIndex index) {
  const ComputationPlan& plan = *frame->plan;
  const ComposedView& view = plan.views[static_cast<size_t>(plan.At(index).program)];
  std::vector<Value> operands = TakeOperands(frame, index);
  return MovePieces(view.shape, view.pieces, operands);
}

Device::StepValue Device::ExecuteConstant(Frame* frame, InstructionIndex index) {
  Result<Value> value = context_->Constant(*frame->plan, index);
  if (!value) return Failed(std::move(value).error(), *frame->plan->At(index).instruction);
  return std::move(*value);
}

Device::StepValue Device::ExecuteTuple(Frame* frame, InstructionIndex index) {
  const Instruction& instruction = *frame->plan->At(index).instruction;
  if (instruction.operands.size() > FewValues::kMost) {
    return Value::Tuple(instruction.shape, TakeOperands(frame, index));
  }
  FewValues few;
  return Value::TupleFrom(instruction.shape, TakeFew(frame, index, &few));
}

// The tuple is read in place; its handle goes with the last reader.
Device::StepValue Device::ExecuteElement(Frame* frame, InstructionIndex index) {
  const Step& step = frame->plan->At(index);
  const size_t part = static_cast<size_t>(step.part);
  const InstructionIndex o = step.operands[0];
  Value& tuple = frame->values[static_cast<size_t>(o)];
  Value element = step.take ? tuple.TakeElement(part) : tuple.elements()[part];
  if (IsLastRead(frame, o)) tuple = Value();
  return element;
}

Device::StepValue Device::ExecuteCollective(Frame* frame, InstructionIndex index) {
  const Instruction& instruction = *frame->plan->At(index).instruction;
  Result<std::shared_ptr<Pending>> pending = Post(frame, index);
  if (!pending) return Failed(std::move(pending).error(), instruction);
  if (frame->plan->At(index).kind == StepKind::kStart) {
    return Value::Extended(instruction.shape, std::make_unique<AsyncHandle>(std::move(*pending)));
  }
  if ((*pending)->complete) return std::move((*pending)->result);
  (*pending)->waiter = frame;
  (*pending)->waiter_step = index;
  return {};
}

Result<bool> Device::AddressMessage(const Collective& collective, PostKey* key) const {
  const Instruction& instruction = *collective.instruction;
  if (instruction.Bool(Attr::kIsHostTransfer)) {
    return Unsupported("host-transfer", std::string(ToString(collective.opcode)) +
                                            " with is_host_transfer=true needs a host");
  }
  if (!StatesPairs(instruction)) {
    return Unsupported("message-without-pairs",
                       std::string(ToString(collective.opcode)) +
                           " states no _xla_send_recv_source_target_pairs: its partner would be "
                           "another program");
  }
  const size_t device = static_cast<size_t>(id_.value);
  const bool sends = collective.opcode == Opcode::kSend;
  key->role = sends ? Role::kSender : Role::kReceiver;
  const int64_t source = sends ? id_.value : collective.grouping->source_of[device];
  const int64_t target = sends ? collective.grouping->target_of[device] : id_.value;
  key->collective.group = source * context_->plan().mesh.devices() + target;
  return source >= 0 && target >= 0;
}

Result<std::shared_ptr<Pending>> Device::Post(Frame* frame, InstructionIndex index) {
  const Step& step = frame->plan->At(index);
  const Collective& collective =
      context_->plan().collectives[static_cast<size_t>(step.collective)];
  PostKey key;
  key.collective.site = step.site + (collective.by_channel ? 0 : frame->first_site);
  key.collective.group = collective.grouping->group_of[static_cast<size_t>(id_.value)];
  bool takes_part = key.collective.group >= 0;
  if (collective.opcode == Opcode::kSend || collective.opcode == Opcode::kRecv) {
    HV_ASSIGN(takes_part, AddressMessage(collective, &key));
  } else if (!takes_part && collective.opcode != Opcode::kCollectiveBroadcast) {
    return Invalid("device-in-no-group", "device " + std::to_string(id_.value) +
                                             " is in no group of this " +
                                             std::string(ToString(collective.opcode)));
  }
  if (collective.opcode == Opcode::kCollectivePermute &&
      collective.instruction->Has(Attr::kSliceSizes)) {
    return Unsupported("in-place-permute", "collective-permute with slice_sizes (in place)");
  }
  auto pending = std::make_shared<Pending>();
  std::vector<Value> operands = LeavesOf(TakeOperands(frame, index));
  if (!takes_part) {
    pending->complete = true;
    if (collective.opcode != Opcode::kSend) {
      HV_ASSIGN(pending->result, Zeros(context_->domain(), collective.result));
    }
    return pending;
  }
  key.collective.execution = NextExecution(key.collective.site, key.role);
  posted_[key] = Posted{step.collective, std::move(operands), SelectorsAround(frame), pending};
  return pending;
}

Device::StepValue Device::ExecuteDone(Frame* frame, InstructionIndex index) {
  const Instruction& instruction = *frame->plan->At(index).instruction;
  const Value start = TakeOperand(frame, instruction.operands[0]);
  const auto* handle = dynamic_cast<const AsyncHandle*>(start.extended());
  if (handle == nullptr) {
    return Failed(Invalid("done-without-start",
                          std::string(ToString(instruction.opcode)) +
                              " reads a value that no start has made").value(), instruction);
  }
  Pending& pending = *handle->pending;
  if (pending.complete) return YieldOfDone(instruction, std::move(pending.result));
  pending.waiter = frame;
  pending.waiter_step = index;
  return {};
}

Device::StepValue Device::ExecuteAsyncStart(Frame* frame, InstructionIndex index) {
  const Instruction& instruction = *frame->plan->At(index).instruction;
  auto pending = std::make_shared<Pending>();
  pending->start = &instruction;
  pending->first_site =
      frame->first_site + frame->plan->At(index).site;
  pending->arguments = TakeOperands(frame, index);
  const Computation& callee = context_->module().At(instruction.Computation(Attr::kCalls));
  if (pending->arguments.size() == callee.parameters.size()) StartAsync(pending);
  return Value::Extended(instruction.shape, std::make_unique<AsyncHandle>(std::move(pending)));
}

// Passes the handle on; with late binding it brings further operands.
Device::StepValue Device::ExecuteAsyncUpdate(Frame* frame, InstructionIndex index) {
  const Instruction& instruction = *frame->plan->At(index).instruction;
  std::vector<Value> operands = TakeOperands(frame, index);
  const auto* handle = dynamic_cast<const AsyncHandle*>(operands[0].extended());
  if (handle == nullptr) {
    return Failed(Invalid("done-without-start", "async-update reads a value that no start has made")
                      .value(), instruction);
  }
  const std::shared_ptr<Pending> pending = handle->pending;
  if (operands.size() > 1) {
    for (size_t i = 1; i < operands.size(); ++i) {
      pending->arguments.push_back(std::move(operands[i]));
    }
    const Computation& callee = context_->module().At(pending->start->Computation(Attr::kCalls));
    if (pending->arguments.size() == callee.parameters.size()) StartAsync(pending);
  }
  return Value::Extended(instruction.shape, std::make_unique<AsyncHandle>(pending));
}

Device::StepValue Device::ExecuteWhile(Frame* frame, InstructionIndex index) {
  const Instruction& instruction = *frame->plan->At(index).instruction;
  Value state = TakeOperand(frame, instruction.operands[0]);
  if (const LoopFn& loop = context_->options().loop) {
    if (std::optional<Value> result = loop(id_, instruction, state)) return result;
  }
  const Step& step = frame->plan->At(index);
  std::optional<int64_t> turns;
  if (step.program >= 0) {
    const LoopCounter& counter = frame->plan->counters[static_cast<size_t>(step.program)];
    turns = counter.TurnsFrom(IntegerOf(state.elements()[static_cast<size_t>(counter.part)]));
  }
  if (turns == 0) return state;
  if (turns) {
    StartBody(frame, index, std::move(state), *turns);
  } else {
    StartCondition(frame, index, std::move(state));
  }
  return {};
}

Device::StepValue Device::ExecuteConditional(Frame* frame, InstructionIndex index) {
  std::vector<Value> operands = TakeOperands(frame, index);
  const std::optional<Value> selector = context_->domain().Concrete(operands[0]);
  if (!selector) return ExecuteChoice(frame, index, std::move(operands));
  const size_t branch = SelectedBranch(*selector, operands.size() - 1);
  StartBranch(frame, index, branch, FrameRole::kCall, std::move(operands[branch + 1]), nullptr);
  return {};
}

// Data selects: every branch runs. Devices that meet inside must have the same selector (Exchange
// sees to it), so whichever branch it picks, they meet there as they do here.
Device::StepValue Device::ExecuteChoice(Frame* frame, InstructionIndex index,
                                        std::vector<Value> operands) {
  const Instruction& instruction = *frame->plan->At(index).instruction;
  bool possible = context_->domain().ChoosesByData();
  for (const ComputationIndex branch : BranchesOf(instruction)) {
    possible = possible && RunsApart(context_->module(), branch);
  }
  if (!possible) return Failed(ControlScalar(operands[0]).error(), instruction);
  auto choice = std::make_shared<Choice>();
  choice->selector = std::move(operands[0]);
  operands.erase(operands.begin());
  choice->arguments = std::move(operands);
  NextBranch(frame, index, std::move(choice));
  return {};
}

Device::StepValue Device::ExecuteCall(Frame* frame, InstructionIndex index) {
  const Step& step = frame->plan->At(index);
  std::vector<Value> operands = TakeOperands(frame, index);
  StartChild(frame, index,
             NewFrame(step.callees[0], FrameRole::kCall, frame->first_site + step.site, operands));
  return {};
}

}  // namespace hv
