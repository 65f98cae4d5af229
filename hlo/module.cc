// Small queries on modules, and the builder of instructions.
#include "hlo/module.h"

#include <algorithm>

#include "hlo/attribute_rules.h"

namespace hv {

SourcePlace Module::PlaceOf(uint32_t offset) const {
  if (offset == Instruction::kNoOffset) return {context->file, 0, 0};
  return PlaceAt(context->file, context->text, offset);
}

Diagnostic MakeDiagnostic(const Module& module, uint32_t offset, std::string id,
                          std::string message) {
  Diagnostic diagnostic;
  diagnostic.id = std::move(id);
  diagnostic.message = std::move(message);
  diagnostic.place = module.PlaceOf(offset);
  if (diagnostic.place.line > 0) {
    diagnostic.source_line = SourceLineAt(module.context->text, offset);
  }
  return diagnostic;
}

std::vector<ComputationIndex> CalledComputations(const Instruction& instruction) {
  std::vector<ComputationIndex> called;
  for (const Attribute& attribute : instruction.attributes) {
    if (Row(attribute.key).kind == AttrKind::kComputation) {
      called.push_back(static_cast<ComputationIndex>(attribute.integer));
    } else if (Row(attribute.key).kind == AttrKind::kComputations) {
      const auto list = instruction.List<ComputationIndex>(attribute.key);
      called.insert(called.end(), list.begin(), list.end());
    }
  }
  return called;
}

std::vector<std::vector<InstructionIndex>> Users(const Computation& computation) {
  std::vector<std::vector<InstructionIndex>> users(computation.instructions.size());
  for (size_t i = 0; i < users.size(); ++i) {
    for (InstructionIndex operand : computation.instructions[i].operands) {
      auto& list = users[static_cast<size_t>(operand)];
      if (list.empty() || list.back() != static_cast<InstructionIndex>(i)) {
        list.push_back(static_cast<InstructionIndex>(i));
      }
    }
  }
  return users;
}

InstructionBuilder::InstructionBuilder(Module* module, Opcode opcode, const Shape* shape)
    : module_(module) {
  instruction_.opcode = opcode;
  instruction_.shape = shape;
  instruction_.offset = Instruction::kNoOffset;
}

InstructionBuilder& InstructionBuilder::Name(std::string_view name) {
  instruction_.name = module_->context->arena.CopyText(name);
  return *this;
}

InstructionBuilder& InstructionBuilder::Operands(std::span<const InstructionIndex> operands) {
  instruction_.operands = module_->context->arena.Copy(operands);
  return *this;
}

void InstructionBuilder::Put(Attribute attribute) {
  for (Attribute& known : attributes_) {
    if (known.key == attribute.key) return void(known = attribute);
  }
  attributes_.push_back(attribute);
}

InstructionBuilder& InstructionBuilder::Copy(const Instruction& from, Attr key) {
  if (const Attribute* attribute = from.Find(key)) Put(*attribute);
  return *this;
}

InstructionBuilder& InstructionBuilder::SetInt(Attr key, int64_t value) {
  Attribute attribute;
  attribute.key = key;
  attribute.offset = Instruction::kNoOffset;
  attribute.integer = value;
  Put(attribute);
  return *this;
}

InstructionBuilder& InstructionBuilder::SetInts(Attr key, std::span<const int64_t> values) {
  Attribute attribute;
  attribute.key = key;
  attribute.offset = Instruction::kNoOffset;
  const auto copy = module_->context->arena.Copy(values);
  attribute.data = copy.data();
  attribute.size = copy.size();
  Put(attribute);
  return *this;
}

Instruction InstructionBuilder::Build() {
  Canonicalize(&attributes_, 0);
  instruction_.attributes = module_->context->arena.Copy(attributes_);
  return instruction_;
}

int64_t NextChannelId(const Module& module) {
  int64_t largest = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      largest = std::max(largest, instruction.Int(Attr::kChannelId, 0));
    }
  }
  return largest + 1;
}

}  // namespace hv
