// An upper estimate of the bytes of values one device holds at once: liveness of buffers in text order.
// Tuples, their parts and loop states are the buffers they were made of; operands of a start live until
// its done; constants live as long as the run.
#include <algorithm>
#include <span>
#include <vector>

#include "hlo/op.h"
#include "sim/collective_plan.h"
#include "sim/run.h"

namespace hv {
namespace {

struct Buffers {
  std::vector<int64_t> bytes;
  std::vector<size_t> last_use;  // instruction index
};
using LeafList = std::vector<size_t>;  // buffer numbers, one per data leaf

class Estimator {
 public:
  explicit Estimator(const Module& module) : module_(module) {}

  int64_t Run() {
    for (const Computation& computation : module_.computations) {
      peaks_.push_back(PeakOf(computation));
    }
    int64_t parameters = 0;
    for (InstructionIndex p : module_.Entry().parameters) {
      parameters += module_.Entry().At(p).shape->ByteSize();
    }
    return peaks_[static_cast<size_t>(module_.entry)] + parameters;
  }

 private:
  // Bytes beyond the computation's parameters, which the caller holds.
  int64_t PeakOf(const Computation& computation) {
    const size_t count = computation.instructions.size();
    Buffers buffers;
    std::vector<LeafList> leaves(count);
    std::vector<std::vector<size_t>> made(count);  // buffers by the instruction that fills them
    for (size_t i = 0; i < count; ++i) {
      const Instruction& instruction = computation.instructions[i];
      for (InstructionIndex o : instruction.operands) {
        for (size_t b : leaves[static_cast<size_t>(o)]) buffers.last_use[b] = i;
      }
      leaves[i] = LeavesOf(computation, leaves, i, &buffers, &made[i]);
    }
    for (size_t b : leaves[static_cast<size_t>(computation.root)]) buffers.last_use[b] = count;
    return Sweep(computation, buffers, made);
  }

  LeafList LeavesOf(const Computation& computation, const std::vector<LeafList>& leaves, size_t index,
                    Buffers* buffers, std::vector<size_t>* made) {
    const Instruction& instruction = computation.instructions[index];
    switch (instruction.opcode) {
      case Opcode::kTuple: case Opcode::kOptBarrier: case Opcode::kWhile: case Opcode::kCopyStart:
      case Opcode::kAllReduceStart: case Opcode::kAllGatherStart:
      case Opcode::kCollectivePermuteStart: case Opcode::kAsyncStart: case Opcode::kAsyncUpdate:
      case Opcode::kSend: {
        LeafList all;
        for (InstructionIndex o : instruction.operands) {
          const LeafList& list = leaves[static_cast<size_t>(o)];
          all.insert(all.end(), list.begin(), list.end());
        }
        return all;
      }
      case Opcode::kGetTupleElement: return PartOf(computation, instruction, leaves);
      default: break;
    }
    LeafList fresh;
    for (const Shape* leaf : DataLeaves(instruction.shape)) {
      const bool counted = instruction.opcode != Opcode::kParameter &&
                           !(instruction.literal != nullptr && instruction.literal->elided);
      fresh.push_back(buffers->bytes.size());
      buffers->bytes.push_back(counted ? leaf->ByteSize() : 0);
      buffers->last_use.push_back(instruction.opcode == Opcode::kConstant ? SIZE_MAX : index);
    }
    *made = fresh;
    return fresh;
  }

  // The leaves of one element of a tuple; all of them where the tuple is a start's, which stands for
  // its operands.
  static LeafList PartOf(const Computation& computation, const Instruction& instruction,
                         const std::vector<LeafList>& leaves) {
    const LeafList& all = leaves[static_cast<size_t>(instruction.operands[0])];
    const Shape* tuple = computation.At(instruction.operands[0]).shape;
    if (all.size() != DataLeaves(tuple).size()) return all;
    auto begin = all.begin();
    const size_t index = static_cast<size_t>(instruction.Int(Attr::kIndex, 0));
    for (size_t e = 0; e < index; ++e) {
      begin += static_cast<int64_t>(DataLeaves(tuple->elements[e]).size());
    }
    return {begin, begin + static_cast<int64_t>(DataLeaves(instruction.shape).size())};
  }

  int64_t Sweep(const Computation& computation, const Buffers& buffers,
                const std::vector<std::vector<size_t>>& made) {
    std::vector<std::vector<size_t>> dies(computation.instructions.size() + 1);
    for (size_t b = 0; b < buffers.bytes.size(); ++b) {
      if (buffers.last_use[b] < dies.size()) dies[buffers.last_use[b]].push_back(b);
    }
    int64_t live = 0, peak = 0;
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      for (size_t b : made[i]) live += buffers.bytes[b];
      int64_t inside = 0;
      if (Definition(computation.instructions[i]).kernel == KernelKind::kRegion) {
        for (ComputationIndex c : CalledComputations(computation.instructions[i])) {
          inside = std::max(inside, peaks_[static_cast<size_t>(c)]);
        }
      }
      peak = std::max(peak, live + inside);
      for (size_t b : dies[i]) live -= buffers.bytes[b];
    }
    return peak;
  }

  const Module& module_;
  std::vector<int64_t> peaks_;  // by computation
};

}  // namespace

int64_t EstimatePeakBytes(const Module& module) { return Estimator(module).Run(); }

}  // namespace hv
