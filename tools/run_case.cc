#include "tools/run_case.h"

#include <filesystem>
#include <utility>

#include "base/time_limit.h"
#include "hlo/parser.h"
#include "hlo/validator.h"
#include "sim/agreement.h"
#include "sim/case_file.h"
#include "sim/compare.h"
#include "sim/generated_inputs.h"
#include "sim/library_reduction.h"
#include "sim/literal_json.h"
#include "sim/trace.h"
#include "sim/watchdog.h"
#include "tools/output_file.h"
#include "verify/report_model.h"

namespace hv {
namespace {

using Outcome = CaseFile::Outcome;

// Explicit counts must not contradict the header.
Result<Mesh> MeshOf(const Module& module, const CaseFile* file, const RunSettings& settings) {
  const DeviceCounts deduced = DeduceCounts(module);
  const auto choose = [&](std::optional<int64_t> flag, std::optional<int64_t> header,
                          std::optional<int64_t> stated, int64_t otherwise,
                          const char* what) -> Result<int64_t> {
    if (flag && header && *flag != *header) {
      return Invalid("mesh-contradicts-header", std::string("the module header says ") + what +
                                                    "=" + std::to_string(*header));
    }
    if (flag && *flag < 1) return Invalid("bad-mesh", std::string(what) + " must be positive");
    return flag ? *flag : header ? *header : stated ? *stated : otherwise;
  };
  Mesh mesh;
  HV_ASSIGN(mesh.replicas, choose(settings.replicas, module.replica_count,
                                  file != nullptr ? file->replicas() : std::nullopt,
                                  deduced.replicas, "replica_count"));
  HV_ASSIGN(mesh.partitions, choose(settings.partitions, module.num_partitions,
                                    file != nullptr ? file->partitions() : std::nullopt,
                                    deduced.partitions, "num_partitions"));
  if (mesh.replicas > kMostDevices || mesh.partitions > kMostDevices / mesh.replicas) {
    return Invalid("bad-mesh", "more than " + std::to_string(kMostDevices) + " devices");
  }
  return mesh;
}

std::string Shortened(const std::string& literal) {
  constexpr size_t kMost = 100;
  return literal.size() <= kMost ? literal : literal.substr(0, kMost) + "...";
}

class CaseRunner {
 public:
  CaseRunner(const RunSettings& settings, Transport* transport, CaseRun* run)
      : settings_(settings), transport_(transport), run_(run) {}

  Status Run(const std::string& module_path, const std::string& case_path) {
    Status ready = Load(module_path, case_path);
    HV_RETURN_IF_ERROR(AgreeOnError(ready, transport_));
    std::unique_ptr<Domain> domain = MakeNativeDomain(settings_.seed);
    RunOptions options;
    options.domain = domain.get();
    options.transport = transport_;
    options.order = settings_.order;
    if (options.order == ReductionOrder::kMpi) run_->notes = KeptInGroupOrder(*module_, *transport_);
    options.order_seed = settings_.seed;
    options.accumulate_wide = settings_.accumulate_wide;
    options.memory_limit_bytes = settings_.memory_limit_bytes;
    options.max_steps = settings_.max_loop_steps;
    Trace trace;
    if (!settings_.trace_file.empty()) options.observer = trace.Observer();
    HV_ASSIGN(RunOutcome outcome,
              RunModule(*module_, run_->mesh,
                        [this](DeviceId d, int64_t p) { return Input(d, p); }, options));
    run_->seconds = outcome.seconds;
    run_->stall = std::move(outcome.stall);
    for (const std::string& peak : transport_->AllGather(std::to_string(outcome.peak_bytes))) {
      run_->peak_bytes += std::stoll(peak);
    }
    HV_RETURN_IF_ERROR(WriteTrace(trace));
    if (run_->stall) return {};
    return CollectOutputs(outcome.outputs);
  }

  Outcome expected() const { return case_ ? case_->outcome() : Outcome::kAny; }

 private:
  Status Load(const std::string& module_path, const std::string& case_path) {
    if (!case_path.empty()) {
      HV_ASSIGN(case_, CaseFile::Read(case_path, settings_.expected_key));
    }
    HV_ASSIGN(module_, ParseModuleFile(module_path));
    if (run_->name.empty()) run_->name = std::string(module_->name);
    HV_ASSIGN(run_->mesh, MeshOf(*module_, case_ ? &*case_ : nullptr, settings_));
    const DeviceCounts counts{run_->mesh.replicas, run_->mesh.partitions};
    HV_RETURN_IF_ERROR(Validate(*module_, counts));
    if (settings_.custom_calls.empty()) return {};
    HV_RETURN_IF_ERROR(DefineCustomCalls(settings_.custom_calls, &*module_));
    return Validate(*module_, counts);
  }

  Result<Value> Input(DeviceId device, int64_t parameter) const {
    if (case_ && case_->has_inputs()) return case_->Input(*module_, run_->mesh, device, parameter);
    const Computation& entry = module_->Entry();
    const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(parameter)]).shape;
    return GenerateInput(shape, {settings_.seed, 0, device, parameter});
  }

