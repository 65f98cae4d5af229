// Registers are given out in a walk over the steps: a value keeps its own from where it is loaded
// or made to its last reader. The loop's body is emitted twice, for 32 bytes at a time and for the
// elements that are left; scalars keep their registers in both.
#include "eval/loop_emitter.h"

#include <algorithm>

#include "eval/x86_assembler.h"

namespace hv {
namespace {

using x86::Condition;
using x86::Gpr;
using x86::Map;
using x86::Place;
using x86::Prefix;

constexpr int kVectorRegisters = 16;
constexpr int kVectorBytes = 32;
// Where the function finds its arguments; rdi is the index, which the zero is for.
constexpr Gpr kIndex = Gpr::kRdi, kBytes = Gpr::kRsi, kTable = Gpr::kRdx;
// For addresses; the table's own comes last.
constexpr Gpr kBases[] = {Gpr::kRax, Gpr::kRcx, Gpr::kR8, Gpr::kR9, Gpr::kR10, Gpr::kR11, kTable};

// Opcodes of map 0F that exist for vectors and scalars of both types.
constexpr uint8_t kLoad = 0x10, kStore = 0x11, kSqrt = 0x51, kAdd = 0x58, kMultiply = 0x59,
                  kSubtract = 0x5C, kDivide = 0x5E, kCompare = 0xC2;
// Those that exist for vectors alone.
constexpr uint8_t kAndNot = 0x55, kOr = 0x56, kXor = 0x57;
// Predicates of kCompare.
constexpr uint8_t kUnordered = 3, kIsGreaterOrEqual = 0xD, kIsLess = 1, kIsLessOrEqual = 2;

uint8_t PredicateOf(Direction direction) {
  switch (direction) {
    case Direction::kEq:
      return 0;
    case Direction::kNe:
      return 4;
    case Direction::kLt:
      return kIsLess;
    case Direction::kLe:
      return kIsLessOrEqual;
    case Direction::kGt:
      return 0xE;
    case Direction::kGe:
      return kIsGreaterOrEqual;
  }
  return 0;
}

class LoopEmitter {
 public:
  LoopEmitter(ElementType type, std::span<const LoopStep> steps, const LoopInterface& interface)
      : doubles_(type == ElementType::kF64), steps_(steps), interface_(interface) {
    for (const LoopStep& step : steps) NoteValue(step.result);
    for (const int v : interface.scalars) NoteValue(v);
    for (const int v : interface.arrays) NoteValue(v);
    for (size_t s = 0; s < steps.size(); ++s) {
      for (const int v : OperandsOf(steps[s])) At(v).last_reader = static_cast<int>(s);
    }
  }

  std::vector<uint8_t> Emit() {
    if (interface_.arrays.size() + interface_.results.size() > std::size(kBases)) return {};
    LoadScalars();
    LoadBases();
    asm_.Add(kBytes, -kVectorBytes);
    const size_t none = asm_.JumpForward(Condition::kLess);
    asm_.Align(kVectorBytes);
    const size_t loop = asm_.Here();
    Body(true);
    asm_.Add(kIndex, kVectorBytes);
    asm_.Compare(kIndex, kBytes);
    asm_.JumpBack(Condition::kLessOrEqual, loop);
    asm_.Land(none);
    asm_.Add(kBytes, kVectorBytes);
    asm_.Compare(kIndex, kBytes);
    const size_t done = asm_.JumpForward(Condition::kGreaterOrEqual);
    const size_t rest = asm_.Here();
    Body(false);
    asm_.Add(kIndex, doubles_ ? sizeof(double) : sizeof(float));
    asm_.Compare(kIndex, kBytes);
    asm_.JumpBack(Condition::kLess, rest);
    asm_.Land(done);
    asm_.VectorsDone();
    asm_.Return();
    return fits_ ? asm_.code() : std::vector<uint8_t>();
  }

 private:
  static constexpr int kNone = -1;
  struct Home {
    int last_reader = kNone;  // a step
    int vector = kNone;       // the register that holds it now
    int base = kNone;         // into kBases: where its elements lie
    bool scalar = false;      // its register stays
    bool stored = false;
  };

  Home& At(int v) { return values_[static_cast<size_t>(v)]; }
  void NoteValue(int v) {
    if (values_.size() <= static_cast<size_t>(v)) values_.resize(static_cast<size_t>(v) + 1);
  }
  static std::span<const int> OperandsOf(const LoopStep& step) {
    return {step.operands, static_cast<size_t>(LoopArity(step.fn))};
  }

