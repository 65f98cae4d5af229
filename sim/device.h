// One simulated device: runs its frames until all of them wait, and keeps what it has posted.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/frame.h"
#include "sim/meeting_plan.h"
#include "sim/run.h"

namespace hv {

// What the devices of one process share: the plan, the domain, constants evaluated once.
class RunContext {
 public:
  RunContext(const ModulePlan& plan, const RunOptions& options);
  const Module& module() const { return *plan_.module; }
  const ModulePlan& plan() const { return plan_; }
  const RunOptions& options() const { return options_; }
  Domain& domain() const { return *options_.domain; }
  // By instruction.
  StepMemo* MemosOf(ComputationIndex computation) {
    return memos_[static_cast<size_t>(computation)].data();
  }
  Result<Value> Constant(const ComputationPlan& plan, InstructionIndex index);
  int64_t local_devices() const { return local_devices_; }
  MeetingPlans& meeting_plans() { return meeting_plans_; }

 private:
  const ModulePlan& plan_;
  const RunOptions& options_;
  std::vector<std::vector<StepMemo>> memos_;
  MeetingPlans meeting_plans_;
  int64_t local_devices_;
};

class Device {
 public:
  Device(RunContext* context, DeviceId id);

  void Start(std::vector<Value> arguments);
  // Runs until every frame waits, all is finished, or an error stops the device. True if it merely
  // lets the other devices go on first: a large value is about to be changed that they still hold,
  // and without them it is changed in place. It does so once per step, so it comes to an end.
  bool Run();
  // Stops the device; the first error stands.
  void Fail(Error error) {
    if (!error_) error_ = std::move(error);
  }

  DeviceId id() const { return id_; }
  bool finished() const { return frames_alive_ == 0 && posted_.empty(); }
  const std::optional<Error>& error() const { return error_; }
  Value TakeOutput() { return std::move(output_); }

  // Entered and not complete.
  const std::map<PostKey, Posted>& posted() const { return posted_; }
  Posted& post(const PostKey& key) { return posted_.at(key); }
  // Hands the result to whoever waits for it and forgets the post.
  void Complete(const PostKey& key, Value result);

 private:
  // What became of a step: its value, or it waits (or the device failed) and yields nothing now.
  using StepValue = std::optional<Value>;

  void RunTextOrder(Frame* frame);
  void RunDataFlow(Frame* frame);

  // device_steps.cc: one method per step kind.
  StepValue Execute(Frame* frame, InstructionIndex index);
  StepValue ExecuteKind(Frame* frame, InstructionIndex index);
  StepValue ExecuteOnce(Frame* frame, InstructionIndex index);
  StepValue ExecuteLocal(Frame* frame, InstructionIndex index);
  StepValue ExecuteFused(Frame* frame, InstructionIndex index);
  StepValue ExecuteMove(Frame* frame, InstructionIndex index);
  StepValue ExecuteConstant(Frame* frame, InstructionIndex index);
  StepValue ExecuteTuple(Frame* frame, InstructionIndex index);
  StepValue ExecuteElement(Frame* frame, InstructionIndex index);
  StepValue ExecuteCollective(Frame* frame, InstructionIndex index);
  StepValue ExecuteDone(Frame* frame, InstructionIndex index);
  StepValue ExecuteAsyncStart(Frame* frame, InstructionIndex index);
  StepValue ExecuteAsyncUpdate(Frame* frame, InstructionIndex index);
  StepValue ExecuteWhile(Frame* frame, InstructionIndex index);
  StepValue ExecuteConditional(Frame* frame, InstructionIndex index);
  StepValue ExecuteChoice(Frame* frame, InstructionIndex index, std::vector<Value> operands);
  StepValue ExecuteCall(Frame* frame, InstructionIndex index);
  bool LetsOthersFirst(Frame* frame, InstructionIndex index) {
    if (frame->plan->At(index).kind != StepKind::kLocal) return false;
    const PreparedKernel* kernel = frame->memos[index].kernel.get();
    return kernel != nullptr && kernel->Overwrites() && PausesBefore(frame, index);
  }
  bool PausesBefore(Frame* frame, InstructionIndex index);
  StepValue Failed(Error error, const Instruction& instruction);
  Result<int64_t> ControlScalar(const Value& value) const;

