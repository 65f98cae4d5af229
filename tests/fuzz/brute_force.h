// The truth about small pairs, found without the verifier: both modules run natively, in this
// process, on whole numbers that keep every sum exact and on one-hot inputs for every leaf.
#pragma once

#include <optional>
#include <string>

#include "hlo/module.h"
#include "sim/mesh.h"
#include "sim/run.h"

namespace hv {

enum class Truth : uint8_t { kNoDifference, kDifferent, kStalls, kDrifts, kNotRun };

struct TruthOptions {
  bool one_hot = true;  // if whole numbers show no difference
  bool stall = false;   // look for one, whatever differs
  bool drift = false;   // look for replicas that drift apart, if values agree
  double exact_up_to = 1 << 20;  // whole numbers beyond may have met roundings on the way
};

// `*why` (if not null): which device differs on what.
Truth FindTruth(const Module& before, const Module& after, const Mesh& mesh,
                const TruthOptions& options, std::string* why);

// Do the outputs differ on one input? Signs of zero and NaN bits apart.
bool DiffersOn(const Module& before, const Module& after, const Mesh& mesh,
               const InputFn& before_inputs, const InputFn& after_inputs);

}  // namespace hv
