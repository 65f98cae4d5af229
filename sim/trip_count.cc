// How often a loop turns, read off its text: what the compiler has written into backend_config, or a
// counter that runs from a constant to a constant.
#include <charconv>
#include <optional>
#include <string_view>

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

const Instruction& SkipCopies(const Computation& computation, InstructionIndex index) {
  const Instruction* instruction = &computation.At(index);
  while (instruction->opcode == Opcode::kCopy || instruction->opcode == Opcode::kBitcast) {
    instruction = &computation.At(instruction->operands[0]);
  }
  return *instruction;
}

std::optional<int64_t> ConstantOf(const Computation& computation, InstructionIndex index) {
  const Instruction& instruction = SkipCopies(computation, index);
  const Literal* literal = instruction.literal;
  if (literal == nullptr || literal->elided || !IsInteger(literal->shape->type) ||
      literal->shape->element_count != 1) {
    return {};
  }
  return IntegerAt(*literal, 0);
}

// The part of the loop state that an instruction reads.
std::optional<int64_t> StatePart(const Computation& computation, InstructionIndex index) {
  const Instruction& part = SkipCopies(computation, index);
  if (part.opcode != Opcode::kGetTupleElement ||
      computation.At(part.operands[0]).opcode != Opcode::kParameter) {
    return {};
  }
  return part.Int(Attr::kIndex, 0);
}

struct Bound {
  int64_t part = 0;
  int64_t limit = 0;
  bool inclusive = false;
};

// counter < limit, or <=, as the root of the condition.
std::optional<Bound> BoundOf(const Computation& condition) {
  const Instruction& root = condition.Root();
  if (root.opcode != Opcode::kCompare) return {};
  const std::string_view direction = root.Text(Attr::kCompareDirection);
  const auto part = StatePart(condition, root.operands[0]);
  const auto limit = ConstantOf(condition, root.operands[1]);
  if (!part || !limit || (direction != "LT" && direction != "LE")) return {};
  return Bound{*part, *limit, direction == "LE"};
}

// counter + constant, as the same part of the body's result.
std::optional<int64_t> StepOf(const Computation& body, int64_t part) {
  const Instruction& root = body.Root();
  if (root.opcode != Opcode::kTuple) return {};
  const Instruction& next = SkipCopies(body, root.operands[static_cast<size_t>(part)]);
  if (next.opcode != Opcode::kAdd) return {};
  for (size_t side : {0, 1}) {
    if (StatePart(body, next.operands[side]) != part) continue;
    return ConstantOf(body, next.operands[1 - side]);
  }
  return {};
}

}  // namespace

int64_t TripCountOf(const Module& module, const Computation& computation,
                    const Instruction& loop) {
  if (const auto stated = StatedTripCount(loop.Text(Attr::kBackendConfig))) return *stated;
  const auto bound = BoundOf(module.At(loop.Computation(Attr::kCondition)));
  const Instruction& state = SkipCopies(computation, loop.operands[0]);
  if (!bound || state.opcode != Opcode::kTuple) return -1;
  const auto step = StepOf(module.At(loop.Computation(Attr::kBody)), bound->part);
  const auto first = ConstantOf(computation, state.operands[static_cast<size_t>(bound->part)]);
  if (!step || !first || *step <= 0) return -1;
  constexpr int64_t kLargest = int64_t{1} << 40;  // keeps sums and differences in range
  if (bound->limit > kLargest || *first < -kLargest) return -1;
  const int64_t end = bound->limit + (bound->inclusive ? 1 : 0);
  return end <= *first ? 0 : (end - *first + *step - 1) / *step;
}

}  // namespace hv
