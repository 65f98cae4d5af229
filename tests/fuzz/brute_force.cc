#include "tests/fuzz/brute_force.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/philox.h"
#include "eval/domain.h"
#include "eval/scalar_op.h"
#include "sim/transport.h"

namespace hv {
namespace {

constexpr int64_t kMostOneHot = 600;

double AsDouble(const Value& value, int64_t element) {
  const ElementType type = value.shape()->type;
  const size_t width = static_cast<size_t>(HostBytes(type));
  const std::byte* in = value.bytes().data() + static_cast<size_t>(element) * width;
  double number = 0;
  ScalarOp::Convert(type, ElementType::kF64)
      ->Run({&in, 1}, reinterpret_cast<std::byte*>(&number), 1);
  return number;
}

bool SameNumbers(const Value& a, const Value& b, double exact_up_to) {
  if (SameBits(a, b)) return true;
  if (!IsFloat(a.shape()->type)) return false;
  for (int64_t i = 0; i < a.element_count(); ++i) {
    const double x = AsDouble(a, i), y = AsDouble(b, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (std::fabs(x) > exact_up_to && std::fabs(y) > exact_up_to) continue;
    if (x != y) return false;
  }
  return true;
}

using NumberFn = std::function<double(int64_t device, int64_t parameter, int64_t element)>;

// Arguments of `module` with these numbers, wrapped into the types.
InputFn Numbers(const Module& module, const NumberFn& number) {
  return [&module, number](DeviceId d, int64_t p) -> Result<Value> {
    const Computation& entry = module.Entry();
    const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(p)]).shape;
    Value value = Value::NewNative(shape);
    const size_t width = static_cast<size_t>(HostBytes(shape->type));
    for (int64_t i = 0; i < shape->element_count; ++i) {
      const double x = number(d.value, p, i);
      const std::byte* in = reinterpret_cast<const std::byte*>(&x);
      ScalarOp::Convert(ElementType::kF64, shape->type)
          ->Run({&in, 1}, value.MutableBytes().data() + static_cast<size_t>(i) * width, 1);
    }
    return value;
  };
}

Result<RunOutcome> Run(const Module& module, const Mesh& mesh, const InputFn& inputs,
                       ReductionOrder order = ReductionOrder::kGroup, uint64_t order_seed = 0) {
  const auto domain = MakeNativeDomain();
  const auto transport = MakeLocalTransport();
  RunOptions options;
  options.domain = domain.get();
  options.transport = transport.get();
  options.order = order;
  options.order_seed = order_seed;
  return RunModule(module, mesh, inputs, options);
}

// The first device and output whose numbers differ, in words; empty if none do.
std::string Difference(const RunOutcome& before, const RunOutcome& after, double exact_up_to) {
  for (const auto& [device, value] : before.outputs) {
    const std::vector<Value> a = Leaves(value), b = Leaves(after.outputs.at(device));
    for (size_t leaf = 0; leaf < a.size(); ++leaf) {
      if (SameNumbers(a[leaf], b[leaf], exact_up_to)) continue;
      return "device " + std::to_string(device.value) + ", output " + std::to_string(leaf);
    }
  }
  return "";
}

// A number with which every order of summation rounds in its own way: of few or many magnitudes,
// one that cancels, or a zero with a sign.
double RoundingNumber(uint64_t word, uint64_t run) {
  constexpr double kCancel[] = {0x1p30, -0x1p30, 1, -1, 3, 0x1p-30};
  if (run % 3 == 1) return kCancel[word % 6];
  if (run % 6 == 2) return word % 2 == 0 ? -0.0 : 0.0;
  const double fraction = static_cast<double>(word >> 11) * 0x1p-53 - 0.5;
  return std::ldexp(fraction, static_cast<int>(word % (run + 1)));
}

class Search {
 public:
  Search(const Module& before, const Module& after, const Mesh& mesh, const TruthOptions& options)
      : before_(before), after_(after), mesh_(mesh), options_(options) {}

  // True once the truth is known.
  bool Try(const NumberFn& number, const std::string& input) {
    auto a = Run(before_, mesh_, Numbers(before_, number));
    auto b = Run(after_, mesh_, Numbers(after_, number));
    if (!a || !b) return Found(Truth::kNotRun, "does not run");
    if (a->stall || b->stall) return Found(Truth::kStalls, "stalls");
    if (options_.stall) return false;
    const std::string difference = Difference(*a, *b, options_.exact_up_to);
    return !difference.empty() && Found(Truth::kDifferent, difference + ", " + input);
  }

