#include "eval/hidden_state.h"

#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "base/philox.h"
#include "eval/convert.h"
#include "eval/keyed_hash.h"

namespace hv {
namespace {

// The words of one instruction on one device, from where it stopped last time.
class Words {
 public:
  Words(uint64_t seed, uint64_t stream, uint64_t next) : words_(seed, stream), next_(next) {}
  uint64_t Word() { return words_.Word(next_++); }
  double Fraction() { return static_cast<double>(Word() >> 11) * 0x1p-53; }  // in [0, 1)
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Fraction()));
    return radius * std::cos(2 * std::numbers::pi * Fraction());
  }
  uint64_t next() const { return next_; }

 private:
  CounterRng words_;
  uint64_t next_;
};

// a + u (b - a): what rounds to b, which is no result, becomes a.
Result<Value> UniformFloats(const KernelCall& call, std::span<const Value> bounds, Words* words) {
  HV_ASSIGN(const Value low, ConvertValue(call.module, bounds[0], ElementType::kF64));
  HV_ASSIGN(const Value high, ConvertValue(call.module, bounds[1], ElementType::kF64));
  const double a = low.As<double>()[0], b = high.As<double>()[0];
  Value wide =
      Value::NewNative(call.module.context->shapes.WithType(*call.shape, ElementType::kF64));
  for (double& x : wide.MutableAs<double>()) x = a + words->Fraction() * (b - a);
  HV_ASSIGN(const Value rounded, ConvertValue(call.module, wide, call.shape->type));
  HV_ASSIGN(const Value values, ConvertValue(call.module, rounded, ElementType::kF64));
  Value below = Value::NewNative(wide.shape());
  for (size_t i = 0; i < values.As<double>().size(); ++i) {
    const double x = values.As<double>()[i];
    below.MutableAs<double>()[i] = x < b ? x : a;
  }
  return ConvertValue(call.module, below, call.shape->type);
}

Result<Value> NormalFloats(const KernelCall& call, std::span<const Value> operands, Words* words) {
  HV_ASSIGN(const Value mean, ConvertValue(call.module, operands[0], ElementType::kF64));
  HV_ASSIGN(const Value deviation, ConvertValue(call.module, operands[1], ElementType::kF64));
  Value wide =
      Value::NewNative(call.module.context->shapes.WithType(*call.shape, ElementType::kF64));
  for (double& x : wide.MutableAs<double>()) {
    x = mean.As<double>()[0] + deviation.As<double>()[0] * words->Normal();
  }
  return ConvertValue(call.module, wide, call.shape->type);
}

// a + word mod (b - a), in 64 bits; a fair coin for pred.
Result<Value> UniformIntegers(const KernelCall& call, std::span<const Value> bounds, Words* words) {
  HV_ASSIGN(const Value low, ConvertValue(call.module, bounds[0], ElementType::kU64));
  HV_ASSIGN(const Value high, ConvertValue(call.module, bounds[1], ElementType::kU64));
  uint64_t a = low.As<uint64_t>()[0], range = high.As<uint64_t>()[0] - a;
  if (IsPred(call.shape->type)) a = 0, range = 2;
  Value wide =
      Value::NewNative(call.module.context->shapes.WithType(*call.shape, ElementType::kU64));
  for (uint64_t& x : wide.MutableAs<uint64_t>()) {
    const uint64_t word = words->Word();
    x = range == 0 ? a : a + word % range;
  }
  return ConvertValue(call.module, wide, call.shape->type);
}

}  // namespace

Result<Value> HiddenState::Draw(const KernelCall& call, std::span<const Value> operands,
                                int64_t replica, int64_t partition) {
  const Place place{std::string(call.computation.name), std::string(call.instruction.name), replica,
                    partition};
  if (call.instruction.opcode == Opcode::kRngGetAndUpdateState) return GetAndUpdate(call, place);
  HV_ASSIGN(const Value values, Fill(call, operands, place));
  return values.WithShape(call.shape);
}

Value HiddenState::GetAndUpdate(const KernelCall& call, const Place& place) {
  constexpr uint64_t kFirst = 0x7012395;
  unsigned __int128& counter = counters_.try_emplace(place, kFirst).first->second;
  Value state = Value::NewNative(call.shape);
  state.MutableAs<uint64_t>()[0] = static_cast<uint64_t>(counter);
  state.MutableAs<uint64_t>()[1] = static_cast<uint64_t>(counter >> 64);
  const int64_t delta = call.instruction.Int(Attr::kDelta, 0);
  counter += static_cast<unsigned __int128>(static_cast<__int128>(delta));
  return state;
}

Result<Value> HiddenState::Fill(const KernelCall& call, std::span<const Value> operands,
                                const Place& place) {
  const auto& [computation, instruction, replica, partition] = place;
  KeyedHash stream(0);
  stream.Add(computation).Add(instruction);
  stream.Add(static_cast<uint64_t>(replica)).Add(static_cast<uint64_t>(partition));
  unsigned __int128& drawn = counters_[place];
  Words words(seed_, stream.First(), static_cast<uint64_t>(drawn));
  const bool normal = call.instruction.Text(Attr::kDistribution) == "rng_normal";
  const bool is_float = IsFloat(call.shape->type);
  if (normal && !is_float) return NotImplemented(call, "rng_normal of other types than floats");
  Result<Value> values = normal     ? NormalFloats(call, operands, &words)
                         : is_float ? UniformFloats(call, operands, &words)
                                    : UniformIntegers(call, operands, &words);
  drawn = words.next();
  return values;
}

}  // namespace hv
