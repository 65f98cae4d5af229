#include "hlo/custom_call_definitions.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "hlo/parser.h"
#include "hlo/validator.h"

namespace hv {
namespace {

template <class T>
void SetList(Arena* arena, const std::vector<T>& list, Attribute* attribute) {
  const std::span<const T> copy = arena->Copy(list);
  attribute->data = copy.data();
  attribute->size = copy.size();
}

// Moves callees of an instruction `by` places in the module's list of computations.
void ShiftCallees(Arena* arena, ComputationIndex by, Instruction* instruction) {
  std::vector<Attribute> attributes(instruction->attributes.begin(), instruction->attributes.end());
  bool calls = false;
  for (Attribute& attribute : attributes) {
    if (Row(attribute.key).kind == AttrKind::kComputation) {
      attribute.integer += by;
    } else if (Row(attribute.key).kind == AttrKind::kComputations) {
      std::vector<ComputationIndex> callees;
      for (const auto c : instruction->List<ComputationIndex>(attribute.key)) {
        callees.push_back(c + by);
      }
      SetList(arena, callees, &attribute);
    } else {
      continue;
    }
    calls = true;
  }
  if (calls) instruction->attributes = arena->Copy(attributes);
}

// Copies computations of another module into this one's context. Lists and texts stay in the other
// context, which this one keeps alive; shapes are those of this one's table, places are unknown.
class Importer {
 public:
  explicit Importer(Module* module) : module_(module), context_(module->context.get()) {
    for (const Computation& c : module->computations) names_.insert(std::string(c.name));
  }

  // Position of the copy of `definition`'s ENTRY among the computations imported so far.
  ComputationIndex Import(const CustomCallDefinition& definition) {
    context_->linked.push_back(definition.module.context);
    const auto shift = static_cast<ComputationIndex>(imported_.size());
    for (const Computation& computation : definition.module.computations) {
      imported_.push_back(Copy(computation, definition.target, shift));
    }
    return definition.module.entry + shift;
  }

  // Puts the imported computations, which are callees, in front.
  void Finish() {
    const auto shift = static_cast<ComputationIndex>(imported_.size());
    for (Computation& computation : module_->computations) {
      for (Instruction& instruction : computation.instructions) {
        ShiftCallees(&context_->arena, shift, &instruction);
      }
      imported_.push_back(std::move(computation));
    }
    module_->computations = std::move(imported_);
    module_->entry += shift;
  }

 private:
  const Shape* Own(const Shape* shape) {
    Shape copy = *shape;
    std::vector<const Shape*> elements;
    for (const Shape* element : shape->elements) elements.push_back(Own(element));
    copy.elements = elements;
    return context_->shapes.Intern(copy);
  }

  const Literal* Own(const Literal& literal) {
    Literal copy = literal;
    copy.shape = Own(literal.shape);
    std::vector<const Literal*> elements;
    for (const Literal* element : literal.elements) elements.push_back(Own(*element));
    copy.elements = context_->arena.Copy(elements);
    return context_->arena.New<Literal>(copy);
  }

  void OwnAttribute(const Instruction& instruction, Attribute* attribute) {
    attribute->offset = Instruction::kNoOffset;
    switch (Row(attribute->key).kind) {
      case AttrKind::kShape:
        attribute->data = Own(instruction.Object<Shape>(attribute->key));
        return;
      case AttrKind::kShapes: {
        std::vector<const Shape*> shapes;
        for (const Shape* s : instruction.List<const Shape*>(attribute->key)) {
          shapes.push_back(Own(s));
        }
        return SetList(&context_->arena, shapes, attribute);
      }
      case AttrKind::kLiteral:
        attribute->data = Own(*instruction.Object<Literal>(attribute->key));
        return;
      default:
        return;
    }
  }

  Computation Copy(const Computation& original, const std::string& target, ComputationIndex shift) {
    Computation copy = original;
    copy.name = UniqueName(fmt::format("{}.{}", target, original.name));
    copy.offset = Instruction::kNoOffset;
    for (Instruction& instruction : copy.instructions) {
      instruction.offset = Instruction::kNoOffset;
      instruction.shape = Own(instruction.shape);
      if (instruction.literal != nullptr) instruction.literal = Own(*instruction.literal);
      std::vector<Attribute> attributes(instruction.attributes.begin(),
                                        instruction.attributes.end());
      for (Attribute& attribute : attributes) OwnAttribute(instruction, &attribute);
      instruction.attributes = context_->arena.Copy(attributes);
      ShiftCallees(&context_->arena, shift, &instruction);
    }
    return copy;
  }

