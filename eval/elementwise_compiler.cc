// Compiles groups of elementwise instructions: registers for what they read and make, steps joined
// where one loop computes them, slots by the lives of what they hold, so that few of them pass
// through the cache.
#include <algorithm>
#include <utility>

#include "eval/elementwise_program.h"
#include "hlo/op.h"

namespace hv {
namespace {

constexpr size_t kCacheBytes = 24 * 1024;  // of the first-level cache, for a block of all arrays
constexpr size_t kLeastBlock = 256;
constexpr int64_t kWorthCode = 4096;  // elements: their arithmetic costs more than compiling it

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
    NoteReaders();
    const bool worth_code = program_.shape_->element_count >= kWorthCode;
    if (worth_code && CompiledLoop::IsPossible()) CompileLoops(last);
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
    for (const InstructionIndex o : instruction.operands) step.registers.push_back(RegisterOf(o));
    step.operand_count = step.registers.size();
    step.kernel = step.op.Direct(&step.arguments);
    step.registers.push_back(Add({.source = Source::kStep, .type = instruction.shape->type}));
    const int result = step.registers.back();
    program_.steps_.push_back(std::move(step));
    instructions_.push_back(&instruction);
    return result;
  }

  Register& At(int r) { return program_.registers_[static_cast<size_t>(r)]; }

  void NoteReaders() {
    readers_.resize(program_.registers_.size());
    for (size_t s = 0; s < program_.steps_.size(); ++s) {
      for (const int r : program_.steps_[s].operands())
        readers_[static_cast<size_t>(r)].push_back(s);
    }
  }

  // Makes one loop of machine code of each run of steps that has one, the longest that fits.
  void CompileLoops(int last) {
    std::vector<Step> steps;
    std::vector<const Instruction*> instructions;
    for (size_t s = 0; s < program_.steps_.size();) {
      size_t end = s;
      const ElementType type = LoopTypeOf(s);
      while (end < program_.steps_.size() && LoopTypeOf(end) == type) ++end;
      std::optional<Step> loop;
      if (IsFloat(type)) {
        while (end > s + 1 && !(loop = LoopOf(type, s, end, last))) --end;
      }
      steps.push_back(loop ? std::move(*loop) : std::move(program_.steps_[s]));
      instructions.push_back(loop ? nullptr : instructions_[s]);
      s = loop ? end : s + 1;
    }
    program_.steps_ = std::move(steps);
    instructions_ = std::move(instructions);
  }

  // The type of which a loop could compute the step, else pred.
  ElementType LoopTypeOf(size_t s) const {
    const Instruction& instruction = *instructions_[s];
    const bool total = instruction.Text(Attr::kCompareType) == "TOTALORDER";
    if (LoopArity(Definition(instruction).scalar) == 0 || total) return ElementType::kPred;
    const ElementType type = computation_.At(instruction.operands.back()).shape->type;
    const bool known = type == ElementType::kF32 || type == ElementType::kF64;
    return known ? type : ElementType::kPred;
  }

  // The steps from `begin` to `end` as one; truth values must not leave it, nor come from
  // elsewhere.
  std::optional<Step> LoopOf(ElementType type, size_t begin, size_t end, int last) {
    std::vector<LoopStep> loop;
    LoopInterface interface;
    std::vector<bool> made(program_.registers_.size());
    for (size_t s = begin; s < end; ++s) {
      const Step& step = program_.steps_[s];
      const Instruction& instruction = *instructions_[s];
      LoopStep& next = loop.emplace_back();
      next.fn = Definition(instruction).scalar;
      if (next.fn == ScalarFn::kCompare) {
        next.direction = DirectionOf(instruction.Text(Attr::kCompareDirection));
      }
      for (size_t k = 0; k < step.operand_count; ++k) {
        const int r = next.operands[k] = step.registers[k];
        if (made[static_cast<size_t>(r)]) continue;
        if (At(r).type != type) return {};
        auto& list = At(r).source == Source::kScalar ? interface.scalars : interface.arrays;
        if (std::find(list.begin(), list.end(), r) == list.end()) list.push_back(r);
      }
      next.result = step.results()[0];
      made[static_cast<size_t>(next.result)] = true;
      const std::vector<size_t>& readers = readers_[static_cast<size_t>(next.result)];
      if (next.result != last && !readers.empty() && readers.back() < end) continue;
      if (next.fn == ScalarFn::kCompare) return {};
      interface.results.push_back(next.result);
    }
    Step step;
    step.loop = CompiledLoop::Compile(type, loop, interface);
    if (step.loop == nullptr) return {};
    for (const auto* list : {&interface.scalars, &interface.arrays, &interface.results}) {
      if (list == &interface.results) step.operand_count = step.registers.size();
      step.registers.insert(step.registers.end(), list->begin(), list->end());
    }
    return step;
  }

