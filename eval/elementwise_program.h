// Elementwise instructions of one element count run as one loop: block by block through all of them
// while a block lies in the first-level cache, with no array for what only they read. Broadcasts,
// iota and scalars are made block by block too. The bits are those of one instruction at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "eval/compiled_loop.h"
#include "eval/scalar_op.h"
#include "eval/value.h"
#include "hlo/module.h"

namespace hv {

class ElementwiseProgram {
 public:
  static constexpr size_t kMostOperands = 16;
  static constexpr size_t kMostSteps = 64;
  static constexpr size_t kMostBlock = 2048;  // elements

  // The element number (i / inner) % extent, by which a broadcast of a run of data reads it.
  struct Period {
    int64_t inner = 1, extent = 1;
  };

  // Can native values of the instruction be computed element by element where they lie?
  static bool IsStep(const Computation& computation, const Instruction& instruction);
  // Its elements where they lie are those of its operand (reshape, copy).
  static bool IsSame(const Computation& computation, const Instruction& instruction);
  // Its elements are made from their positions: iota, or a broadcast of an array in row-major runs.
  static bool IsLeaf(const Computation& computation, const Instruction& instruction);

  // `members`, ascending and all of one element count, are steps or the same as their operand; the
  // last one is what Run yields, and what the others yield nobody else needs. Leaves that they read
  // are taken in. Nothing if the last one is not computed, or there are too many operands.
  static std::optional<ElementwiseProgram> Compile(const Computation& computation,
                                                   std::span<const InstructionIndex> members);

  // The instructions whose native values Run wants, ascending.
  std::span<const InstructionIndex> operands() const { return operands_; }
  // The result takes the storage of an operand that nobody else holds, if one fits.
  Value Run(std::span<Value> operands) const;

 private:
  class Compiler;
  enum class Source : uint8_t {
    kArray,     // an operand, element by element
    kScalar,    // the one element of an operand
    kSpread,    // an operand, by period
    kPosition,  // the element number in the period, converted
    kStep,
  };
  struct Register {
    Source source = Source::kStep;
    ElementType type = ElementType::kPred;
    int operand = -1;         // index into operands_
    int slot = -1;            // where its block is kept; -1: in the operand, or the result
    Period period = {};       // kSpread, kPosition
  };
  static constexpr size_t kMostPlaces = CompiledLoop::kMostPlaces;
  // One instruction, or several that one loop computes.
  struct Step {
    ScalarOp op;
    SpanKernel kernel = nullptr;  // in place of `op`; null: `op` runs between conversions
    SpanArgs arguments;           // of the kernel, without the spans
    std::shared_ptr<const CompiledLoop> loop;  // in place of both
    std::vector<int> registers;                // operands, then results
    size_t operand_count = 0;

    std::span<const int> operands() const { return {registers.data(), operand_count}; }
    std::span<const int> results() const {
      return {registers.data() + operand_count, registers.size() - operand_count};
    }
  };
  // A step with the memory it works on: of its registers, in their order.
  struct Bound {
    const Step* step;
    std::byte* places[kMostPlaces];
    int64_t strides[kMostPlaces];  // bytes from an element to the next: 0 in a slot
  };
  static void RunBound(Bound* bound, int64_t count);
  void RunRange(const std::byte* const* in, std::byte* out, int64_t begin, int64_t end) const;
  void FillScalars(const std::byte* const* in, std::byte* slots, size_t count) const;
  void FillLeaves(const std::byte* const* in, std::byte* slots, int64_t begin, size_t count) const;
  Bound Bind(const Step& step, const std::byte* const* in, std::byte* out, std::byte* slots,
             int64_t begin) const;
  std::byte* Slot(std::byte* slots, int slot) const {
    return slots + static_cast<size_t>(slot) * slot_bytes_;
  }

  const Shape* shape_ = nullptr;  // of the result
  std::vector<InstructionIndex> operands_;
  std::vector<ElementType> operand_types_;
  std::vector<Register> registers_;
  std::vector<Step> steps_;
  int slots_ = 0;
  size_t slot_bytes_ = 0;
  int64_t block_ = 0;  // elements
};

}  // namespace hv
