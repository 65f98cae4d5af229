#include "sim/run.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/time_limit.h"
#include "sim/agreement.h"
#include "sim/device.h"
#include "sim/events.h"
#include "sim/exchange.h"
#include "sim/plan.h"
#include "sim/rounds.h"
#include "sim/work_note.h"

namespace hv {
namespace {

// May ranks of a node keep one array of what an all-reduce yields? The same on all ranks.
bool SharesResults(const RunOptions& options) {
  return !options.private_results && options.domain->IsNative() &&
         options.order == ReductionOrder::kGroup;
}

class Run {
 public:
  Run(const ModulePlan& plan, const RunOptions& options, bool by_groups)
      : plan_(plan), options_(options), context_(plan, options),
        placement_{plan.mesh.devices(), options.transport->size()},
        rounds_(plan, placement_, options.transport, by_groups, SharesResults(options)) {}

  Result<RunOutcome> Execute(const InputFn& inputs) {
    StartDevices(inputs);
    const auto begin = std::chrono::steady_clock::now();
    RunOutcome outcome;
    while (true) {
      RunDevices();
      Agreement agreement = rounds_.Agree(devices_);
      if (agreement.error) return tl::make_unexpected(std::move(*agreement.error));
      if (agreement.stall) {
        outcome.stall = std::move(agreement.stall);
        break;
      }
      if (agreement.finished) break;
      if (options_.record_events) RecordEvents(agreement.complete, devices_, &outcome.events);
      CompleteMeetings(&context_, devices_, placement_, agreement.complete, agreement.board);
    }
    outcome.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    outcome.peak_bytes = ProcessMemoryUse().peak_bytes;
    for (const auto& device : devices_) {
      if (!outcome.stall) outcome.outputs[device->id()] = device->TakeOutput();
    }
    return outcome;
  }

  // Has a rank met in a part of its node? Collective over all ranks.
  bool RanAhead() {
    const auto rank = static_cast<uint64_t>(options_.transport->rank().value);
    return !options_.transport->AllEqual(rounds_.ran_ahead() ? rank + 1 : 0);
  }

 private:
  // One device that is out of time speaks for all.
  void RunDevices() {
    for (bool some_paused = true; some_paused;) {
      some_paused = false;
      for (const auto& device : devices_) {
        some_paused |= device->Run();
        if (device->error() && device->error()->kind == ErrorKind::kTime) return;
      }
    }
  }

  void StartDevices(const InputFn& inputs) {
    const Rank rank = options_.transport->rank();
    const int64_t first = placement_.FirstOf(rank);
    shared_.resize(plan_.Entry().computation->parameters.size());
    for (int64_t d = first; d < first + placement_.CountOf(rank); ++d) {
      devices_.push_back(std::make_unique<Device>(&context_, DeviceId(d)));
      if (TimeLimit::IsOver()) {
        devices_.back()->Fail(OutOfTime().value());
        return;
      }
      std::vector<Value> arguments;
      const size_t count = plan_.Entry().computation->parameters.size();
      for (size_t p = 0; p < count; ++p) {
        Result<Value> argument = inputs(DeviceId(d), static_cast<int64_t>(p));
        if (argument) {
          arguments.push_back(Shared(std::move(*argument), &shared_[p]));
        } else {
          devices_.back()->Fail(std::move(argument).error());
        }
      }
      if (arguments.size() == count) devices_.back()->Start(std::move(arguments));
    }
    shared_.clear();
  }

  // A parameter that is the same on neighbouring devices is kept once.
  static Value Shared(Value argument, Value* last) {
    if (argument.IsDense() && last->IsDense() && SameBits(argument, *last)) return *last;
    return *last = std::move(argument);
  }

  const ModulePlan& plan_;
  const RunOptions& options_;
  RunContext context_;
  Placement placement_;
  Rounds rounds_;
  const WorkNote::Run work_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<Value> shared_;  // while devices start: the last argument of every parameter
};

Status CheckMemory(const Module& module, const Mesh& mesh, const RunOptions& options) {
  if (options.memory_limit_bytes <= 0) return {};
  const int64_t ranks_here = options.transport->ranks_per_node();
  const Placement placement{mesh.devices(), options.transport->size()};
  const int64_t devices_here =
      std::min(mesh.devices(), placement.CountOf(Rank(0)) * ranks_here);
  const int64_t per_device = EstimatePeakBytes(module);
  if (per_device <= options.memory_limit_bytes / devices_here) return {};
  return OutOfMemory("about " + std::to_string(per_device) + " bytes on each of " +
                     std::to_string(devices_here) + " devices exceed the memory limit of " +
                     std::to_string(options.memory_limit_bytes) + " bytes");
}

// May groups go on without each other? Not where somebody looks on, and not if sends and recvs match
// in the order in which devices come to them. The same on all ranks.
bool MayRunAhead(const ModulePlan& plan, const RunOptions& options) {
  const bool in_order = std::any_of(plan.collectives.begin(), plan.collectives.end(),
                                    [](const Collective& c) { return c.by_channel; });
  return !in_order && !options.observer && !options.record_events;
}

// Is there time left, on every rank? All of them have a limit, or none.
Status CheckTime(Transport* transport) {
  if (!TimeLimit::IsSet()) return {};
  const bool over = TimeLimit::IsOver();
  if (transport->AllEqual(over ? 1 : 0) && !over) return {};
  return OutOfTime();
}

}  // namespace

Result<RunOutcome> RunModule(const Module& module, const Mesh& mesh, const InputFn& inputs,
                             const RunOptions& options) {
  HV_CHECK(options.domain != nullptr && options.transport != nullptr,
           "a run needs a domain and a transport");
  HV_RETURN_IF_ERROR(CheckTime(options.transport));
  const bool fuse = options.domain->IsNative() && !options.observer;
  HV_ASSIGN(const ModulePlan plan,
            MakePlan(module, mesh, fuse ? Fusion::kElementwise : Fusion::kNone));
  HV_RETURN_IF_ERROR(CheckMemory(module, mesh, options));
  if (!options.transport->AllEqual(plan.fingerprint)) {
    return Invalid("ranks-differ", "the ranks were given different modules or meshes");
  }
  ProcessMemoryUse().peak_bytes = ProcessMemoryUse().live_bytes;
  const bool by_groups = MayRunAhead(plan, options);
  {
    Run run(plan, options, by_groups);
    Result<RunOutcome> outcome = run.Execute(inputs);
    if (outcome || !by_groups || outcome.error().kind == ErrorKind::kTime || !run.RanAhead()) {
      return outcome;
    }
  }
  // Who comes first to which error must not depend on who ran ahead.
  return Run(plan, options, false).Execute(inputs);
}

}  // namespace hv
