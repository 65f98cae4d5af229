// The run loop of a device and the life of its frames; what single steps do is in device_steps.cc.
#include "sim/device.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/time_limit.h"
#include "eval/branches.h"
#include "sim/leaves.h"

namespace hv {

RunContext::RunContext(const ModulePlan& plan, const RunOptions& options)
    : plan_(plan),
      options_(options),
      local_devices_(Placement{plan.mesh.devices(), options.transport->size()}.CountOf(
          options.transport->rank())) {
  for (const ComputationPlan& computation : plan.computations) {
    memos_.emplace_back(computation.steps.size());
  }
}

Result<Value> RunContext::Constant(const ComputationPlan& plan, InstructionIndex index) {
  Value& known = MemosOf(plan.index)[index].constant;
  if (known.empty()) {
    const Instruction& constant = plan.computation->At(index);
    HV_ASSIGN(known, constant.literal->elided ? domain().ElidedConstant(constant)
                                              : domain().Constant(*constant.literal));
  }
  return known;
}

Device::Device(RunContext* context, DeviceId id)
    : context_(context),
      id_(id),
      replica_(context->plan().mesh.ReplicaOf(id)),
      partition_(context->plan().mesh.PartitionOf(id)),
      free_frames_(context->plan().computations.size()),
      computation_runs_(context->plan().computations.size()) {}

Value Device::YieldOfDone(const Instruction& done, Value result) {
  if (done.opcode == Opcode::kSendDone) return Value::Token(done.shape);
  if (done.opcode != Opcode::kRecvDone) return result;
  return Value::Tuple(done.shape, {std::move(result), Value::Token(done.shape->elements[1])});
}

void Device::Start(std::vector<Value> arguments) {
  Enqueue(NewFrame(context_->module().entry, FrameRole::kEntry, 0, arguments));
}

bool Device::Run() {
  paused_ = false;
  has_time_limit_ = TimeLimit::IsSet();
  while (!runnable_.empty() && !error_ && !paused_) {
    Frame* frame = runnable_.back();
    runnable_.pop_back();
    frame->queued = false;
    if (frame->plan->data_flow) {
      RunDataFlow(frame);
    } else {
      RunTextOrder(frame);
    }
  }
  return paused_;
}

void Device::Enqueue(Frame* frame) {
  if (frame->queued) return;
  frame->queued = true;
  runnable_.push_back(frame);
}

void Device::RunTextOrder(Frame* frame) {
  const std::span<const InstructionIndex> order = frame->plan->order;
  while (frame->next < order.size()) {
    const InstructionIndex index = order[frame->next];
    if (LetsOthersFirst(frame, index)) return;
    ++frame->next;
    StepValue value = Execute(frame, index);
    if (!value) return;
    FinishStep(frame, index, std::move(*value));
  }
  FinishFrame(frame);
}

// Runs ready steps, lowest number first, so that the order is the same on every machine.
void Device::RunDataFlow(Frame* frame) {
  while (!frame->ready.empty() && !error_) {
    std::pop_heap(frame->ready.begin(), frame->ready.end(), std::greater<>());
    const InstructionIndex index = frame->ready.back();
    if (LetsOthersFirst(frame, index)) {
      return std::push_heap(frame->ready.begin(), frame->ready.end(), std::greater<>());
    }
    frame->ready.pop_back();
    StepValue value = Execute(frame, index);
    if (value) FinishStep(frame, index, std::move(*value));
  }
  if (frame->unfinished == 0) FinishFrame(frame);
}

void Device::FinishStep(Frame* frame, InstructionIndex index, Value&& value) {
  const size_t i = static_cast<size_t>(index);
  if (const ValueObserver& observer = context_->options().observer) {
    observer(id_, context_->module(), frame->plan->index, index, frame->execution, value);
  }
  if (frame->reads[i] > 0) frame->values[i] = std::move(value);
  if (!frame->plan->data_flow) return;
  --frame->unfinished;
  const ComputationPlan& plan = *frame->plan;
  for (int32_t s = plan.successor_begin[i]; s < plan.successor_begin[i + 1]; ++s) {
    const InstructionIndex successor = plan.successors[static_cast<size_t>(s)];
    if (--frame->waits_for[static_cast<size_t>(successor)] > 0) continue;
    frame->ready.push_back(successor);
    std::push_heap(frame->ready.begin(), frame->ready.end(), std::greater<>());
  }
}

void Device::Deliver(Frame* frame, InstructionIndex index, Value value) {
  FinishStep(frame, index, YieldOfDone(frame->plan->computation->At(index), std::move(value)));
  Enqueue(frame);
}

void Device::CompletePending(Pending* pending, Value result) {
  pending->complete = true;
  if (pending->waiter != nullptr) {
    Deliver(pending->waiter, pending->waiter_step, std::move(result));
  } else {
    pending->result = std::move(result);
  }
}

void Device::Complete(const PostKey& key, Value result) {
  const auto post = posted_.find(key);
  HV_CHECK(post != posted_.end(), "a collective completes that nobody posted");
  const std::shared_ptr<Pending> pending = std::move(post->second.pending);
  posted_.erase(post);
  CompletePending(pending.get(), std::move(result));
}

std::vector<Value> Device::TakeOperands(Frame* frame, InstructionIndex index) {
  const std::span<const InstructionIndex> read = frame->plan->At(index).operands;
  std::vector<Value> operands;
  operands.reserve(read.size());
  for (InstructionIndex o : read) operands.push_back(TakeOperand(frame, o));
  return operands;
}

std::span<Value> Device::TakeFew(Frame* frame, InstructionIndex index, FewValues* few) {
  const std::span<const InstructionIndex> read = frame->plan->At(index).operands;
  for (const InstructionIndex o : read) few->Add(TakeOperand(frame, o));
  return few->all();
}

Frame* Device::NewFrame(ComputationIndex computation, FrameRole role, uint64_t first_site,
                        std::span<Value> arguments) {
  std::vector<Frame*>& free = free_frames_[static_cast<size_t>(computation)];
  const ComputationPlan& plan = context_->plan().computations[static_cast<size_t>(computation)];
  if (free.empty()) {
    frames_.push_back(std::make_unique<Frame>());
    free.push_back(frames_.back().get());
    free.back()->plan = &plan;
    free.back()->memos = context_->MemosOf(computation);
    free.back()->values.resize(plan.steps.size());
    free.back()->reads = plan.reads;
    for (const InstructionIndex c : plan.pinned) {
      Result<Value> constant = context_->Constant(plan, c);
      HV_CHECK(constant.has_value(), "a native constant has no value");
      free.back()->values[static_cast<size_t>(c)] = std::move(*constant);
    }
  }
  Frame* frame = free.back();
  free.pop_back();
  ++frames_alive_;
  frame->role = role;
  frame->parent = nullptr;
  frame->first_site = first_site;
  frame->execution = computation_runs_[static_cast<size_t>(computation)]++;
  frame->next = 0;
  if (plan.data_flow) {
    frame->unfinished = static_cast<int32_t>(plan.order.size());
    frame->waits_for = plan.waits_for;
    frame->ready = plan.first_ready;  // ascending: a heap
  }
  const std::vector<InstructionIndex>& parameters = plan.computation->parameters;
  HV_CHECK(arguments.size() == parameters.size(), "a computation gets the wrong argument count");
  for (size_t p = 0; p < parameters.size(); ++p) {
    const size_t i = static_cast<size_t>(parameters[p]);
    if (frame->reads[i] > 0) frame->values[i] = std::move(arguments[p]);
  }
  return frame;
}

void Device::StartChild(Frame* parent, InstructionIndex caller, Frame* child) {
  child->parent = parent;
  child->caller = caller;
  Enqueue(child);
}

void Device::StartCondition(Frame* parent, InstructionIndex caller, Value state) {
  const Step& loop = parent->plan->steps[static_cast<size_t>(caller)];
  Value argument = state;
  Frame* condition = NewFrame(loop.callees[0], FrameRole::kCondition,
                              parent->first_site + loop.site, {&argument, 1});
  condition->loop_state = std::move(state);
  StartChild(parent, caller, condition);
}

void Device::StartBranch(Frame* parent, InstructionIndex caller, size_t branch, FrameRole role,
                         Value argument, std::shared_ptr<Choice> choice) {
  const Instruction& conditional = parent->plan->computation->At(caller);
  const std::vector<ComputationIndex> branches = BranchesOf(conditional);
  uint64_t site = parent->first_site + parent->plan->steps[static_cast<size_t>(caller)].site;
  for (size_t b = 0; b < branch; ++b) {
    site += context_->plan().computations[static_cast<size_t>(branches[b])].sites;
  }
  Frame* child = NewFrame(branches[branch], role, site, {&argument, 1});
  child->choice = std::move(choice);
  StartChild(parent, caller, child);
}

void Device::NextBranch(Frame* parent, InstructionIndex caller, std::shared_ptr<Choice> choice) {
  const size_t branch = choice->results.size();
  if (branch < choice->arguments.size()) {
    Value argument = std::move(choice->arguments[branch]);
    StartBranch(parent, caller, branch, FrameRole::kBranch, std::move(argument), std::move(choice));
    return;
  }
  Result<Value> chosen = context_->domain().Choose(choice->selector, std::move(choice->results));
  if (chosen) {
    Deliver(parent, caller, std::move(*chosen));
  } else {
    Failed(std::move(chosen).error(), parent->plan->computation->At(caller));
  }
}

void Device::StartAsync(const std::shared_ptr<Pending>& pending) {
  Frame* frame = NewFrame(pending->start->Computation(Attr::kCalls), FrameRole::kAsync,
                          pending->first_site, pending->arguments);
  frame->pending = pending;
  pending->arguments.clear();
  Enqueue(frame);
}

void Device::FinishFrame(Frame* frame) {
  Value result = TakeOperand(frame, frame->plan->computation->root);
  free_frames_[static_cast<size_t>(frame->plan->index)].push_back(frame);
  --frames_alive_;
  switch (frame->role) {
    case FrameRole::kEntry:
      output_ = std::move(result);
      return;
    case FrameRole::kCall:
      Deliver(frame->parent, frame->caller, std::move(result));
      return;
    case FrameRole::kCondition:
      FinishCondition(frame, result);
      return;
    case FrameRole::kBody:
      FinishBody(frame, std::move(result));
      return;
    case FrameRole::kBranch:
      frame->choice->results.push_back(std::move(result));
      NextBranch(frame->parent, frame->caller, std::move(frame->choice));
      return;
    case FrameRole::kAsync: {
      const std::shared_ptr<Pending> pending = std::move(frame->pending);
      CompletePending(pending.get(), std::move(result));
    }
  }
}

void Device::FinishCondition(Frame* frame, const Value& predicate) {
  Frame* parent = frame->parent;
  Value state = std::move(frame->loop_state);
  const auto fail = [&](Error error) {
    Failed(std::move(error), parent->plan->computation->At(frame->caller));
  };
  const Result<int64_t> go_on = ControlScalar(predicate);
  if (!go_on) return fail(go_on.error());
  if (*go_on == 0) {
    Deliver(parent, frame->caller, std::move(state));
    return;
  }
  StartBody(parent, frame->caller, std::move(state), 0);
}

void Device::StartBody(Frame* parent, InstructionIndex caller, Value state, int64_t turns_left) {
  const int64_t limit = context_->options().max_steps;
  if (limit > 0 && ++loop_steps_ > limit) {
    Failed(Unsupported("loop-limit", "more than " + std::to_string(limit) +
                                         " loop iterations on one device").value(),
           parent->plan->computation->At(caller));
    return;
  }
  const Step& loop = parent->plan->At(caller);
  const uint64_t sites_before =
      loop.site + context_->plan().computations[static_cast<size_t>(loop.callees[0])].sites;
  Frame* body = NewFrame(loop.callees[1], FrameRole::kBody, parent->first_site + sites_before,
                         {&state, 1});
  body->turns_left = turns_left;
  StartChild(parent, caller, body);
}

void Device::FinishBody(Frame* body, Value state) {
  Frame* const parent = body->parent;
  if (body->turns_left == 0) return StartCondition(parent, body->caller, std::move(state));
  if (body->turns_left == 1) return Deliver(parent, body->caller, std::move(state));
  StartBody(parent, body->caller, std::move(state), body->turns_left - 1);
}

}  // namespace hv
