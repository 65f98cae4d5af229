// Compiles groups of elementwise instructions: registers for what they read and make, two steps
// joined where one loop computes both, slots by the lives of what they hold, so that few of them
// pass through the cache.
#include <algorithm>
#include <utility>

#include "eval/elementwise_program.h"
#include "hlo/op.h"

namespace hv {
namespace {

constexpr size_t kCacheBytes = 24 * 1024;  // of the first-level cache, for a block of all arrays
constexpr size_t kLeastBlock = 256;

using Period = ElementwiseProgram::Period;

// Of a broadcast whose data are one run of digits, between repetitions on either side.
std::optional<Period> PeriodOf(const Computation& computation, const Instruction& broadcast) {
  const Shape& from = *computation.At(broadcast.operands[0]).shape;
  const Shape* const shapes[1] = {&from};
  const Pieces pieces = Definition(broadcast).view(broadcast, {shapes, 1}, {});
  if (pieces.size() != 1 || pieces[0].operand != 0 || pieces[0].in_base != 0) return {};
  const Digit* data = nullptr;
  for (const Digit& digit : pieces[0].digits) {
    if (digit.in_stride == 0) continue;
    if (data != nullptr || digit.in_stride != 1) return {};
    data = &digit;
  }
  if (data == nullptr) return Period{1, 1};
  return Period{data->out_stride, data->extent};
}

// Verifiers let operands of mixed float precision pass; those are converted first, elsewhere.
bool HasOneFloatType(const Computation& computation, const Instruction& instruction) {
  ElementType type = instruction.shape->type;
  for (const InstructionIndex o : instruction.operands) {
    const ElementType operand = computation.At(o).shape->type;
    if (!IsFloat(operand)) continue;
    if (!IsFloat(type)) type = operand;
    if (operand != type) return false;
  }
  return true;
}

std::optional<ScalarOp> OpOf(const Computation& computation, const Instruction& instruction) {
  ElementType types[3] = {};
  const size_t arity = instruction.operands.size();
  if (arity > 3) return {};
  for (size_t k = 0; k < arity; ++k) types[k] = computation.At(instruction.operands[k]).shape->type;
  Result<ScalarOp> op = ScalarOp::Make(instruction, instruction.shape->type, {types, arity});
  if (!op) return {};
  return *op;
}

}  // namespace

bool ElementwiseProgram::IsStep(const Computation& computation, const Instruction& instruction) {
  const OpDef& definition = Definition(instruction);
  const Shape& shape = *instruction.shape;
  if (definition.kernel != KernelKind::kScalar || !shape.IsArray() || shape.element_count == 0) {
    return false;
  }
  if (definition.scalar == ScalarFn::kStochasticConvert) return false;
  const Shape& first = *computation.At(instruction.operands[0]).shape;
  // One predicate picks an operand as a whole.
  if (definition.scalar == ScalarFn::kSelect && first.IsScalar() && !shape.IsScalar()) return false;
  if (definition.scalar == ScalarFn::kBitcastConvert && BitWidth(shape.type) % 8 != 0) return false;
  for (const InstructionIndex o : instruction.operands) {
    const Shape& operand = *computation.At(o).shape;
    const bool bound = definition.scalar == ScalarFn::kClamp && operand.element_count == 1;
    if (operand.element_count != shape.element_count && !bound) return false;
  }
  const bool rounds = definition.scalar != ScalarFn::kConvert;
  if (rounds && !HasOneFloatType(computation, instruction)) return false;
  return OpOf(computation, instruction).has_value();
}

bool ElementwiseProgram::IsSame(const Computation& computation, const Instruction& instruction) {
  const Shape& shape = *instruction.shape;
  if (instruction.operands.size() != 1 || !shape.IsArray() || shape.element_count == 0) {
    return false;
  }
  const Shape& operand = *computation.At(instruction.operands[0]).shape;
  if (operand.type != shape.type || operand.element_count != shape.element_count) return false;
  return instruction.opcode == Opcode::kReshape || instruction.opcode == Opcode::kCopy;
}

bool ElementwiseProgram::IsLeaf(const Computation& computation, const Instruction& instruction) {
  const Shape& shape = *instruction.shape;
  if (!shape.IsArray() || shape.element_count == 0) return false;
  if (instruction.opcode == Opcode::kIota) return !IsComplex(shape.type);
  return instruction.opcode == Opcode::kBroadcast &&
         shape.type == computation.At(instruction.operands[0]).shape->type &&
         PeriodOf(computation, instruction).has_value();
}

class ElementwiseProgram::Compiler {
 public:
  Compiler(const Computation& computation, std::span<const InstructionIndex> members)
      : computation_(computation), members_(members) {}

