// The resumable state of one device: a tree of frames, each one run of a computation. Nothing here is
// a thread; a frame that waits just stays in memory until what it waits for is delivered.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "eval/domain.h"
#include "eval/value.h"
#include "sim/plan.h"

namespace hv {

struct Frame;

// What the first run of a step finds out for all later ones, on every device of the process.
struct StepMemo {
  Value constant;                          // kConstant
  bool is_prepared = false;                // kLocal: has `kernel` been asked for?
  std::unique_ptr<PreparedKernel> kernel;  // may be null
  Value shared;                            // of a step that is alike on all devices
  int64_t takers = 0;                      // devices that have not taken it yet
};

// Operands of one step, which are few, in order. On the stack: asking for memory costs more than most
// steps of a loop.
class FewValues {
 public:
  static constexpr size_t kMost = 8;
  FewValues() = default;
  ~FewValues() { std::destroy_n(values(), count_); }
  FewValues(const FewValues&) = delete;
  FewValues& operator=(const FewValues&) = delete;

  void Add(Value value) { new (values() + count_++) Value(std::move(value)); }
  std::span<Value> all() { return {values(), count_}; }

 private:
  Value* values() { return reinterpret_cast<Value*>(storage_); }

  alignas(Value) std::byte storage_[kMost * sizeof(Value)];
  size_t count_ = 0;
};

// What a start has set off: completed by a collective, or by the computation of an async-start.
struct Pending {
  bool complete = false;
  Value result;
  Frame* waiter = nullptr;              // the frame whose step `waiter_step` waits for the result
  InstructionIndex waiter_step = -1;
  const Instruction* start = nullptr;   // async-start whose operands are not all bound yet
  uint64_t first_site = 0;              // of its computation
  std::vector<Value> arguments;
};

// What a start yields until its done reads it: a first-class value, so that it may travel through
// tuples and loop states.
struct AsyncHandle : ExtendedValue {
  explicit AsyncHandle(std::shared_ptr<Pending> p) : pending(std::move(p)) {}
  std::shared_ptr<Pending> pending;
};

// Which end of a transfer a device holds; kMember for everything that is not send or recv.
enum class Role : uint8_t { kMember, kSender, kReceiver };

// Names one collective of one group in one run, on every rank alike.
struct CollectiveKey {
  uint64_t site = 0;
  int64_t execution = 0;  // how often the device executed the site before
  int64_t group = 0;      // index into the grouping; source * devices + target of a transfer

  friend auto operator<=>(const CollectiveKey&, const CollectiveKey&) = default;
};

struct PostKey {
  CollectiveKey collective;
  Role role = Role::kMember;

  friend auto operator<=>(const PostKey&, const PostKey&) = default;
};

// A collective a device has entered and that has not completed yet.
struct Posted {
  int32_t collective = -1;        // index into the plan
  std::vector<Value> operands;    // leaves
  std::vector<Value> selectors;   // data that must have picked the branches around it, inside out
  std::shared_ptr<Pending> pending;
};

// A conditional whose selector is data: its branches run one after the other, each as if selected.
struct Choice {
  Value selector;
  std::vector<Value> arguments;  // of the branches
  std::vector<Value> results;    // of those that have run
};

enum class FrameRole : uint8_t { kEntry, kCall, kCondition, kBody, kBranch, kAsync };

struct Frame {
  const ComputationPlan* plan = nullptr;
  StepMemo* memos = nullptr;            // by instruction, shared by all frames of the computation
  FrameRole role = FrameRole::kEntry;
  Frame* parent = nullptr;              // null for kEntry and kAsync
  InstructionIndex caller = -1;         // step of the parent
  uint64_t first_site = 0;
  int64_t execution = 0;                // how often the device ran this computation before
  std::shared_ptr<Pending> pending;     // kAsync: what it completes
  Value loop_state;                     // kCondition
  int64_t turns_left = 0;               // kBody: with this one; 0: the condition tells
  std::shared_ptr<Choice> choice;       // kBranch: what it is a branch of
  std::vector<Value> values;            // by instruction; empty once read for the last time
  std::vector<int32_t> reads;           // reads still to come
  bool queued = false;                  // on the device's list of frames with something to run
  // Text order:
  size_t next = 0;                      // into ComputationPlan::order
  // Data flow:
  int32_t unfinished = 0;               // steps that have not run to their end
  std::vector<int32_t> waits_for;       // predecessors still to come
  std::vector<InstructionIndex> ready;  // a heap, lowest number first
};

}  // namespace hv
