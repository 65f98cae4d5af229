// Writes the few x86-64 instructions that compiled loops are made of: VEX-encoded arithmetic on
// vector registers and memory, and what moves pointers and counts. Source: Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 2, 2.3 (VEX prefix) and the opcode pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace hv::x86 {

// General registers by their numbers; those that a callee may change.
enum class Gpr : uint8_t { kRax = 0, kRcx = 1, kRdx = 2, kRsi = 6, kRdi = 7, kR8, kR9, kR10, kR11 };

// How an opcode is prefixed: its map and its mandatory prefix.
enum class Map : uint8_t { k0F = 1, k0F38 = 2, k0F3A = 3 };
enum class Prefix : uint8_t { kNone = 0, k66 = 1, kF3 = 2, kF2 = 3 };

struct Encoding {
  Map map;
  Prefix prefix;
  uint8_t code;
};

// A vector register, or memory at a base register plus rdi.
struct Place {
  static Place Register(int number) { return {false, static_cast<uint8_t>(number)}; }
  static Place Memory(Gpr base) { return {true, static_cast<uint8_t>(base)}; }

  bool is_memory;
  uint8_t number;
};

enum class Condition : uint8_t { kLess = 0xC, kGreaterOrEqual = 0xD, kLessOrEqual = 0xE };

class Assembler {
 public:
  static constexpr int kNoSource = 0;  // for instructions with one source

  // destination = first op second, on 32 bytes (`wide`) or 16; stores have both places swapped. The
  // instructions used here ignore VEX.W.
  void Vector(Encoding opcode, bool wide, int destination, int first, Place second);
  void Immediate(uint8_t byte) { code_.push_back(byte); }

  void LoadPointer(Gpr destination, Gpr table, int index);  // = table[index]
  void Add(Gpr r, int8_t value);
  void Compare(Gpr left, Gpr right);
  void VectorsDone();  // before code that knows half as wide vectors
  void Return();

  // Jumps name a place by what Here() said, or are aimed there when it is known.
  size_t Here() const { return code_.size(); }
  void JumpBack(Condition condition, size_t target);
  size_t JumpForward(Condition condition);
  void Land(size_t jump);  // here
  void Align(size_t bytes);

  const std::vector<uint8_t>& code() const { return code_; }

 private:
  void Bytes(std::initializer_list<int> bytes);
  void Distance(size_t at, size_t target);  // from behind the four bytes at `at`

  std::vector<uint8_t> code_;
};

}  // namespace hv::x86