  // HLO names have letters, digits, '_', '.' and '-'.
  std::string_view UniqueName(std::string base) {
    for (char& c : base) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
    }
    std::string name = base;
    for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}.{}", base, i);
    return context_->arena.CopyText(name);
  }

  Module* module_;
  ModuleContext* context_;
  std::set<std::string> names_;
  std::vector<Computation> imported_;
};

// Why `definition` cannot stand for `call`; empty if it can.
std::string Mismatch(const CustomCallDefinition& definition, const Computation& caller,
                     const Instruction& call) {
  const Computation& entry = definition.module.Entry();
  const std::string& file = definition.module.context->file;
  if (entry.parameters.size() != call.operands.size()) {
    return fmt::format("{} takes {} operands, not {}", file, entry.parameters.size(),
                       call.operands.size());
  }
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const Shape& given = *caller.At(call.operands[i]).shape;
    const Shape& taken = *entry.At(entry.parameters[i]).shape;
    if (SameShape(given, taken)) continue;
    return fmt::format("parameter {} of {} is {}, not {}", i, file, ToString(taken, false),
                       ToString(given, false));
  }
  if (SameShape(*call.shape, *entry.Root().shape)) return {};
  return fmt::format("the result of {} is {}, not {}", file, ToString(*entry.Root().shape, false),
                     ToString(*call.shape, false));
}

// Which definition stands for `call`; definitions.size() if its target has none.
Result<size_t> Choose(std::span<const CustomCallDefinition> definitions, const Module& module,
                      const Computation& caller, const Instruction& call) {
  std::string why;
  for (size_t d = 0; d < definitions.size(); ++d) {
    if (definitions[d].target != call.Text(Attr::kCustomCallTarget)) continue;
    const std::string mismatch = Mismatch(definitions[d], caller, call);
    if (mismatch.empty()) return d;
    if (why.empty()) why = mismatch;
  }
  if (why.empty()) return definitions.size();
  return Invalid("custom-call-definition", "custom-call: " + why, module.PlaceOf(call.offset));
}

// The call in place of a custom-call; what any instruction may carry is kept.
Instruction CallOf(Arena* arena, const Instruction& custom_call, ComputationIndex callee) {
  Instruction call = custom_call;
  call.opcode = Opcode::kCall;
  std::vector<Attribute> attributes(1);
  attributes[0].key = Attr::kToApply;
  attributes[0].offset = custom_call.offset;
  attributes[0].integer = callee;
  for (const Attribute& attribute : custom_call.attributes) {
    const bool common = attribute.key >= Attr::kSharding && attribute.key != Attr::kBackendConfig;
    if (common) attributes.push_back(attribute);
  }
  call.attributes = arena->Copy(attributes);
  return call;
}

}  // namespace

Result<std::vector<CustomCallDefinition>> ReadCustomCallDefinitions(
    std::span<const std::string> texts) {
  std::vector<CustomCallDefinition> definitions;
  for (const std::string& text : texts) {
    const size_t split = text.rfind('=');
    if (split == std::string::npos || split == 0 || split + 1 == text.size()) {
      return Invalid("custom-call-flag", "--custom-call: expected TARGET=module.hlo, got " + text);
    }
    HV_ASSIGN(Module module, ParseModuleFile(text.substr(split + 1)));
    HV_RETURN_IF_ERROR(Validate(module));
    definitions.push_back({text.substr(0, split), std::move(module)});
  }
  return definitions;
}

Status DefineCustomCalls(std::span<const CustomCallDefinition> definitions, Module* module) {
  struct Site {
    Instruction* place;
    Instruction call;
  };
  Importer importer(module);
  std::vector<ComputationIndex> entries(definitions.size(), -1);
  std::vector<Site> sites;
  for (Computation& computation : module->computations) {
    for (Instruction& instruction : computation.instructions) {
      if (instruction.opcode != Opcode::kCustomCall) continue;
      HV_ASSIGN(const size_t d, Choose(definitions, *module, computation, instruction));
      if (d == definitions.size()) continue;
      if (entries[d] < 0) entries[d] = importer.Import(definitions[d]);
      sites.push_back({&instruction, CallOf(&module->context->arena, instruction, entries[d])});
    }
  }
  if (sites.empty()) return {};
  importer.Finish();  // computations move as a whole: the places stay
  for (const Site& site : sites) *site.place = site.call;
  return {};
}

}  // namespace hv
