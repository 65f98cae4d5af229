// Runs a module before and after a rewrite on every device of its mesh, in one process, on the same
// generated inputs. Reductions go in group order, so a sound rewrite keeps every bit.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "eval/domain.h"
#include "hlo/validator.h"
#include "sim/generated_inputs.h"
#include "sim/run.h"

namespace hv {

inline Result<RunOutcome> RunOnMesh(const Module& module, DeviceCounts counts, uint64_t trial) {
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  RunOptions options;
  options.domain = domain.get();
  options.transport = transport.get();
  const Computation& entry = module.Entry();
  const InputFn inputs = [&](DeviceId device, int64_t parameter) -> Result<Value> {
    const InstructionIndex at = entry.parameters[static_cast<size_t>(parameter)];
    return GenerateInput(entry.At(at).shape, {1, trial, device, parameter});
  };
  return RunModule(module, Mesh{counts.replicas, counts.partitions}, inputs, options);
}

enum class Agreement { kSame, kDifferent, kNotRun };

// `*note` says which device differs, or why a module did not run.
inline Agreement CompareRuns(const Module& before, const Module& after, DeviceCounts counts,
                             std::string* note) {
  for (uint64_t trial = 0; trial < 3; ++trial) {
    const Result<RunOutcome> a = RunOnMesh(before, counts, trial);
    const Result<RunOutcome> b = RunOnMesh(after, counts, trial);
    for (const auto* run : {&a, &b}) {
      if (*run && !(*run)->stall) continue;
      *note = *run ? (*run)->stall->ToString() : FormatError(run->error());
      return Agreement::kNotRun;
    }
    for (const auto& [device, value] : a->outputs) {
      if (SameBits(value, b->outputs.at(device))) continue;
      *note = "device " + std::to_string(device.value) + ", trial " + std::to_string(trial);
      return Agreement::kDifferent;
    }
  }
  return Agreement::kSame;
}

}  // namespace hv
