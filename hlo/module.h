// An HLO module in memory: computations of instructions in text order, addressed by index. Texts,
// operand lists, attributes and literals live in the arena of the ModuleContext, which a module and
// its rewritten copies share; copying a Module copies the instruction records only.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/result.h"
#include "hlo/attribute.h"
#include "hlo/opcode.h"

namespace hv {

// What a module's records point into. Grows, never shrinks.
struct ModuleContext {
  std::string file;    // where the text came from, for diagnostics
  std::string text;    // the source, kept alive: names and raw texts point into it
  Arena arena;
  ShapeTable shapes;
  // Of modules whose computations were copied into one of this context: their texts and lists.
  std::vector<std::shared_ptr<const ModuleContext>> linked;
};

struct Instruction {
  std::string_view name;  // without '%'
  Opcode opcode = Opcode::kParameter;
  const Shape* shape = nullptr;
  std::span<const InstructionIndex> operands;  // all smaller than the own index
  std::span<const Attribute> attributes;
  const Literal* literal = nullptr;   // constant
  int64_t parameter_number = -1;      // parameter
  uint32_t offset = 0;                // of the name in the text; from a pass: of what it replaces

  static constexpr uint32_t kNoOffset = UINT32_MAX;

  const Attribute* Find(Attr key) const {
    for (const Attribute& a : attributes) {
      if (a.key == key) return &a;
    }
    return nullptr;
  }
  bool Has(Attr key) const { return Find(key) != nullptr; }
  bool Bool(Attr key) const { return Int(key, 0) != 0; }  // absent: false
  int64_t Int(Attr key, int64_t absent) const {
    const Attribute* a = Find(key);
    return a == nullptr ? absent : a->integer;
  }
  std::string_view Text(Attr key, std::string_view absent = {}) const {
    const Attribute* a = Find(key);
    return a == nullptr ? absent : a->text;
  }
  // The list stored under `key` (int64_t for kInts, SliceDim, PaddingDim, WindowDim, SourceTarget,
  // DictionaryEntry, ComputationIndex, InstructionIndex, std::span<const int64_t> for kIntLists,
  // bool for kBools, const Shape* for kShapes, std::string_view for kWordsAnyCase); empty if absent.
  template <class T>
  std::span<const T> List(Attr key) const {
    const Attribute* a = Find(key);
    if (a == nullptr) return {};
    return {static_cast<const T*>(a->data), static_cast<size_t>(a->size)};
  }
  std::span<const int64_t> Ints(Attr key) const { return List<int64_t>(key); }
  // The object stored under `key` (DeviceList, ConvDims, Shape, Literal); null if absent.
  template <class T>
  const T* Object(Attr key) const {
    const Attribute* a = Find(key);
    return a == nullptr ? nullptr : static_cast<const T*>(a->data);
  }
  ComputationIndex Computation(Attr key) const {
    return static_cast<ComputationIndex>(Int(key, -1));
  }
  std::span<const InstructionIndex> ControlPredecessors() const {
    return List<InstructionIndex>(Attr::kControlPredecessors);
  }
};

struct Computation {
  std::string_view name;
  std::vector<Instruction> instructions;     // topological: operands first
  std::vector<InstructionIndex> parameters;  // by parameter number
  InstructionIndex root = -1;
  std::string_view execution_thread;         // empty: main
  uint32_t offset = 0;                       // of the name in the text

  const Instruction& Root() const { return instructions[static_cast<size_t>(root)]; }
  const Instruction& At(InstructionIndex i) const { return instructions[static_cast<size_t>(i)]; }
};

// A header attribute this project does not interpret, kept as written ("buffer_donor", "{ (0, {}) }").
struct HeaderAttribute {
  std::string_view key;
  std::string_view value;
};

struct Module {
  std::shared_ptr<ModuleContext> context;
  std::string_view name;
  std::vector<Computation> computations;  // callees before callers
  ComputationIndex entry = -1;
  bool is_scheduled = false;
  std::optional<int64_t> replica_count;   // as stated in the header
  std::optional<int64_t> num_partitions;
  std::vector<HeaderAttribute> header;    // the others, in the order written
  // entry_computation_layout, if the header states it (also kept in `header` as written).
  std::vector<const Shape*> entry_parameter_layouts;
  const Shape* entry_result_layout = nullptr;
  std::string_view stack_frames;          // the FileNames .. StackFrames tables, as written

  const Computation& Entry() const { return computations[static_cast<size_t>(entry)]; }
  const Computation& At(ComputationIndex i) const { return computations[static_cast<size_t>(i)]; }
  int64_t replicas() const { return replica_count.value_or(1); }
  int64_t partitions() const { return num_partitions.value_or(1); }
  // Place of an instruction or attribute for a diagnostic; unknown for kNoOffset.
  SourcePlace PlaceOf(uint32_t offset) const;
};

// A diagnostic about `offset` of the module's text, with source line; kInvalid.
Diagnostic MakeDiagnostic(const Module& module, uint32_t offset, std::string id,
                          std::string message);

// Computations that `instruction` calls, in attribute order.
std::vector<ComputationIndex> CalledComputations(const Instruction& instruction);

// Indices of the users of every instruction of `computation`, ascending and unique.
std::vector<std::vector<InstructionIndex>> Users(const Computation& computation);

// Builds instructions outside the parser (passes, tests): copies lists into the module's arena.
class InstructionBuilder {
 public:
  InstructionBuilder(Module* module, Opcode opcode, const Shape* shape);
  InstructionBuilder& Name(std::string_view name);
  InstructionBuilder& Operands(std::span<const InstructionIndex> operands);
  InstructionBuilder& Copy(const Instruction& from, Attr key);  // nothing if `from` has none
  InstructionBuilder& SetInt(Attr key, int64_t value);           // also bools and computations
  InstructionBuilder& SetInts(Attr key, std::span<const int64_t> values);
  Instruction Build();

 private:
  void Put(Attribute attribute);  // replaces one of the same key

  Module* module_;
  Instruction instruction_;
  std::vector<Attribute> attributes_;
};

// Largest channel_id of any instruction plus one, at least 1 (hlo_query::NextChannelId).
int64_t NextChannelId(const Module& module);

// Drops instructions that nothing needs (no path to the root, no side effect of their own or of what
// they call) and computations that nothing calls; keeps the order of the rest and renumbers. Parameters
// stay. Control edges through what is dropped become edges between what is left.
void EliminateDeadCode(Module* module);

}  // namespace hv