  Status WriteTrace(const Trace& trace) const {
    if (settings_.trace_file.empty()) return {};
    std::string events;
    for (const std::string& part : GatherOnFirst(transport_, trace.events())) events += part;
    Status written;
    if (transport_->rank() == Rank(0)) {
      written = WriteOutput(settings_.trace_file, Trace::Document(events));
    }
    return AgreeOnError(written, transport_);
  }

  Status CollectOutputs(const std::map<DeviceId, Value>& outputs) {
    std::string json, text, difference;
    Status compared;
    for (const auto& [device, value] : outputs) {
      Render(value, &json, &text);
      if (expected() != Outcome::kValues || !compared || !difference.empty()) continue;
      Result<std::string> found = Difference(device, value);
      if (found) {
        difference = *found;
      } else {
        compared = tl::make_unexpected(found.error());
      }
    }
    HV_RETURN_IF_ERROR(AgreeOnError(compared, transport_));
    for (const std::string& found : transport_->AllGather(difference)) {
      if (run_->difference.empty()) run_->difference = found;
    }
    SplitLines(GatherOnFirst(transport_, json), &run_->outputs);
    SplitLines(GatherOnFirst(transport_, text), &run_->texts);
    return {};
  }

  // One line per device.
  void Render(const Value& value, std::string* json, std::string* text) const {
    if (!settings_.keep_outputs) return;
    *json += '[';
    bool first = true;
    for (const Value& leaf : Leaves(value)) {
      std::string literal;
      AppendLiteralJson(leaf, &literal);
      if (!first) *json += ", ", *text += "  ";
      first = false;
      *text += ToString(*leaf.shape(), false) + " " + Shortened(literal);
      *json += literal;
    }
    *json += "]\n";
    *text += '\n';
  }

  static void SplitLines(const std::vector<std::string>& parts, std::vector<std::string>* lines) {
    for (const std::string& part : parts) {
      for (size_t begin = 0; begin < part.size();) {
        const size_t end = part.find('\n', begin);
        lines->push_back(part.substr(begin, end - begin));
        begin = end + 1;
      }
    }
  }

  // Where the outputs of a device differ from the expected ones; empty if nowhere.
  Result<std::string> Difference(DeviceId device, const Value& value) const {
    HV_ASSIGN(const std::vector<Value> expected_leaves,
              case_->Expected(*module_, run_->mesh, device));
    const std::vector<Value> leaves = Leaves(value);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const auto difference = Compare(leaves[i], expected_leaves[i], case_->tolerance());
      if (!difference) continue;
      std::string index;
      for (int64_t k : difference->index) index += (index.empty() ? "" : ",") + std::to_string(k);
      return "device " + run_->mesh.NameOf(device) + " output " + std::to_string(i) + "[" + index +
             "] is " + difference->got + ", expected " + difference->expected + " (" +
             std::to_string(difference->count) + " of " +
             std::to_string(leaves[i].element_count()) + " elements differ)";
    }
    return std::string();
  }

  const RunSettings& settings_;
  Transport* transport_;
  CaseRun* run_;
  std::optional<CaseFile> case_;
  std::optional<Module> module_;
};

// Compares how the run ended with how it should have.
void Judge(Outcome expected, CaseRun* run) {
  const bool invalid = run->error && run->error->kind == ErrorKind::kInvalid;
  if (expected == Outcome::kInvalid) {
    run->agrees = invalid;
    run->difference = invalid ? "" : "the module should be invalid";
  } else if (expected == Outcome::kDeadlock) {
    run->agrees = run->stall.has_value();
    run->difference = run->stall ? "" : "the module should deadlock";
  } else if (expected == Outcome::kValues && !run->error && !run->stall) {
    run->agrees = run->difference.empty();
  }
  if (run->agrees) {
    run->exit_code = *run->agrees ? kExitOk : run->error ? kExitBadInput : kExitMissed;
  } else {
    run->exit_code = run->error ? kExitBadInput : run->stall ? kExitMissed : kExitOk;
  }
}

}  // namespace

CaseRun RunCase(const std::string& module_path, const std::string& case_path,
                const RunSettings& settings, Transport* transport) {
  CaseRun run;
  const TimeLimit limit(settings.timeout_seconds);
  transport->LimitWaits(PatienceFor(settings.timeout_seconds));
  CaseRunner runner(settings, transport, &run);
  if (Status status = runner.Run(module_path, case_path); !status) run.error = status.error();
  transport->LimitWaits(0);
  if (run.name.empty()) run.name = std::filesystem::path(module_path).filename();
  run.label = case_path.empty() ? module_path
                                : std::string(std::filesystem::path(case_path).parent_path());
  Judge(runner.expected(), &run);
  return run;
}

CaseFolder FindCase(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path path(folder);
  std::error_code error;
  CaseFolder found;
  if (!fs::exists(path / "case.json", error)) return found;
  found.case_path = path / "case.json";
  const Result<CaseFile> file = CaseFile::Read(found.case_path, "");
  const bool about_last = file && (file->outcome() == CaseFile::Outcome::kInvalid ||
                                   file->outcome() == CaseFile::Outcome::kDeadlock);
  for (const char* name : {"module.hlo", "after.hlo", "before.hlo"}) {
    if (std::string_view(name) == "after.hlo" && !about_last) continue;
    if (!fs::exists(path / name, error)) continue;
    found.module_path = path / name;
    break;
  }
  return found;
}

}  // namespace hv
