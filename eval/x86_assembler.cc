// Encodings of the few instructions, byte by byte.
#include "eval/x86_assembler.h"

#include <cstring>

namespace hv::x86 {
namespace {

constexpr int kRexWide = 0x48, kRexHighRegister = 0x04;

int Number(Gpr r) { return static_cast<int>(r); }
int Low(int number) { return number & 7; }
int High(int number) { return number >> 3 & 1; }
int ModRm(int mode, int r, int m) { return mode << 6 | Low(r) << 3 | Low(m); }

}  // namespace

void Assembler::Bytes(std::initializer_list<int> bytes) {
  for (const int byte : bytes) code_.push_back(static_cast<uint8_t>(byte));
}

void Assembler::Vector(Encoding opcode, bool wide, int destination, int first, Place second) {
  // The prefix holds the high bits of register numbers, and the first source, inverted.
  const int high = (High(destination) ^ 1) << 7 | 1 << 6 | (High(second.number) ^ 1) << 5;
  const int rest = (~first & 15) << 3 | (wide ? 1 : 0) << 2 | static_cast<int>(opcode.prefix);
  Bytes({0xC4, high | static_cast<int>(opcode.map), rest, opcode.code});
  if (second.is_memory) {
    constexpr int kWithByte = 1, kWithIndex = 4;  // of the mode: a displacement, a byte SIB follows
    Bytes(
        {ModRm(kWithByte, destination, kWithIndex), ModRm(0, Number(Gpr::kRdi), second.number), 0});
  } else {
    Bytes({ModRm(3, destination, second.number)});
  }
}

void Assembler::LoadPointer(Gpr destination, Gpr table, int index) {
  const int r = Number(destination);
  const int rex = kRexWide | (High(r) != 0 ? kRexHighRegister : 0);
  Bytes({rex, 0x8B, ModRm(1, r, Number(table)), index * static_cast<int>(sizeof(void*))});
}

void Assembler::Add(Gpr r, int8_t value) { Bytes({kRexWide, 0x83, ModRm(3, 0, Number(r)), value}); }

void Assembler::Compare(Gpr left, Gpr right) {
  Bytes({kRexWide, 0x39, ModRm(3, Number(right), Number(left))});
}

void Assembler::VectorsDone() { Bytes({0xC5, 0xF8, 0x77}); }

void Assembler::Return() { Bytes({0xC3}); }

void Assembler::Distance(size_t at, size_t target) {
  const auto distance = static_cast<int32_t>(static_cast<int64_t>(target) -
                                             static_cast<int64_t>(at + sizeof(int32_t)));
  std::memcpy(code_.data() + at, &distance, sizeof(distance));
}

size_t Assembler::JumpForward(Condition condition) {
  Bytes({0x0F, 0x80 | static_cast<int>(condition), 0, 0, 0, 0});
  return Here() - sizeof(int32_t);
}

void Assembler::JumpBack(Condition condition, size_t target) {
  Distance(JumpForward(condition), target);
}

void Assembler::Land(size_t jump) { Distance(jump, Here()); }

void Assembler::Align(size_t bytes) {
  constexpr int kNothing = 0x90;
  while (Here() % bytes != 0) Bytes({kNothing});
}

}  // namespace hv::x86
