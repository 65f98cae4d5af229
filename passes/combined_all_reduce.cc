#include "passes/combined_all_reduce.h"

#include <algorithm>
#include <optional>
#include <set>

namespace hv {

void RedirectReaders(Computation* computation, InstructionIndex from, InstructionIndex to,
                     Arena* arena) {
  if (computation->root == from) computation->root = to;
  for (Instruction& user : computation->instructions) {
    if (std::ranges::find(user.operands, from) == user.operands.end()) continue;
    std::vector<InstructionIndex> operands(user.operands.begin(), user.operands.end());
    std::ranges::replace(operands, from, to);
    user.operands = arena->Copy(operands);
  }
}

namespace {

// The elements of the tuple that are read, or nothing if the whole tuple is.
std::optional<std::set<int64_t>> ElementsRead(const Computation& computation,
                                              InstructionIndex tuple) {
  if (computation.root == tuple) return std::nullopt;
  std::set<int64_t> read;
  for (const Instruction& user : computation.instructions) {
    if (std::ranges::find(user.ControlPredecessors(), tuple) != user.ControlPredecessors().end()) {
      return std::nullopt;
    }
    if (std::ranges::find(user.operands, tuple) == user.operands.end()) continue;
    if (user.opcode != Opcode::kGetTupleElement) return std::nullopt;
    read.insert(user.Int(Attr::kIndex, 0));
  }
  return read;
}

void SetIndex(Instruction* element, int64_t index, Arena* arena) {
  std::vector<Attribute> attributes(element->attributes.begin(), element->attributes.end());
  for (Attribute& a : attributes) {
    if (a.key == Attr::kIndex) a.integer = index;
  }
  element->attributes = arena->Copy(attributes);
}

void KeepOnly(Module* module, Computation* computation, InstructionIndex at,
              const std::set<int64_t>& read) {
  Arena& arena = module->context->arena;
  Instruction& all_reduce = computation->instructions[static_cast<size_t>(at)];
  std::vector<InstructionIndex> operands;
  std::vector<const Shape*> shapes;
  for (const int64_t element : read) {
    operands.push_back(all_reduce.operands[static_cast<size_t>(element)]);
    shapes.push_back(all_reduce.shape->elements[static_cast<size_t>(element)]);
  }
  all_reduce.operands = arena.Copy(operands);
  all_reduce.shape = shapes.size() == 1 ? shapes[0] : module->context->shapes.Tuple(shapes);
  for (size_t i = 0; i < computation->instructions.size(); ++i) {
    Instruction& user = computation->instructions[i];
    if (user.opcode != Opcode::kGetTupleElement || user.operands[0] != at) continue;
    if (shapes.size() == 1) {
      RedirectReaders(computation, static_cast<InstructionIndex>(i), at, &arena);
      continue;
    }
    const auto place = std::distance(read.begin(), read.find(user.Int(Attr::kIndex, 0)));
    SetIndex(&user, place, &arena);
  }
}

}  // namespace

void DropUnreadOperands(Module* module, std::string_view name) {
  for (Computation& computation : module->computations) {
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      if (instruction.name != name || !instruction.shape->IsTuple()) continue;
      const InstructionIndex at = static_cast<InstructionIndex>(i);
      const std::optional<std::set<int64_t>> read = ElementsRead(computation, at);
      if (!read || read->empty() || read->size() == instruction.operands.size()) continue;
      KeepOnly(module, &computation, at, *read);
    }
  }
  EliminateDeadCode(module);
}

}  // namespace hv
