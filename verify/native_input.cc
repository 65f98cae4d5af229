#include "verify/native_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/philox.h"
#include "hlo/float_formats.h"
#include "sim/literal_json.h"
#include "verify/element_text.h"

namespace hv {
namespace {

constexpr uint64_t kValueStream = uint64_t{1} << 40;  // apart from other uses of the seed

// Uniform in [low, high] out of a random word.
double UniformReal(uint64_t word, double low, double high) {
  return low + static_cast<double>(word >> 11) * 0x1p-53 * (high - low);
}

double UniformInteger(uint64_t word, double low, double high) {
  const double first = std::ceil(low), last = std::floor(high);
  const double number = first + std::floor(UniformReal(word, 0, last - first + 1));
  return std::min(number, last);
}

// Integers in [-limit, limit] without 0; positive ones where the type has no others.
double NonZeroInteger(ElementType type, uint64_t word, double limit) {
  if (IsInteger(type)) {
    const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
    limit = std::min(limit, std::ldexp(1, std::min(bits, 52)) - 1);
  }
  if (limit < 1) return -1;  // s1
  const double magnitude = UniformInteger(word, 1, limit);
  return !IsUnsigned(type) && (word & 1) != 0 ? -magnitude : magnitude;
}

// One of a few numbers whose sum hangs on when the large ones meet.
double Cancelling(ElementType type, uint64_t word) {
  const int largest = std::ilogb(LargestFinite(ComponentType(type)));
  const double large = std::ldexp(1, std::clamp(largest - 3, 0, 30));
  const double numbers[] = {large, -large, 1, -1, 3};
  return numbers[word % 5];
}

// One of eight: the ends of the type, next to them, around 0, or anything.
double ExtremeInteger(ElementType type, uint64_t word) {
  const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  const double last = std::ldexp(1, bits) - 1, first = IsSigned(type) ? -last - 1 : 0;
  const double choices[] = {first, first + 1, -1,   0,
                            1,     last - 1,  last, std::floor(UniformReal(word, first, last))};
  return std::clamp(choices[word & 7], first, last);
}

// Every leaf begins somewhere and goes through the dictionary, trial by trial.
double FromDictionary(const NativeInput& input, ElementType type,
                      const std::optional<InputRange>& range, uint64_t begin) {
  const uint64_t at = begin % input.dictionary.size() + input.trial;
  const double number = input.dictionary[at % input.dictionary.size()];
  if (range) return std::clamp(number, range->low, range->high);
  if (!IsInteger(type)) return number;
  const double end = std::ldexp(1, BitWidth(type) - (IsSigned(type) ? 1 : 0));
  return std::clamp(std::floor(number), IsSigned(type) ? -end : 0, end - 1);
}

double RandomNumber(const NativeInput& input, ElementType type,
                    const std::optional<InputRange>& range, uint64_t word) {
  if (IsPred(type)) return static_cast<double>(word >> 63);
  if (input.values == NativeInput::Values::kIndices && !range) {
    // [0, 2), [0, 8), [-8, 8), [0, 128), [0, 512), [-512, 512), and again.
    const int step = static_cast<int>(input.trial % 6);
    const double limit = std::ldexp(2, 2 * step - (step % 3 == 2 ? 1 : 0));
    const double index = std::fabs(NonZeroInteger(type, word, limit)) - 1;
    return step % 3 == 2 && !IsUnsigned(type) ? index - limit / 2 : index;
  }
  const bool extreme = input.values == NativeInput::Values::kExtremes;
  if (extreme && IsInteger(type) && !range) return ExtremeInteger(type, word);
  const bool real =
      (extreme || input.values == NativeInput::Values::kRealNumbers) && !IsInteger(type);
  if (range) {
    return real ? UniformReal(word, range->low, range->high)
                : UniformInteger(word, range->low, range->high);
  }
  if (input.values == NativeInput::Values::kCancelling && !IsInteger(type)) {
    return Cancelling(type, word);
  }
  return real ? UniformReal(word, -1, 1) : NonZeroInteger(type, word, input.limit);
}

double Clamped(double number, const std::optional<InputRange>& range) {
  return range ? std::clamp(number, range->low, range->high) : number;
}

// Number `parameter` of what the scenario gives for `device`; null if nothing.
const Json* ExplicitLiteral(const InputPlan& plan, const Mesh& mesh, int64_t device,
                            int64_t parameter) {
  const Json* list = plan.for_all;
  if (plan.per_device != nullptr) list = plan.per_device->Find(mesh.NameOf(DeviceId(device)));
  if (list == nullptr || static_cast<size_t>(parameter) >= list->items().size()) return nullptr;
  return &list->items()[static_cast<size_t>(parameter)];
}

Result<Value> ReadExplicit(const Shape* shape, const InputSpace& space, const InputPlan& plan,
                           int64_t slot, int64_t device) {
  const int64_t parameter = space.slot(slot).parameter;
  const Json* literal = ExplicitLiteral(plan, space.mesh(), device, parameter);
  if (literal == nullptr) {
    return Invalid("scenario-inputs", "no value for parameter " + std::to_string(parameter) +
                                          " of device " + space.mesh().NameOf(DeviceId(device)));
  }
  int64_t before = 0;  // slots of the same parameter to the left
  while (before < slot && space.slot(slot - before - 1).parameter == parameter) ++before;
  const bool tuple = before > 0 || (slot + 1 < static_cast<int64_t>(space.slots().size()) &&
                                    space.slot(slot + 1).parameter == parameter);
  if (!tuple) return ReadLiteralJson(*literal, shape);
  if (static_cast<size_t>(before) >= literal->items().size()) {
    return literal->MakeError("scenario-inputs", "too few leaves for a tuple");
  }
  return ReadLiteralJson(literal->items()[static_cast<size_t>(before)], shape);
}

bool NamesParameter(const InputRange& range, const InputSpace& space, int64_t slot) {
  const int64_t parameter = space.slot(slot).parameter;
  return range.parameter == std::to_string(parameter) ||
         range.parameter == space.ParameterName(parameter);
}

}  // namespace

Result<std::vector<std::optional<InputRange>>> ResolveRanges(const InputSpace& space,
                                                             const InputPlan& plan) {
  std::vector<std::optional<InputRange>> ranges(space.slots().size());
  for (const InputRange& range : plan.ranges) {
    bool found = false;
    for (size_t slot = 0; slot < ranges.size(); ++slot) {
      if (!NamesParameter(range, space, static_cast<int64_t>(slot))) continue;
      ranges[slot] = range;
      found = true;
    }
    if (!found) {
      return Invalid("scenario-parameter",
                     "ranges: the module has no parameter '" + range.parameter + "'");
    }
  }
  return ranges;
}

double LeafNumber(const NativeInput& given, const InputSpace& space,
                  const std::optional<InputRange>& range, const Leaf& leaf) {
  const int64_t id = space.IdOf(leaf);
  const std::vector<int64_t>& control = given.control;
  const int64_t parameter = space.slot(leaf.slot).parameter;
  NativeInput indices;
  const bool decides = given.values != NativeInput::Values::kExtremes &&
                       given.values != NativeInput::Values::kDictionary &&
                       std::find(control.begin(), control.end(), parameter) != control.end();
  if (decides) {
    indices.values = NativeInput::Values::kIndices;
    indices.seed = given.seed;
    indices.trial = given.trial;
  }
  const NativeInput& input = decides ? indices : given;
  if (input.active && !std::binary_search(input.active->begin(), input.active->end(), id)) {
    return Clamped(input.base, range);
  }
  if (input.values == NativeInput::Values::kFixed) return Clamped(input.fixed, range);
  const ElementType type = space.slot(leaf.slot).shape->type;
  const bool listed = input.values == NativeInput::Values::kDictionary &&
                      !input.dictionary.empty() && !IsPred(type);
  const CounterRng rng(input.seed, kValueStream + (listed ? 0 : input.trial));
  const uint64_t word = rng.Word(static_cast<uint64_t>(id));
  return listed ? FromDictionary(input, type, range, word) : RandomNumber(input, type, range, word);
}

SlotFill FillNative(const NativeInput& input, const InputSpace& space,
                    const std::vector<std::optional<InputRange>>& ranges, const InputPlan& plan) {
  return [&](const Shape* shape, int64_t slot, int64_t device) -> Result<Value> {
    if (input.values == NativeInput::Values::kExplicit) {
      return ReadExplicit(shape, space, plan, slot, device);
    }
    Value value = Value::NewNative(shape);
    const std::optional<InputRange>& range = ranges[static_cast<size_t>(slot)];
    for (int64_t i = 0; i < shape->element_count; ++i) {
      StoreNumber(LeafNumber(input, space, range, {slot, device, i}), i, &value);
    }
    return value;
  };
}

}  // namespace hv
