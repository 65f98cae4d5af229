#include "verify/native_runs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>

#include "eval/in_order_domain.h"
#include "eval/interval_domain.h"
#include "hlo/float_formats.h"

namespace hv {
namespace {

constexpr int64_t kMaxLoopSteps = 1 << 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool HasRounding(ElementType type) { return IsFloat(type) || IsComplex(type); }

// Every integer up to this is a value of the type.
double ExactIntegers(ElementType type) {
  const ElementType part = ComponentType(type);
  if (part == ElementType::kF8E8M0FNU) return 0;  // powers of two alone
  return std::min(std::ldexp(1, PrecisionBits(part)), LargestFinite(part));
}

// Does any instruction of the module have a floating-point or complex array?
bool UsesFloats(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (HasRounding(instruction.shape->type)) return true;
      for (const Shape* element : instruction.shape->elements) {
        if (HasRounding(element->type) || element->IsTuple()) return true;
      }
    }
  }
  return false;
}

}  // namespace

NativeRuns::NativeRuns(const Pair& pair, const InputSpace& space, const InputPlan& plan,
                       const std::vector<std::optional<InputRange>>& ranges,
                       const CodeFindings& findings)
    : pair_(pair), space_(space), plan_(plan), ranges_(ranges) {
  facts_ = findings.facts[0];
  facts_.Merge(findings.facts[1]);
  weight_ = findings.weight;
  known_ = !findings.error && !findings.stall[0] && !findings.stall[1];
}

NativeRuns::Ran NativeRuns::Run(const NativeInput& input, Transport* transport,
                                ReductionOrder order,
                                const std::array<ValueObserver, 2>& observers) const {
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  return RunIn(domain.get(), input, transport, order, observers);
}

NativeRuns::Ran NativeRuns::RunInOrder(const NativeInput& input, Transport* transport,
                                       ReductionOrder order) const {
  const std::unique_ptr<Domain> domain = MakeInOrderDomain();
  return RunIn(domain.get(), input, transport, order, {});
}

NativeRuns::Ran NativeRuns::RunIn(Domain* domain, const NativeInput& input, Transport* transport,
                                  ReductionOrder order,
                                  const std::array<ValueObserver, 2>& observers) const {
  SlotFill fill = FillNative(input, space_, ranges_, plan_);
  if (!domain->IsNative()) {
    fill = [native = std::move(fill)](const Shape* shape, int64_t slot,
                                      int64_t device) -> Result<Value> {
      HV_ASSIGN(const Value value, native(shape, slot, device));
      return LiftToIntervals(value);
    };
  }
  Ran ran;
  for (size_t side = 0; side < 2; ++side) {
    RunOptions options;
    options.domain = domain;
    options.transport = transport;
    options.order = order;
    options.order_seed = plan_.seed;
    options.max_steps = kMaxLoopSteps;
    options.memory_limit_bytes = MemoryLimit(pair_);
    options.observer = observers[side];
    const Module& module = pair_.of(kSides[side]);
    auto outcome = RunModule(module, pair_.mesh, MakeInputs(module, space_, fill), options);
    if (!outcome) {
      ran.error[side] = std::move(outcome).error();
      return ran;
    }
    ran.outputs[side] = std::move(outcome->outputs);
    ran.stall[side] = std::move(outcome->stall);
    if (ran.stall[side]) return ran;
  }
  return ran;
}

// Integers and truth values are always exact; so are values that are only moved.
bool NativeRuns::AlwaysExact() const {
  if (facts_.concrete_floats) return false;
  if (!known_) return !UsesFloats(pair_.before) && !UsesFloats(pair_.after);
  if (facts_.OnlyIntegers()) return true;
  return !facts_.adds && !facts_.scales && !facts_.constants && !facts_.converts &&
         facts_.other.empty();
}

double NativeRuns::ExactLimit() const {
  if (AlwaysExact()) return kInfinity;
  const bool linear = facts_.IsLinear() && !facts_.fractions && !facts_.concrete_floats;
  if (!known_ || !linear || facts_.elided || !facts_.roundings.empty()) return 0;
  double limit = kInfinity;
  for (ElementType type : facts_.types) {
    if (HasRounding(type)) limit = std::min(limit, std::floor(ExactIntegers(type) / weight_));
  }
  return limit;
}

// Integers that keep every sum exact, in whatever order: all differences count.
bool NativeRuns::IsExactOn(const NativeInput& input) const {
  const bool fixed = input.values == NativeInput::Values::kFixed;
  if (!fixed && input.values != NativeInput::Values::kWholeNumbers) return false;
  const bool ranged = std::any_of(ranges_.begin(), ranges_.end(),
                                  [](const auto& range) { return range.has_value(); });
  const double limit = ranged ? 0 : ExactLimit();
  const double numbers[] = {input.base, fixed ? input.fixed : input.limit};
  return std::all_of(std::begin(numbers), std::end(numbers), [&](double number) {
    return std::fabs(number) <= limit && number == std::floor(number);
  });
}

// Which differences count on this input: those between values whose enclosures, whatever the order
// of sums and the rounding, have nothing in common, and those that depend on no rounding at all.
DifferenceFilter NativeRuns::FilterFor(const NativeInput& input) const {
  if (!UsesFloats(pair_.before) && !UsesFloats(pair_.after)) return nullptr;
  if (IsExactOn(input)) return nullptr;
  const std::unique_ptr<Domain> domain = MakeIntervalDomain();
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  const Ran ran = RunIn(domain.get(), input, transport.get(), ReductionOrder::kGroup, {});
  if (!ran.finished()) {
    return [](const OutputPlace&) { return false; };
  }
  return [outputs = ran.outputs](const OutputPlace& place) {
    const auto at = [&](const Outputs& side) {
      return Leaves(side.at(place.device))[static_cast<size_t>(place.output)];
    };
    const Value x = at(outputs[0]), y = at(outputs[1]);
    if (x.IsNative() && y.IsNative()) return true;
    return IntervalAt(x, place.element).IsApartFrom(IntervalAt(y, place.element));
  };
}

NativeComparison NativeRuns::Compare(const NativeInput& input) const {
  NativeComparison comparison;
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  const Ran ran = Run(input, transport.get());
  const bool invalid = ran.error[0] && ran.error[0]->kind == ErrorKind::kInvalid;
  comparison.undefined = invalid || ran.stall[0];
  comparison.stall = ran.stall[1];
  if (!invalid) comparison.error = ran.error[0] ? ran.error[0] : ran.error[1];
  if (!ran.finished()) return comparison;
  comparison.same_bits = !FirstNativeDifference(ran.outputs[0], ran.outputs[1]);
  if (comparison.same_bits) return comparison;
  const auto place = FirstNativeDifference(ran.outputs[0], ran.outputs[1], FilterFor(input));
  if (!place) return comparison;
  comparison.difference =
      NativeDifference{*place, TextAt(ran.outputs[0], *place), TextAt(ran.outputs[1], *place)};
  return comparison;
}

}  // namespace hv