  std::optional<ElementwiseProgram> Run() {
    int last = -1;
    for (const InstructionIndex m : members_) {
      last = Lower(m);
      known_.emplace_back(m, last);
    }
    const bool computed = program_.registers_[static_cast<size_t>(last)].source == Source::kStep;
    if (!computed || program_.operands_.size() > kMostOperands) return {};
    program_.shape_ = computation_.At(members_.back()).shape;
    JoinPairs();
    SortOperands();
    GiveSlots(last);
    ChooseBlock();
    for (const InstructionIndex o : program_.operands_) {
      program_.operand_types_.push_back(computation_.At(o).shape->type);
    }
    return std::move(program_);
  }

 private:
  int Lower(InstructionIndex index) {
    const Instruction& instruction = computation_.At(index);
    if (IsSame(computation_, instruction)) return RegisterOf(instruction.operands[0]);
    Step step;
    step.op = *OpOf(computation_, instruction);
    step.arity = static_cast<int>(instruction.operands.size());
    for (int k = 0; k < step.arity; ++k) {
      step.operands[k] = RegisterOf(instruction.operands[static_cast<size_t>(k)]);
    }
    step.kernel = step.op.Direct(&step.arguments);
    step.result = Add({.source = Source::kStep, .type = instruction.shape->type});
    program_.steps_.push_back(step);
    instructions_.push_back(&instruction);
    return step.result;
  }

  // Joins each step with the one that makes an operand of it and of nothing else, where a loop for
  // both exists.
  void JoinPairs() {
    std::vector<Step>& steps = program_.steps_;
    std::vector<int> readers(program_.registers_.size()), maker(program_.registers_.size(), -1);
    for (size_t s = 0; s < steps.size(); ++s) {
      for (int k = 0; k < steps[s].arity; ++k) ++readers[static_cast<size_t>(steps[s].operands[k])];
      maker[static_cast<size_t>(steps[s].result)] = static_cast<int>(s);
    }
    std::vector<bool> joined(steps.size()), gone(steps.size());
    for (size_t s = 0; s < steps.size(); ++s) {
      for (int k = 0; k < steps[s].arity && !joined[s]; ++k) {
        const auto r = static_cast<size_t>(steps[s].operands[k]);
        if (maker[r] < 0 || readers[r] != 1) continue;
        const auto first = static_cast<size_t>(maker[r]);
        if (joined[first] || !Join(first, s, k)) continue;
        joined[s] = true;
        gone[first] = true;
      }
    }
    std::vector<Step> left;
    for (size_t s = 0; s < steps.size(); ++s) {
      if (!gone[s]) left.push_back(steps[s]);
    }
    steps = std::move(left);
  }

  // Makes `second` compute `first`, its operand `place`, too.
  bool Join(size_t first, size_t second, int place) {
    const Instruction &a = *instructions_[first], &b = *instructions_[second];
    const ElementType type = b.shape->type;
    if (type != ElementType::kF32 && type != ElementType::kF64) return false;
    if (computation_.At(a.operands[0]).shape->type != type) return false;
    const ScalarFn one = Definition(a).scalar, two = Definition(b).scalar;
    Step& step = program_.steps_[second];
    SpanKernel kernel = nullptr;
    int rest[2] = {};  // the other operands of `second`
    if (two == ScalarFn::kSelect) {
      if (one != ScalarFn::kCompare || place != 0) return false;
      if (a.Text(Attr::kCompareType) == "TOTALORDER") return false;
      const Direction direction = DirectionOf(a.Text(Attr::kCompareDirection));
      kernel = FindComparedSelectKernel(direction, ComputeTypeOf(type));
      std::copy_n(step.operands + 1, 2, rest);
    } else if (step.arity == 2) {
      kernel = FindPairKernel(one, two, place, ComputeTypeOf(type));
      rest[0] = step.operands[1 - place];
    }
    if (kernel == nullptr) return false;
    const Step& made = program_.steps_[first];
    std::copy_n(made.operands, 2, step.operands);
    std::copy_n(rest, 2, step.operands + 2);
    step.arity += 1;
    step.kernel = kernel;
    return true;
  }

