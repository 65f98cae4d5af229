// Reads case.json: inputs of each device, and what must come out. The format is that of
// tests/data/cases and tests/data/real (see the READMEs there).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "eval/value.h"
#include "hlo/module.h"
#include "sim/mesh.h"

namespace hv {

class CaseFile {
 public:
  // What a run of the module must end in.
  enum class Outcome : uint8_t { kAny, kValues, kInvalid, kDeadlock };

  // `expected_key`: the key whose values are expected; empty: `expected` if it is an object, else
  // "expected_outputs". The words "invalid" and "deadlock" are outcomes.
  static Result<CaseFile> Read(const std::string& path, const std::string& expected_key);

  Outcome outcome() const { return outcome_; }
  double tolerance() const { return tolerance_; }
  std::optional<int64_t> replicas() const { return replicas_; }
  std::optional<int64_t> partitions() const { return partitions_; }
  bool has_inputs() const { return inputs_ != nullptr || inputs_all_ != nullptr; }
  // Of ENTRY's parameter on a device. Errors: "bad-case", "bad-literal".
  Result<Value> Input(const Module& module, const Mesh& mesh, DeviceId device,
                      int64_t parameter) const;
  // Leaves of the result of a device; only for kValues.
  Result<std::vector<Value>> Expected(const Module& module, const Mesh& mesh,
                                      DeviceId device) const;

 private:
  Status Interpret(const std::string& expected_key);
  Result<const Json*> ListOf(const Json& by_device, const Mesh& mesh, DeviceId device,
                             size_t count) const;

  std::optional<JsonDocument> document_;  // keeps the nodes alive
  const Json* inputs_ = nullptr;
  const Json* inputs_all_ = nullptr;
  const Json* expected_ = nullptr;
  Outcome outcome_ = Outcome::kAny;
  double tolerance_ = 0;
  std::optional<int64_t> replicas_, partitions_;
};

}  // namespace hv