  int Take() {
    for (int r = 0; r < kVectorRegisters; ++r) {
      if (taken_[r]) continue;
      taken_[r] = true;
      return r;
    }
    fits_ = false;
    return 0;
  }
  void Give(int r) { taken_[r] = false; }

  void LoadScalars() {
    for (size_t k = 0; k < interface_.scalars.size(); ++k) {
      Home& value = At(interface_.scalars[k]);
      value.scalar = true;
      value.vector = Take();
      asm_.LoadPointer(Gpr::kRax, kTable, static_cast<int>(k));
      const auto broadcast = static_cast<uint8_t>(doubles_ ? 0x19 : 0x18);
      asm_.Vector({Map::k0F38, Prefix::k66, broadcast}, true, value.vector, 0,
                  Place::Memory(Gpr::kRax));
    }
  }

  void LoadBases() {
    int base = 0, index = static_cast<int>(interface_.scalars.size());
    for (const std::vector<int>* list : {&interface_.arrays, &interface_.results}) {
      for (const int v : *list) {
        asm_.LoadPointer(kBases[base], kTable, index++);
        At(v).base = base++;
        At(v).stored = list == &interface_.results;
      }
    }
  }

  void Body(bool wide) {
    wide_ = wide;
    std::fill_n(taken_, kVectorRegisters, false);
    for (Home& value : values_) {
      if (!value.scalar) value.vector = kNone;
      if (value.scalar) taken_[value.vector] = true;
    }
    for (size_t s = 0; s < steps_.size() && fits_; ++s) Emit(static_cast<int>(s));
  }

  void Emit(int s) {
    const LoopStep& step = steps_[static_cast<size_t>(s)];
    switch (step.fn) {
      case ScalarFn::kAdd:
        return Arithmetic(s, kAdd);
      case ScalarFn::kSubtract:
        return Arithmetic(s, kSubtract);
      case ScalarFn::kMultiply:
        return Arithmetic(s, kMultiply);
      case ScalarFn::kDivide:
        return Arithmetic(s, kDivide);
      case ScalarFn::kSqrt: {
        const int x = In(step.operands[0]);
        const int result = Release(s);
        asm_.Vector(Sized(kSqrt), wide_, result, wide_ ? 0 : x, Place::Register(x));
        return Finish(s, result);
      }
      case ScalarFn::kNegate:
        return WithSign(s, kXor);
      case ScalarFn::kAbs:
        return WithSign(s, kAndNot);
      case ScalarFn::kMaximum:
        return Extreme(s, kIsGreaterOrEqual);
      case ScalarFn::kMinimum:
        return Extreme(s, kIsLessOrEqual);
      case ScalarFn::kCompare:
        Arithmetic(s, kCompare);
        return;
      case ScalarFn::kSelect: {
        const int mask = In(step.operands[0]), x = In(step.operands[1]), y = In(step.operands[2]);
        const int result = Release(s);
        Blend(result, y, x, mask);
        return Finish(s, result);
      }
      default:
        return Clamp(s);
    }
  }

  // The register of a value; an array is loaded when it is first needed.
  int In(int v) {
    Home& value = At(v);
    if (value.vector != kNone) return value.vector;
    value.vector = Take();
    asm_.Vector(Sized(kLoad), wide_, value.vector, 0, Place::Memory(kBases[value.base]));
    return value.vector;
  }
  // The same for a second source, which may lie in memory if nothing else wants it.
  Place Second(int v, int s) {
    const Home& value = At(v);
    if (value.vector == kNone && value.last_reader == s) return Place::Memory(kBases[value.base]);
    return Place::Register(In(v));
  }

  // Gives back the registers of operands that nobody reads any more, and takes one for the result,
  // which may be one of them.
  int Release(int s) {
    for (const int v : OperandsOf(steps_[static_cast<size_t>(s)])) {
      Home& value = At(v);
      if (value.last_reader != s || value.scalar || value.vector == kNone) continue;
      Give(value.vector);
      value.vector = kNone;
    }
    return Take();
  }

  void Finish(int s, int result) {
    Home& value = At(steps_[static_cast<size_t>(s)].result);
    value.vector = result;
    if (value.stored) {
      asm_.Vector(Sized(kStore), wide_, result, 0, Place::Memory(kBases[value.base]));
    }
    if (value.last_reader == kNone) Give(result);
  }

  x86::Encoding Sized(uint8_t code) const {
    if (wide_) return Packed(code);
    return {Map::k0F, doubles_ ? Prefix::kF2 : Prefix::kF3, code};
  }
  x86::Encoding Packed(uint8_t code) const {
    return {Map::k0F, doubles_ ? Prefix::k66 : Prefix::kNone, code};
  }