  int RegisterOf(InstructionIndex index) {
    for (const auto& [known, r] : known_) {
      if (known == index) return r;
    }
    const Instruction& instruction = computation_.At(index);
    const ElementType type = instruction.shape->type;
    Register made{.source = Source::kArray, .type = type};
    if (instruction.opcode == Opcode::kIota && IsLeaf(computation_, instruction)) {
      const Shape& shape = *instruction.shape;
      const auto d = static_cast<size_t>(instruction.Int(Attr::kIotaDimension, 0));
      made.source = Source::kPosition;
      made.period = {RowMajorStrides(shape.dims)[d], shape.dims[d]};
    } else if (IsLeaf(computation_, instruction)) {
      made.period = *PeriodOf(computation_, instruction);
      made.source = made.period.extent == 1 ? Source::kScalar : Source::kSpread;
      made.operand = OperandOf(instruction.operands[0]);
    } else {
      if (instruction.shape->element_count == 1) made.source = Source::kScalar;
      made.operand = OperandOf(index);
    }
    const int r = Add(made);
    known_.emplace_back(index, r);
    return r;
  }

  int OperandOf(InstructionIndex index) {
    std::vector<InstructionIndex>& operands = program_.operands_;
    const auto found = std::find(operands.begin(), operands.end(), index);
    if (found == operands.end()) operands.push_back(index);
    return static_cast<int>(std::find(operands.begin(), operands.end(), index) - operands.begin());
  }

  int Add(const Register& r) {
    program_.registers_.push_back(r);
    return static_cast<int>(program_.registers_.size()) - 1;
  }

  void SortOperands() {
    const std::vector<InstructionIndex> found = program_.operands_;
    std::sort(program_.operands_.begin(), program_.operands_.end());
    for (Register& r : program_.registers_) {
      if (r.operand >= 0) r.operand = OperandOf(found[static_cast<size_t>(r.operand)]);
    }
  }

  // What is loaded keeps its slot; what is computed gives it back after its last reader.
  void GiveSlots(int last) {
    std::vector<Register>& registers = program_.registers_;
    // Of one element, what is not computed can be read where it lies.
    const bool single = program_.shape_->element_count == 1;
    std::vector<size_t> last_reader(registers.size());
    for (size_t s = 0; s < program_.steps_.size(); ++s) {
      const Step& step = program_.steps_[s];
      for (int k = 0; k < step.arity; ++k) last_reader[static_cast<size_t>(step.operands[k])] = s;
    }
    for (Register& r : registers) {
      if (single && (r.source == Source::kScalar || r.source == Source::kSpread)) {
        r.source = Source::kArray;
      }
      if (r.source != Source::kArray && r.source != Source::kStep) r.slot = program_.slots_++;
    }
    std::vector<int> free;
    for (size_t s = 0; s < program_.steps_.size(); ++s) {
      const Step& step = program_.steps_[s];
      if (step.result != last) {
        if (free.empty()) free.push_back(program_.slots_++);
        registers[static_cast<size_t>(step.result)].slot = free.back();
        free.pop_back();
      }
      for (int k = 0; k < step.arity; ++k) {
        const auto r = static_cast<size_t>(step.operands[k]);
        const bool again = std::find(step.operands, step.operands + k, step.operands[k]) !=
                           step.operands + k;
        if (registers[r].source == Source::kStep && last_reader[r] == s && !again) {
          free.push_back(registers[r].slot);
        }
      }
    }
  }

  // So many elements that a block of every slot and array stays in the cache.
  void ChooseBlock() {
    size_t widest = 1, arrays = 1;
    for (const Register& r : program_.registers_) {
      widest = std::max(widest, static_cast<size_t>(HostBytes(r.type)));
      arrays += r.source == Source::kArray ? 1 : 0;
    }
    const size_t element_bytes = (static_cast<size_t>(program_.slots_) + arrays) * widest;
    const size_t block = kCacheBytes / element_bytes / kLeastBlock * kLeastBlock;
    program_.block_ = static_cast<int64_t>(std::clamp(block, kLeastBlock, kMostBlock));
    program_.slot_bytes_ = static_cast<size_t>(program_.block_) * widest;
  }

  const Computation& computation_;
  std::span<const InstructionIndex> members_;
  ElementwiseProgram program_;
  std::vector<const Instruction*> instructions_;         // of the steps
  std::vector<std::pair<InstructionIndex, int>> known_;  // registers of instructions
};

std::optional<ElementwiseProgram> ElementwiseProgram::Compile(
    const Computation& computation, std::span<const InstructionIndex> members) {
  return Compiler(computation, members).Run();
}

}  // namespace hv
