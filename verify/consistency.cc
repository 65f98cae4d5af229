#include "verify/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace hv {
namespace {

// The leaves of all devices, [leaf][device].
std::vector<std::vector<Value>> ByLeaf(const Outputs& outputs) {
  std::vector<std::vector<Value>> leaves;
  for (const auto& [device, value] : outputs) {
    const std::vector<Value> own = Leaves(value);
    leaves.resize(own.size());
    for (size_t leaf = 0; leaf < own.size(); ++leaf) leaves[leaf].push_back(own[leaf]);
  }
  return leaves;
}

// First pair of devices that agree in all runs of `before` and not in all of `after`; runs of one
// leaf, [run][device].
std::string DriftOfLeaf(const Mesh& mesh, size_t leaf,
                        const std::vector<const std::vector<Value>*>& before,
                        const std::vector<const std::vector<Value>*>& after) {
  const auto agree = [](const std::vector<const std::vector<Value>*>& runs, size_t a, size_t b) {
    return std::all_of(runs.begin(), runs.end(),
                       [&](const auto* run) { return SameBits((*run)[a], (*run)[b]); });
  };
  // Agreement is transitive: it is enough to look at the first device of each class.
  std::vector<size_t> classes;
  for (size_t d = 0; d < before[0]->size(); ++d) {
    const auto first =
        std::find_if(classes.begin(), classes.end(), [&](size_t c) { return agree(before, c, d); });
    if (first == classes.end()) {
      classes.push_back(d);
    } else if (!agree(after, *first, d)) {
      return fmt::format(
          "output {} has the same bits on devices {} and {} before, not always after", leaf,
          mesh.NameOf(DeviceId(static_cast<int64_t>(*first))),
          mesh.NameOf(DeviceId(static_cast<int64_t>(d))));
    }
  }
  return "";
}

using Runs = std::vector<std::vector<std::vector<Value>>>;  // [run][leaf][device]

std::string DriftOf(const Mesh& mesh, const Runs& before, const Runs& after) {
  for (size_t leaf = 0; leaf < before[0].size(); ++leaf) {
    const ElementType type = before[0][leaf][0].shape()->type;
    if (!IsFloat(type) && !IsComplex(type)) continue;
    std::vector<const std::vector<Value>*> x, y;
    for (size_t run = 0; run < before.size(); ++run) {
      x.push_back(&before[run][leaf]);
      y.push_back(&after[run][leaf]);
    }
    std::string drift = DriftOfLeaf(mesh, leaf, x, y);
    if (!drift.empty()) return drift;
  }
  return "";
}

}  // namespace

std::string FindDrift(const Pair& pair, const NativeRuns& native, uint64_t seed, int64_t trials) {
  constexpr ReductionOrder kOrders[] = {ReductionOrder::kGroup, ReductionOrder::kRing,
                                        ReductionOrder::kRandom};
  if (pair.mesh.devices() == 1) return "";
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  Runs before, after;
  for (int64_t trial = 0; trial < trials; ++trial) {
    for (ReductionOrder order : kOrders) {
      NativeInput input;
      input.values = trial % 2 == 0 ? NativeInput::Values::kRealNumbers
                                    : NativeInput::Values::kCancelling;
      input.seed = seed;
      input.trial = static_cast<uint64_t>(trial);
      const NativeRuns::Ran ran = native.RunInOrder(input, transport.get(), order);
      if (!ran.finished()) return "";
      before.push_back(ByLeaf(ran.outputs[0]));
      after.push_back(ByLeaf(ran.outputs[1]));
    }
    if (trial == 0) continue;
    std::string drift = DriftOf(pair.mesh, before, after);
    if (!drift.empty()) return drift;
  }
  return "";
}

}  // namespace hv
