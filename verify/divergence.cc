#include "verify/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hlo/printer.h"
#include "sim/hash.h"

namespace hv {
namespace {

// One execution of an instruction on a device, and a hash of its value.
struct Computed {
  ComputationIndex computation;
  InstructionIndex instruction;
  uint64_t hash;
};

// What one module computed on each device, in order of execution.
struct History {
  std::map<DeviceId, std::vector<Computed>> by_device;
  std::map<DeviceId, std::vector<std::string>> clamps;  // starts that were clamped, in words
  std::map<DeviceId, std::unordered_set<uint64_t>> hashes;

  bool Has(DeviceId device, uint64_t hash) const {
    const auto found = hashes.find(device);
    return found != hashes.end() && found->second.count(hash) != 0;
  }
};

uint64_t HashOf(const Value& value) {
  uint64_t hash = 0;
  for (const Value& leaf : Leaves(value)) {
    hash = Mix(hash, static_cast<uint64_t>(leaf.shape()->type));
    for (int64_t size : leaf.shape()->dims) hash = Mix(hash, static_cast<uint64_t>(size));
    hash = HashBytes(hash, leaf.bytes());
  }
  return hash;
}

// Numbers an instruction of a computation.
uint64_t KeyOf(ComputationIndex computation, InstructionIndex instruction) {
  return static_cast<uint64_t>(computation) << 32 | static_cast<uint32_t>(instruction);
}

// Says which starts of a slice or an update lie where its window does not fit.
void NoteClamps(const Computation& computation, const Instruction& instruction,
                const std::function<std::optional<int64_t>(InstructionIndex)>& number_of,
                std::vector<std::string>* clamps) {
  const bool slice = instruction.opcode == Opcode::kDynamicSlice;
  if (!slice && instruction.opcode != Opcode::kDynamicUpdateSlice) return;
  const auto shape_of = [&](size_t k) { return computation.At(instruction.operands[k]).shape; };
  const Shape& operand = *shape_of(0);
  const Shape& window = slice ? *instruction.shape : *shape_of(1);
  const size_t first = slice ? 1 : 2;
  if (instruction.operands.size() != first + operand.dims.size()) return;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    const auto start = number_of(instruction.operands[first + d]);
    const int64_t last = operand.dims[d] - window.dims[d];
    if (!start || (*start >= 0 && *start <= last)) continue;
    clamps->push_back(fmt::format("the start {} of {} is clamped to {}", *start, instruction.name,
                                  *start < 0 ? 0 : last));
  }
}

ValueObserver Recorder(History* history) {
  // The latest whole numbers, by device and instruction.
  auto numbers = std::make_shared<std::map<DeviceId, std::unordered_map<uint64_t, int64_t>>>();
  return [history, numbers](DeviceId device, const Module& module, ComputationIndex computation,
                            InstructionIndex index, int64_t, const Value& value) {
    const uint64_t hash = HashOf(value);
    history->by_device[device].push_back({computation, index, hash});
    history->hashes[device].insert(hash);
    auto& own = (*numbers)[device];
    if (value.IsNative() && value.shape()->IsScalar() && IsInteger(value.shape()->type)) {
      own[KeyOf(computation, index)] = IntegersOf(value)[0];
    }
    const Computation& body = module.At(computation);
    const auto number_of = [&](InstructionIndex operand) -> std::optional<int64_t> {
      const auto found = own.find(KeyOf(computation, operand));
      return found == own.end() ? std::nullopt : std::optional<int64_t>(found->second);
    };
    NoteClamps(body, body.At(index), number_of, &history->clamps[device]);
  };
}

// The first clamp on the device that the module before does not make.
std::string ClampOf(const History& before, const History& after, DeviceId device) {
  const auto own = after.clamps.find(device), other = before.clamps.find(device);
  if (own == after.clamps.end() || own->second.empty()) return "";
  const bool both = other != before.clamps.end() && !other->second.empty();
  return both ? "" : own->second.front();
}

// Hashes of the latest values of instructions on one device.
class Latest {
 public:
  void Set(const Computed& c) { hashes_[KeyOf(c.computation, c.instruction)] = c.hash; }
  // Have all operands values that `other` has on the device? Those not seen (parameters of called
  // computations) count as known.
  bool OperandsKnown(const Instruction& instruction, const Computed& c, DeviceId device,
                     const History& other) const {
    return std::all_of(instruction.operands.begin(), instruction.operands.end(),
                       [&](InstructionIndex operand) {
                         const auto found = hashes_.find(KeyOf(c.computation, operand));
                         return found == hashes_.end() || other.Has(device, found->second);
                       });
  }

 private:
  std::unordered_map<uint64_t, uint64_t> hashes_;
};

struct Strange {
  const Computation* computation = nullptr;
  InstructionIndex instruction = -1;
};

// The first instruction of `mine` with a value that `other` never has on that device, all of its
// operands having values that it has there. Tuples only pack what was found before. With `shape`,
// the first of that shape, whatever its operands.
Strange FirstStrange(const Module& module, const History& mine, const History& other,
                     const Shape* shape) {
  const Computed* first = nullptr;
  for (const auto& [device, computed] : mine.by_device) {
    Latest latest;
    for (const Computed& c : computed) {
      const Instruction& instruction = module.At(c.computation).At(c.instruction);
      latest.Set(c);
      const bool source = instruction.operands.empty() || instruction.opcode == Opcode::kTuple;
      if (source || other.Has(device, c.hash)) continue;
      if (shape == nullptr ? !latest.OperandsKnown(instruction, c, device, other)
                           : !SameShape(*shape, *instruction.shape)) {
        continue;
      }
      if (first == nullptr || std::tie(c.computation, c.instruction) <
                                  std::tie(first->computation, first->instruction)) {
        first = &c;
      }
      break;
    }
  }
  if (first == nullptr) return {};
  return {&module.At(first->computation), first->instruction};
}

std::string Print(const Module& module, const Strange& strange) {
  if (strange.computation == nullptr) return "";
  return PrintInstruction(module, *strange.computation, strange.instruction);
}

}  // namespace

Divergence FindDivergence(const Pair& pair, const NativeRuns& native,
                          const Refutation& refutation) {
  History before, after;
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  const NativeRuns::Ran ran = native.Run(refutation.input, transport.get(), ReductionOrder::kGroup,
                                         {Recorder(&before), Recorder(&after)});
  if (!ran.finished()) return {};
  Divergence divergence;
  divergence.clamp = ClampOf(before, after, refutation.difference.place.device);
  const Strange wrong = FirstStrange(pair.after, after, before, nullptr);
  if (wrong.computation == nullptr) return divergence;
  const Shape* shape = wrong.computation->At(wrong.instruction).shape;
  divergence.before = Print(pair.before, FirstStrange(pair.before, before, after, shape));
  divergence.after = Print(pair.after, wrong);
  return divergence;
}

}  // namespace hv