  // Enters a collective; what it yields comes through the pending value.
  Result<std::shared_ptr<Pending>> Post(Frame* frame, InstructionIndex index);
  // Sets the key of a send or recv; false if this device has no partner.
  Result<bool> AddressMessage(const Collective& collective, PostKey* key) const;
  int64_t NextExecution(uint64_t site, Role role) { return executions_[{site, role}]++; }

  Value TakeOperand(Frame* frame, InstructionIndex operand) {
    if (IsLastRead(frame, operand)) return std::move(frame->values[static_cast<size_t>(operand)]);
    return frame->values[static_cast<size_t>(operand)];
  }
  // Counts one read. With the last one counts start anew, for the next run of the frame; what is
  // pinned stays.
  static bool IsLastRead(Frame* frame, InstructionIndex operand) {
    int32_t& reads = frame->reads[static_cast<size_t>(operand)];
    if (--reads > 0) return false;
    const Step& step = frame->plan->At(operand);
    reads = step.reads;
    return step.kind != StepKind::kPinned;
  }
  std::vector<Value> TakeOperands(Frame* frame, InstructionIndex index);
  std::span<Value> TakeFew(Frame* frame, InstructionIndex index, FewValues* few);
  void FinishStep(Frame* frame, InstructionIndex index, Value&& value);
  // What a done (or a synchronous collective) yields, given what its start has brought about.
  static Value YieldOfDone(const Instruction& done, Value result);
  // Brings a step what it has waited for.
  void Deliver(Frame* frame, InstructionIndex index, Value value);
  void CompletePending(Pending* pending, Value result);

  Frame* NewFrame(ComputationIndex computation, FrameRole role, uint64_t first_site,
                  std::span<Value> arguments);  // moved from
  void StartChild(Frame* parent, InstructionIndex caller, Frame* child);
  void StartCondition(Frame* parent, InstructionIndex caller, Value state);
  void StartBody(Frame* parent, InstructionIndex caller, Value state, int64_t turns_left);
  void FinishBody(Frame* body, Value state);
  void StartBranch(Frame* parent, InstructionIndex caller, size_t branch, FrameRole role,
                   Value argument, std::shared_ptr<Choice> choice);
  void NextBranch(Frame* parent, InstructionIndex caller, std::shared_ptr<Choice> choice);
  void StartAsync(const std::shared_ptr<Pending>& pending);
  void FinishFrame(Frame* frame);
  void FinishCondition(Frame* frame, const Value& predicate);
  void Enqueue(Frame* frame);

  RunContext* context_;
  DeviceId id_;
  ReplicaId replica_;
  PartitionId partition_;
  std::vector<std::unique_ptr<Frame>> frames_;      // all ever made
  std::vector<std::vector<Frame*>> free_frames_;    // by computation
  std::vector<int64_t> computation_runs_;           // by computation
  std::vector<Frame*> runnable_;                    // last in, first out
  int64_t frames_alive_ = 0;
  std::map<PostKey, Posted> posted_;
  std::map<std::pair<uint64_t, Role>, int64_t> executions_;  // of each site so far
  int64_t loop_steps_ = 0;
  bool has_time_limit_ = false;  // found out when devices go on
  bool paused_ = false;         // for others to go first
  bool paused_before_ = false;  // at the step that comes next
  Value output_;
  std::optional<Error> error_;
};

// The diagnostics of `error`, placed at the instruction where they have no place of their own.
Error PlacedAt(Error error, const Module& module, const Instruction& instruction);

}  // namespace hv
