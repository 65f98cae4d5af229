// Hashes attributes by value kind and called computations instruction by instruction.
#include "eval/op_hash.h"

#include <cstring>

#include "eval/keyed_hash.h"
#include "hlo/op.h"

namespace hv {
namespace {

void AddComputation(const Module& module, ComputationIndex index, KeyedHash* hash);

void AddShape(const Shape& shape, KeyedHash* hash) {
  hash->Add(static_cast<uint64_t>(shape.type));
  for (const int64_t d : shape.dims) hash->Add(static_cast<uint64_t>(d));
  for (const Shape* element : shape.elements) AddShape(*element, hash);
  hash->Add(shape.elements.size());
}

void AddLiteral(const Literal& literal, KeyedHash* hash) {
  AddShape(*literal.shape, hash);
  hash->Add(literal.elided ? 1 : 0);
  hash->Add({reinterpret_cast<const char*>(literal.bytes.data()), literal.bytes.size()});
  for (const Literal* element : literal.elements) AddLiteral(*element, hash);
}

void AddWindow(std::span<const WindowDim> window, KeyedHash* hash) {
  for (const WindowDim& w : window) {
    for (const int64_t field : {w.size, w.stride, w.low, w.high, w.base_dilation, w.window_dilation,
                                static_cast<int64_t>(w.reversed)}) {
      hash->Add(static_cast<uint64_t>(field));
    }
  }
}

template <class T>
std::span<const T> ListOf(const Attribute& a) {
  return {static_cast<const T*>(a.data), static_cast<size_t>(a.size)};
}

void AddAttribute(const Module& module, const Attribute& a, KeyedHash* hash) {
  hash->Add(static_cast<uint64_t>(a.key));
  switch (Row(a.key).kind) {
    case AttrKind::kBool:
    case AttrKind::kInt:
      hash->Add(static_cast<uint64_t>(a.integer));
      return;
    case AttrKind::kReal: {
      uint64_t bits = 0;
      std::memcpy(&bits, &a.real, sizeof(bits));
      hash->Add(bits);
      return;
    }
    case AttrKind::kInts:
      for (const int64_t v : ListOf<int64_t>(a)) hash->Add(static_cast<uint64_t>(v));
      return;
    case AttrKind::kIntLists:
      for (const auto list : ListOf<std::span<const int64_t>>(a)) {
        for (const int64_t v : list) hash->Add(static_cast<uint64_t>(v));
        hash->Add(list.size());
      }
      return;
    case AttrKind::kWindow:
      return AddWindow(ListOf<WindowDim>(a), hash);
    case AttrKind::kDimLabels:
      hash->Add(static_cast<const ConvDims*>(a.data)->text);
      return;
    case AttrKind::kShape:
      return AddShape(*static_cast<const Shape*>(a.data), hash);
    case AttrKind::kLiteral:
      return AddLiteral(*static_cast<const Literal*>(a.data), hash);
    case AttrKind::kComputation:
      return AddComputation(module, static_cast<ComputationIndex>(a.integer), hash);
    case AttrKind::kComputations:
      for (const ComputationIndex c : ListOf<ComputationIndex>(a)) AddComputation(module, c, hash);
      return;
    default:
      hash->Add(a.text);
  }
}

void AddInstruction(const Module& module, const Instruction& instruction, KeyedHash* hash) {
  hash->Add(ToString(instruction.opcode));
  for (const AttrSpec& spec : Definition(instruction).attributes) {
    const Attribute* a = instruction.Find(spec.key);
    if (a != nullptr) AddAttribute(module, *a, hash);
  }
  if (instruction.opcode == Opcode::kCustomCall) {
    hash->Add(instruction.Text(Attr::kBackendConfig));  // its parameters, as far as anyone knows
  }
  if (instruction.literal != nullptr) AddLiteral(*instruction.literal, hash);
  // What is left out is known by its name.
  if (instruction.literal != nullptr && instruction.literal->elided) hash->Add(instruction.name);
  hash->Add(static_cast<uint64_t>(instruction.parameter_number));
  AddShape(*instruction.shape, hash);
}

void AddComputation(const Module& module, ComputationIndex index, KeyedHash* hash) {
  const Computation& computation = module.At(index);
  for (const Instruction& instruction : computation.instructions) {
    AddInstruction(module, instruction, hash);
    for (const InstructionIndex o : instruction.operands) hash->Add(static_cast<uint64_t>(o));
  }
  hash->Add(static_cast<uint64_t>(computation.root));
}

}  // namespace

uint64_t HashOfOp(const Module& module, const Instruction& instruction) {
  KeyedHash hash(0);
  AddInstruction(module, instruction, &hash);
  return hash.First();
}

}  // namespace hv
