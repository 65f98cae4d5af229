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

// What one module computed: by device in order of execution, and the set of all hashes.
struct History {
  std::map<DeviceId, std::vector<Computed>> by_device;
  std::unordered_set<uint64_t> hashes;  // of all devices
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
    history->hashes.insert(hash);
  };
}

// The first instruction of `mine` with a value that `other` never has, all of its operands having
// values that it has. Tuples only pack what was found before.
std::string FirstStrange(const Module& module, const History& mine, const History& other) {
  const Computed* first = nullptr;
  for (const auto& [device, computed] : mine.by_device) {
    std::unordered_map<uint64_t, uint64_t> latest;  // (computation, instruction) -> hash
    const auto key = [](ComputationIndex c, InstructionIndex i) {
      return static_cast<uint64_t>(c) << 32 | static_cast<uint32_t>(i);
    };
    for (const Computed& c : computed) {
      const Instruction& instruction = module.At(c.computation).At(c.instruction);
      latest[key(c.computation, c.instruction)] = c.hash;
      if (other.hashes.count(c.hash) != 0 || instruction.opcode == Opcode::kTuple) continue;
      const bool known = std::all_of(
          instruction.operands.begin(), instruction.operands.end(), [&](InstructionIndex o) {
            const auto found = latest.find(key(c.computation, o));
            return found == latest.end() || other.hashes.count(found->second) != 0;
          });
      if (!known) continue;
      if (first == nullptr || std::tie(c.computation, c.instruction) <
                                  std::tie(first->computation, first->instruction)) {
        first = &c;
      }
      break;
    }
  }
  if (first == nullptr) return "";
  return PrintInstruction(module, module.At(first->computation), first->instruction);
}

}  // namespace

Divergence FindDivergence(const Pair& pair, const NativeRuns& native, const NativeInput& input) {
  History before, after;
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  const auto ran = native.Run(input, transport.get(), ReductionOrder::kGroup,
                              {Recorder(&before), Recorder(&after)});
  if (!ran) return {};
  return {FirstStrange(pair.before, before, after), FirstStrange(pair.after, after, before)};
}

}  // namespace hv