  void Arithmetic(int s, uint8_t code) {
    const LoopStep& step = steps_[static_cast<size_t>(s)];
    const int x = In(step.operands[0]);
    const Place y = Second(step.operands[1], s);
    const int result = Release(s);
    asm_.Vector(Sized(code), wide_, result, x, y);
    if (code == kCompare) asm_.Immediate(PredicateOf(step.direction));
    Finish(s, result);
  }

  void Compare(int result, int x, int y, uint8_t predicate) {
    asm_.Vector(Sized(kCompare), wide_, result, x, Place::Register(y));
    asm_.Immediate(predicate);
  }
  // Elements of `on_true` where the mask is set, of `on_false` elsewhere.
  void Blend(int result, int on_false, int on_true, int mask) {
    const auto code = static_cast<uint8_t>(doubles_ ? 0x4B : 0x4A);
    asm_.Vector({Map::k0F3A, Prefix::k66, code}, wide_, result, on_false, Place::Register(on_true));
    asm_.Immediate(static_cast<uint8_t>(mask << 4));
  }

  // Changes the sign by a mask of sign bits: all ones, shifted.
  void WithSign(int s, uint8_t code) {
    constexpr uint8_t kCompareIntegers = 0x76;
    constexpr int kShiftLeft = 6;  // of the opcodes that shift by an immediate
    const int x = In(steps_[static_cast<size_t>(s)].operands[0]);
    const int mask = Take();
    const auto shift = static_cast<uint8_t>(doubles_ ? 0x73 : 0x72);
    asm_.Vector({Map::k0F, Prefix::k66, kCompareIntegers}, wide_, mask, mask,
                Place::Register(mask));
    asm_.Vector({Map::k0F, Prefix::k66, shift}, wide_, kShiftLeft, mask, Place::Register(mask));
    asm_.Immediate(doubles_ ? 63 : 31);
    Give(mask);
    const int result = Release(s);
    asm_.Vector(Packed(code), wide_, result, mask, Place::Register(x));
    Finish(s, result);
  }

  // x where it is at least (at most) y or a NaN, y elsewhere.
  void Extreme(int s, uint8_t predicate) {
    const LoopStep& step = steps_[static_cast<size_t>(s)];
    const int x = In(step.operands[0]), y = In(step.operands[1]);
    const int mask = Take(), not_a_number = Take();
    Compare(mask, x, y, predicate);
    Compare(not_a_number, x, x, kUnordered);
    asm_.Vector(Packed(kOr), wide_, mask, mask, Place::Register(not_a_number));
    Give(mask);
    Give(not_a_number);
    const int result = Release(s);
    Blend(result, y, x, mask);
    Finish(s, result);
  }

  // The first NaN of low, x and high, if there is one; else x between them, `high` the stronger.
  void Clamp(int s) {
    const LoopStep& step = steps_[static_cast<size_t>(s)];
    const int low = In(step.operands[0]), x = In(step.operands[1]), high = In(step.operands[2]);
    const int mask = Take(), value = Take();
    Compare(mask, x, low, kIsLess);
    Blend(value, x, low, mask);
    Compare(mask, value, high, kIsLess);
    Blend(value, high, value, mask);
    Compare(mask, x, x, kUnordered);
    Blend(value, value, x, mask);
    Compare(mask, low, low, kUnordered);
    Give(mask);
    Give(value);
    const int result = Release(s);
    Blend(result, value, low, mask);
    Finish(s, result);
  }

  const bool doubles_;
  const std::span<const LoopStep> steps_;
  const LoopInterface& interface_;
  std::vector<Home> values_;
  x86::Assembler asm_;
  bool taken_[kVectorRegisters] = {};  // vector registers
  bool fits_ = true;
  bool wide_ = true;
};

}  // namespace

int LoopArity(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kSqrt:
    case ScalarFn::kNegate:
    case ScalarFn::kAbs:
      return 1;
    case ScalarFn::kAdd:
    case ScalarFn::kSubtract:
    case ScalarFn::kMultiply:
    case ScalarFn::kDivide:
    case ScalarFn::kMaximum:
    case ScalarFn::kMinimum:
    case ScalarFn::kCompare:
      return 2;
    case ScalarFn::kSelect:
    case ScalarFn::kClamp:
      return 3;
    default:
      return 0;
  }
}

std::vector<uint8_t> EmitLoop(ElementType type, std::span<const LoopStep> steps,
                              const LoopInterface& interface) {
  return LoopEmitter(type, steps, interface).Emit();
}

}  // namespace hv
