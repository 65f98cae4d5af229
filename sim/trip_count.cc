// How often a loop turns, read off its text: what the compiler has written into backend_config, or
// a counter that runs from a constant to a constant.
#include "sim/trip_count.h"

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/cost.h"

namespace hv {
namespace {

// {"known_trip_count":{"n":"9"}}, the number quoted or not.
std::optional<int64_t> StatedTripCount(std::string_view config) {
  size_t at = config.find("known_trip_count");
  if (at == std::string_view::npos) return {};
  at = config.find("\"n\"", at);
  if (at == std::string_view::npos) return {};
  at = config.find_first_of("0123456789", at);
  if (at == std::string_view::npos) return {};
  int64_t count = 0;
  const auto result = std::from_chars(config.data() + at, config.data() + config.size(), count);
  if (result.ec != std::errc()) return {};
  return count;
}

// An instruction, and where it stands in a fusion the fusion.
struct Spot {
  const Module* module = nullptr;
  const Computation* computation = nullptr;
  InstructionIndex index = -1;
  std::shared_ptr<const Spot> fusion;

  const Instruction& instruction() const { return computation->At(index); }
};

Spot Operand(const Spot& at, size_t number);

bool KeepsType(const Computation& computation, const Instruction& i) {
  return i.opcode == Opcode::kBitcast && computation.At(i.operands[0]).shape->type == i.shape->type;
}

// The same value without copies and tuples, into fusions and out of them.
Spot Plain(Spot at) {
  while (true) {
    const Instruction& i = at.instruction();
    if (i.opcode == Opcode::kCopy || KeepsType(*at.computation, i)) {
      at.index = i.operands[0];
    } else if (i.opcode == Opcode::kGetTupleElement) {
      const Spot tuple = Operand(at, 0);
      if (tuple.instruction().opcode != Opcode::kTuple) return at;
      at = Operand(tuple, static_cast<size_t>(i.Int(Attr::kIndex, 0)));
    } else if (i.opcode == Opcode::kFusion) {
      const Computation& inner = at.module->At(i.Computation(Attr::kCalls));
      at = {at.module, &inner, inner.root, std::make_shared<const Spot>(at)};
    } else if (i.opcode == Opcode::kParameter && at.fusion != nullptr) {
      const Spot outside = *at.fusion;
      at = outside;
      at.index = outside.instruction().operands[static_cast<size_t>(i.parameter_number)];
    } else {
      return at;
    }
  }
}

Spot Operand(const Spot& at, size_t number) {
  Spot operand = at;
  operand.index = at.instruction().operands[number];
  return Plain(std::move(operand));
}

Spot RootOf(const Module& module, ComputationIndex computation) {
  const Computation& part = module.At(computation);
  return Plain({&module, &part, part.root, nullptr});
}

std::optional<int64_t> ConstantAt(const Spot& at) {
  const Literal* literal = at.instruction().literal;
  if (literal == nullptr || literal->elided || !IsInteger(literal->shape->type) ||
      literal->shape->element_count != 1) {
    return {};
  }
  return IntegerAt(*literal, 0);
}

// The part of the loop state that an instruction reads.
std::optional<int64_t> StatePart(const Spot& at) {
  const Instruction& part = at.instruction();
  if (part.opcode != Opcode::kGetTupleElement ||
      Operand(at, 0).instruction().opcode != Opcode::kParameter) {
    return {};
  }
  return part.Int(Attr::kIndex, 0);
}

// counter < limit, or <=, as the root of the condition; the limit as `end`.
std::optional<LoopCounter> BoundOf(const Spot& root) {
  if (root.instruction().opcode != Opcode::kCompare) return {};
  const std::string_view direction = root.instruction().Text(Attr::kCompareDirection);
  const auto part = StatePart(Operand(root, 0));
  const auto limit = ConstantAt(Operand(root, 1));
  constexpr int64_t kLargest = int64_t{1} << 40;  // keeps sums and differences in range
  if (!part || !limit || *limit > kLargest || (direction != "LT" && direction != "LE")) return {};
  return LoopCounter{*part, 0, *limit + (direction == "LE" ? 1 : 0)};
}

// counter + constants, as the same part of the body's result.
std::optional<int64_t> StepOf(const Spot& root, int64_t part) {
  if (root.instruction().opcode != Opcode::kTuple) return {};
  int64_t step = 0;
  Spot at = Operand(root, static_cast<size_t>(part));
  while (StatePart(at) != part) {
    if (at.instruction().opcode != Opcode::kAdd) return {};
    const size_t constant = ConstantAt(Operand(at, 1)) ? 1 : 0;
    const auto more = ConstantAt(Operand(at, constant));
    if (!more || __builtin_add_overflow(step, *more, &step)) return {};
    at = Operand(at, 1 - constant);
  }
  return step;
}

}  // namespace

// Its last step stays in its type.
std::optional<LoopCounter> CounterOf(const Module& module, const Instruction& loop) {
  const Spot condition = RootOf(module, loop.Computation(Attr::kCondition));
  auto counter = BoundOf(condition);
  if (!counter) return {};
  const auto step = StepOf(RootOf(module, loop.Computation(Attr::kBody)), counter->part);
  constexpr int64_t kLargestStep = int64_t{1} << 40;
  if (!step || *step <= 0 || *step > kLargestStep) return {};
  counter->step = *step;
  const ElementType type = loop.shape->elements[static_cast<size_t>(counter->part)]->type;
  const Instruction& compared = condition.computation->At(condition.instruction().operands[0]);
  if (compared.shape->type != type) return {};  // its bits read as another type
  const int width = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  const int64_t last = counter->end - 1 + *step;
  if (width < 62 && last >= int64_t{1} << width) return {};
  return counter;
}

std::optional<int64_t> LoopCounter::TurnsFrom(int64_t start) const {
  constexpr int64_t kLowest = -(int64_t{1} << 40);
  if (start < kLowest) return {};
  return end <= start ? 0 : (end - start + step - 1) / step;
}

bool CountsToItsEnd(const Module& module, const Instruction& loop) {
  return CounterOf(module, loop).has_value();
}

int64_t TripCountOf(const Module& module, const Computation& computation, const Instruction& loop) {
  if (const auto stated = StatedTripCount(loop.Text(Attr::kBackendConfig))) return *stated;
  const auto counter = CounterOf(module, loop);
  const Spot state = Plain({&module, &computation, loop.operands[0], nullptr});
  if (!counter || state.instruction().opcode != Opcode::kTuple) return -1;
  const auto first = ConstantAt(Operand(state, static_cast<size_t>(counter->part)));
  return first ? counter->TurnsFrom(*first).value_or(-1) : -1;
}

}  // namespace hv
