// Compiles groups of elementwise instructions and runs them. Slots are given by the lives of what
// they hold, so that few of them pass through the cache.
#include "eval/elementwise_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "eval/move.h"
#include "hlo/op.h"

namespace hv {
namespace {

constexpr size_t kBlock = 1024;       // elements
constexpr int64_t kGrain = 16 * 1024;  // elements of a thread's share, in whole blocks

// (i / inner) % extent, as a broadcast of a piece of data reads it.
struct Period {
  int64_t inner = 1, extent = 1;
};

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

// out[k] = in[((begin + k) / inner) % extent].
template <class T>
void Spread(const void* in, const Period& period, int64_t begin, size_t count, void* out) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  int64_t part = begin % period.inner, at = begin / period.inner % period.extent;
  for (T* const end = to + count; to != end;) {
    const int64_t left = end - to;
    if (period.inner == 1) {
      const int64_t run = std::min(left, period.extent - at);
      to = std::copy_n(from + at, run, to);
      at = 0;
      continue;
    }
    const int64_t run = std::min(left, period.inner - part);
    to = std::fill_n(to, run, from[at]);
    part = 0;
    if (++at == period.extent) at = 0;
  }
}

struct Wide128 {
  uint64_t low, high;
};

void SpreadAny(int width, const void* in, const Period& period, int64_t begin, size_t count,
               void* out) {
  switch (width) {
    case 1: return Spread<uint8_t>(in, period, begin, count, out);
    case 2: return Spread<uint16_t>(in, period, begin, count, out);
    case 4: return Spread<uint32_t>(in, period, begin, count, out);
    case 8: return Spread<uint64_t>(in, period, begin, count, out);
    default: return Spread<Wide128>(in, period, begin, count, out);
  }
}

void FillPositions(ElementType type, const Period& period, int64_t begin, size_t count,
                   std::byte* out) {
  int64_t positions[kBlock];
  int64_t part = begin % period.inner, at = begin / period.inner % period.extent;
  for (size_t done = 0; done < count;) {
    // A run of equal positions, or of ascending ones.
    const int64_t step = period.inner == 1 ? 1 : 0;
    const int64_t run = std::min(static_cast<int64_t>(count - done),
                                 step == 1 ? period.extent - at : period.inner - part);
    for (int64_t k = 0; k < run; ++k) positions[done + static_cast<size_t>(k)] = at + k * step;
    done += static_cast<size_t>(run);
    part = 0;
    at = step == 1 ? 0 : (at + 1) % period.extent;
  }
  const std::byte* in[1] = {reinterpret_cast<const std::byte*>(positions)};
  ScalarOp::Convert(ElementType::kS64, type)->Run(in, out, count);
}

// Cache-line aligned memory of this thread for at least `bytes`.
std::byte* Scratch(size_t bytes) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static thread_local std::vector<Line> memory;
  if (memory.size() * sizeof(Line) < bytes) memory.resize(bytes / sizeof(Line) + 1);
  return memory.data()->bytes;
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
    SortOperands();
    for (const InstructionIndex o : program_.operands_) {
      program_.operand_types_.push_back(computation_.At(o).shape->type);
    }
    GiveSlots(last);
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
    step.result = Add({.source = Source::kStep, .type = instruction.shape->type});
    program_.steps_.push_back(step);
    return step.result;
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
      made.inner = RowMajorStrides(shape.dims)[d];
      made.extent = shape.dims[d];
    } else if (IsLeaf(computation_, instruction)) {
      const Period period = *PeriodOf(computation_, instruction);
      made.source = period.extent == 1 ? Source::kScalar : Source::kSpread;
      made.operand = OperandOf(instruction.operands[0]);
      made.inner = period.inner;
      made.extent = period.extent;
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
    const auto width = static_cast<size_t>(HostBytes(r.type));
    program_.slot_bytes_ = std::max(program_.slot_bytes_, kBlock * width);
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

  const Computation& computation_;
  std::span<const InstructionIndex> members_;
  ElementwiseProgram program_;
  std::vector<std::pair<InstructionIndex, int>> known_;  // registers of instructions
};