  bool WholeNumbers() {
    for (uint64_t trial = 0; trial < 6; ++trial) {
      const auto number = [trial](int64_t d, int64_t p, int64_t i) {
        const uint64_t word = CounterRng(trial, static_cast<uint64_t>(d * 64 + p))
                                  .Word(static_cast<uint64_t>(i));
        if (trial == 0) return static_cast<double>(word % 2);
        if (trial == 1) return -1.0 - static_cast<double>(word % 3);
        return static_cast<double>(word % 7) - 3;
      };
      if (Try(number, "whole numbers, trial " + std::to_string(trial))) return true;
    }
    return false;
  }

  bool OneHot() {
    const Computation& entry = before_.Entry();
    int64_t tried = 0;
    for (size_t p = 0; p < entry.parameters.size(); ++p) {
      const int64_t elements = entry.At(entry.parameters[p]).shape->element_count;
      for (int64_t d = 0; d < mesh_.devices(); ++d) {
        for (int64_t i = 0; i < elements && tried < kMostOneHot; ++i, ++tried) {
          const auto hot = [=](int64_t device, int64_t parameter, int64_t element) {
            return device == d && parameter == static_cast<int64_t>(p) && element == i ? 1.0 : 0.0;
          };
          if (Try(hot, "one-hot")) return true;
        }
      }
    }
    return false;
  }

  // Devices equal in all runs before and not in all after, for all orders of summation.
  void Drift() {
    std::vector<RunOutcome> a, b;
    for (uint64_t run = 0; run < 20; ++run) {
      const auto number = [run](int64_t d, int64_t p, int64_t i) {
        const uint64_t word = CounterRng(run / 2 + 100, static_cast<uint64_t>(d * 64 + p))
                                  .Word(static_cast<uint64_t>(i));
        return RoundingNumber(word, run);
      };
      const auto order = run % 2 == 0 ? ReductionOrder::kGroup : ReductionOrder::kRandom;
      auto x = Run(before_, mesh_, Numbers(before_, number), order, run);
      auto y = Run(after_, mesh_, Numbers(after_, number), order, run);
      if (!x || !y || x->stall || y->stall) return;
      a.push_back(std::move(*x));
      b.push_back(std::move(*y));
    }
    const size_t leaves = Leaves(a[0].outputs.begin()->second).size();
    for (size_t leaf = 0; leaf < leaves; ++leaf) {
      for (int64_t d = 0; d < mesh_.devices(); ++d) {
        for (int64_t e = 0; e < d; ++e) {
          if (Agree(a, leaf, d, e) && !Agree(b, leaf, d, e)) Found(Truth::kDrifts, "drifts");
        }
      }
    }
  }

  Truth truth = Truth::kNoDifference;
  std::string why;

 private:
  static bool Agree(const std::vector<RunOutcome>& runs, size_t leaf, int64_t d, int64_t e) {
    return std::all_of(runs.begin(), runs.end(), [&](const RunOutcome& run) {
      return SameBits(Leaves(run.outputs.at(DeviceId(d)))[leaf],
                      Leaves(run.outputs.at(DeviceId(e)))[leaf]);
    });
  }
  bool Found(Truth what, std::string words) {
    truth = what;
    why = std::move(words);
    return true;
  }

  const Module& before_;
  const Module& after_;
  const Mesh mesh_;
  const TruthOptions& options_;
};

}  // namespace

Truth FindTruth(const Module& before, const Module& after, const Mesh& mesh,
                const TruthOptions& options, std::string* why) {
  Search search(before, after, mesh, options);
  const bool found = search.WholeNumbers() || (options.one_hot && search.OneHot());
  if (!found && options.drift) search.Drift();
  if (why != nullptr) *why = search.why;
  return search.truth;
}

bool DiffersOn(const Module& before, const Module& after, const Mesh& mesh,
               const InputFn& before_inputs, const InputFn& after_inputs) {
  const auto a = Run(before, mesh, before_inputs), b = Run(after, mesh, after_inputs);
  return a && b && !a->stall && !b->stall && !Difference(*a, *b, TruthOptions().exact_up_to).empty();
}

}  // namespace hv
