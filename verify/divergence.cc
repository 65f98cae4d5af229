#include "verify/divergence.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
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

ValueObserver Recorder(History* history) {
  return [history](DeviceId device, const Module&, ComputationIndex computation,
                   InstructionIndex instruction, int64_t, const Value& value) {
    const uint64_t hash = HashOf(value);
    history->by_device[device].push_back({computation, instruction, hash});
    history->hashes[device].insert(hash);
  };
}

// Hashes of the latest values of instructions on one device.
class Latest {
 public:
  void Set(const Computed& c) { hashes_[Key(c.computation, c.instruction)] = c.hash; }
  // Have all operands values that `other` has on the device? Those not seen (parameters of called
  // computations) count as known.
  bool OperandsKnown(const Instruction& instruction, const Computed& c, DeviceId device,
                     const History& other) const {
    return std::all_of(instruction.operands.begin(), instruction.operands.end(),
                       [&](InstructionIndex operand) {
                         const auto found = hashes_.find(Key(c.computation, operand));
                         return found == hashes_.end() || other.Has(device, found->second);
                       });
  }

 private:
  static uint64_t Key(ComputationIndex computation, InstructionIndex instruction) {
    return static_cast<uint64_t>(computation) << 32 | static_cast<uint32_t>(instruction);
  }
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

Divergence FindDivergence(const Pair& pair, const NativeRuns& native, const NativeInput& input) {
  History before, after;
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  const NativeRuns::Ran ran = native.Run(input, transport.get(), ReductionOrder::kGroup,
                                         {Recorder(&before), Recorder(&after)});
  if (!ran.finished()) return {};
  const Strange wrong = FirstStrange(pair.after, after, before, nullptr);
  if (wrong.computation == nullptr) return {};
  const Shape* shape = wrong.computation->At(wrong.instruction).shape;
  return {Print(pair.before, FirstStrange(pair.before, before, after, shape)),
          Print(pair.after, wrong)};
}

}  // namespace hv