  // Joins each step with the one that makes an operand of it and of nothing else, where a loop for
  // both exists.
  void JoinPairs() {
    std::vector<Step>& steps = program_.steps_;
    std::vector<int> maker(program_.registers_.size(), -1);
    for (size_t s = 0; s < steps.size(); ++s) {
      if (steps[s].loop == nullptr)
        maker[static_cast<size_t>(steps[s].results()[0])] = static_cast<int>(s);
    }
    std::vector<bool> joined(steps.size()), gone(steps.size());
    for (size_t s = 0; s < steps.size(); ++s) {
      if (steps[s].loop != nullptr) continue;
      for (size_t k = 0; k < steps[s].operand_count && !joined[s]; ++k) {
        const auto r = static_cast<size_t>(steps[s].registers[k]);
        if (maker[r] < 0 || readers_[r].size() != 1) continue;
        const auto first = static_cast<size_t>(maker[r]);
        if (joined[first] || !Join(first, s, k)) continue;
        joined[s] = true;
        gone[first] = true;
      }
    }
    std::vector<Step> left;
    for (size_t s = 0; s < steps.size(); ++s) {
      if (!gone[s]) left.push_back(std::move(steps[s]));
    }
    steps = std::move(left);
  }

  // Makes `second` compute `first`, its operand `place`, too.
  bool Join(size_t first, size_t second, size_t place) {
    const Instruction &a = *instructions_[first], &b = *instructions_[second];
    const ElementType type = b.shape->type;
    if (type != ElementType::kF32 && type != ElementType::kF64) return false;
    if (computation_.At(a.operands[0]).shape->type != type) return false;
    const ScalarFn one = Definition(a).scalar, two = Definition(b).scalar;
    Step& step = program_.steps_[second];
    SpanKernel kernel = nullptr;
    if (two == ScalarFn::kSelect) {
      if (one != ScalarFn::kCompare || place != 0) return false;
      if (a.Text(Attr::kCompareType) == "TOTALORDER") return false;
      const Direction direction = DirectionOf(a.Text(Attr::kCompareDirection));
      kernel = FindComparedSelectKernel(direction, ComputeTypeOf(type));
    } else if (step.operand_count == 2) {
      kernel = FindPairKernel(one, two, static_cast<int>(place), ComputeTypeOf(type));
    }
    if (kernel == nullptr) return false;
    const std::span<const int> made = program_.steps_[first].operands();
    step.registers.erase(step.registers.begin() + static_cast<std::ptrdiff_t>(place));
    step.registers.insert(step.registers.begin(), made.begin(), made.end());
    step.operand_count += 1;
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
    std::vector<bool> spread(registers.size());  // read element by element
    for (size_t s = 0; s < program_.steps_.size(); ++s) {
      const Step& step = program_.steps_[s];
      for (const int r : step.operands()) {
        last_reader[static_cast<size_t>(r)] = s;
        if (step.loop == nullptr) spread[static_cast<size_t>(r)] = true;
      }
    }
    for (size_t k = 0; k < registers.size(); ++k) {
      Register& r = registers[k];
      const bool loaded = r.source == Source::kScalar || r.source == Source::kSpread;
      if (single && loaded) r.source = Source::kArray;
      const bool lies = r.source == Source::kArray || r.source == Source::kStep;
      if (!lies && (r.source != Source::kScalar || spread[k])) r.slot = program_.slots_++;
    }
    std::vector<int> free;
    for (size_t s = 0; s < program_.steps_.size(); ++s) {
      const Step& step = program_.steps_[s];
      for (const int result : step.results()) {
        if (result == last) continue;
        if (free.empty()) free.push_back(program_.slots_++);
        At(result).slot = free.back();
        free.pop_back();
      }
      for (const int r : step.operands()) {
        if (At(r).source != Source::kStep || last_reader[static_cast<size_t>(r)] != s) continue;
        free.push_back(At(r).slot);
        last_reader[static_cast<size_t>(r)] =
            program_.steps_.size();  // an operand twice frees once
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
  std::vector<const Instruction*> instructions_;         // of the steps; null: a compiled loop
  std::vector<std::vector<size_t>> readers_;             // of registers: steps before any is joined
  std::vector<std::pair<InstructionIndex, int>> known_;  // registers of instructions
};

std::optional<ElementwiseProgram> ElementwiseProgram::Compile(
    const Computation& computation, std::span<const InstructionIndex> members) {
  return Compiler(computation, members).Run();
}

}  // namespace hv