std::optional<ElementwiseProgram> ElementwiseProgram::Compile(
    const Computation& computation, std::span<const InstructionIndex> members) {
  return Compiler(computation, members).Run();
}

void ElementwiseProgram::FillScalars(const std::byte* const* in, std::byte* slots,
                                     size_t count) const {
  for (const Register& r : registers_) {
    if (r.source == Source::kScalar) {
      SpreadAny(HostBytes(r.type), in[r.operand], {static_cast<int64_t>(count), 1}, 0, count,
                Slot(slots, r.slot));
    }
  }
}

void ElementwiseProgram::LoadBlock(const std::byte* const* in, std::byte* slots, int64_t begin,
                                   size_t count, const std::byte** at) const {
  for (size_t k = 0; k < registers_.size(); ++k) {
    const Register& r = registers_[k];
    const int width = HostBytes(r.type);
    if (r.source == Source::kArray) {
      at[k] = in[r.operand] + begin * width;
    } else if (r.source == Source::kSpread) {
      SpreadAny(width, in[r.operand], {r.inner, r.extent}, begin, count, Slot(slots, r.slot));
    } else if (r.source == Source::kPosition) {
      FillPositions(r.type, {r.inner, r.extent}, begin, count, Slot(slots, r.slot));
    }
  }
}

void ElementwiseProgram::RunRange(const std::byte* const* in, std::byte* out, int64_t begin,
                                  int64_t end) const {
  constexpr size_t kMostRegisters = 4 * kMostSteps;
  const std::byte* at[kMostRegisters];
  std::byte* const slots = Scratch(static_cast<size_t>(slots_) * slot_bytes_);
  for (size_t k = 0; k < registers_.size(); ++k) {
    if (registers_[k].slot >= 0) at[k] = Slot(slots, registers_[k].slot);
  }
  // Without a slot there is nothing that should stay in the cache.
  const int64_t block = slots_ == 0 ? end - begin : static_cast<int64_t>(kBlock);
  FillScalars(in, slots, static_cast<size_t>(std::min(block, end - begin)));
  const int width = HostBytes(shape_->type);
  for (int64_t done = begin; done < end; done += block) {
    const auto count = static_cast<size_t>(std::min(block, end - done));
    LoadBlock(in, slots, done, count, at);
    for (const Step& step : steps_) {
      const std::byte* operands[3];
      for (int k = 0; k < step.arity; ++k) operands[k] = at[step.operands[k]];
      const int slot = registers_[static_cast<size_t>(step.result)].slot;
      step.op.Run({operands, static_cast<size_t>(step.arity)},
                  slot < 0 ? out + done * width : Slot(slots, slot), count);
    }
  }
}

Value ElementwiseProgram::Run(std::span<Value> operands) const {
  HV_CHECK(operands.size() == operands_.size(), "operands of an elementwise program");
  const std::byte* in[kMostOperands];
  for (size_t i = 0; i < operands.size(); ++i) {
    HV_CHECK(operands[i].IsNative() && operands[i].shape()->type == operand_types_[i],
             "an operand of another type than its instruction states");
    in[i] = operands[i].bytes().data();
  }
  Value result;
  for (const Register& r : registers_) {
    if (r.source != Source::kArray || HostBytes(r.type) != HostBytes(shape_->type)) continue;
    Value& operand = operands[static_cast<size_t>(r.operand)];
    if (!operand.IsUnique() || operand.element_count() != shape_->element_count) continue;
    result = std::exchange(operand, Value()).WithShape(shape_);
    break;
  }
  if (result.empty()) result = Value::NewNative(shape_);
  std::byte* const out = result.MutableBytes().data();
  ParallelFor(shape_->element_count, kGrain,
              [&](int64_t begin, int64_t end) { RunRange(in, out, begin, end); });
  return result;
}

}  // namespace hv
