// Runs HLO text on all devices of its mesh in this process, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "hlo/parser.h"
#include "hlo/validator.h"
#include "sim/generated_inputs.h"
#include "sim/literal_json.h"
#include "sim/run.h"

namespace hv {

inline Module ParseOrDie(const std::string& text) {
  Result<Module> module = ParseModule("test.hlo", text);
  if (!module) ADD_FAILURE() << FormatError(module.error());
  return std::move(module).value();
}

// One run; keeps what values point into.
struct TestRun {
  explicit TestRun(const std::string& text, RunOptions given = {}, bool validate = true)
      : module(ParseOrDie(text)), domain(MakeNativeDomain()), transport(MakeLocalTransport()),
        options(given) {
    const DeviceCounts counts = DeduceCounts(module);
    mesh = {counts.replicas, counts.partitions};
    if (validate) {
      const Status valid = Validate(module, counts);
      EXPECT_TRUE(valid) << FormatError(valid.error());
    }
    options.domain = domain.get();
    options.transport = transport.get();
  }

  // Parameter p of device d is the p-th of `inputs[d]` as JSON; generated if there are none.
  TestRun& Run(const std::vector<std::vector<std::string>>& inputs = {}) {
    const auto input = [&](DeviceId device, int64_t parameter) -> Result<Value> {
      const Computation& entry = module.Entry();
      const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(parameter)]).shape;
      if (inputs.empty()) return GenerateInput(shape, {1, 0, device, parameter});
      const auto& text =
          inputs[static_cast<size_t>(device.value)][static_cast<size_t>(parameter)];
      const Result<JsonDocument> json = JsonDocument::Parse("input", text);
      if (!json) return tl::make_unexpected(json.error());
      return ReadLiteralJson(json->root(), shape);
    };
    Result<RunOutcome> result = RunModule(module, mesh, input, options);
    if (result) {
      outcome = std::move(*result);
    } else {
      error = result.error();
    }
    return *this;
  }

  // Leaves of a device's output, joined by blanks.
  std::string Output(int64_t device) const {
    if (error) return "error: " + error->Message();
    if (outcome.stall) return outcome.stall->ToString();
    std::string text;
    for (const Value& leaf : Leaves(outcome.outputs.at(DeviceId(device)))) {
      if (!text.empty()) text += ' ';
      AppendLiteralJson(leaf, &text);
    }
    return text;
  }

  Module module;
  Mesh mesh;
  std::unique_ptr<Domain> domain;
  std::unique_ptr<Transport> transport;
  RunOptions options;
  RunOutcome outcome;
  std::optional<Error> error;
};

}  // namespace hv
