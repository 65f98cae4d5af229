// The driver of all passes, after XLA's OpExpanderPass: a pass says which instructions are
// candidates, whether one matches, and what replaces it. The driver matches on the module as it was
// (a snapshot), rebuilds the computations with the replacements, carries names, metadata, shardings
// and frontend attributes along, drops dead code, and keeps a decision with its reason for every
// candidate. Source: op_expander_pass.cc; HloComputation::ReplaceInstruction in hlo_computation.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"

namespace hv {

// What a pass decided about one candidate.
struct RewriteDecision {
  std::string pass;
  std::string computation;
  std::string instruction;
  std::string opcode;
  bool fired = false;
  std::string reason;       // fired: what now stands in its place; otherwise why not
  std::string replacement;  // name of the instruction that took its place, if fired
  uint32_t offset = Instruction::kNoOffset;  // of the candidate in the module's text
};

struct PassResult {
  Module module;
  bool changed = false;
  std::vector<RewriteDecision> decisions;
};

// An instruction of the unchanged module, as matchers see it.
struct Site {
  const Module& module;
  ComputationIndex computation_index;
  InstructionIndex index;

  const Computation& computation() const { return module.At(computation_index); }
  const Instruction& instruction() const { return computation().At(index); }
  const Instruction& At(InstructionIndex i) const { return computation().At(i); }
  InstructionIndex OperandIndex(size_t i) const { return instruction().operands[i]; }
  const Instruction& Operand(size_t i) const { return At(OperandIndex(i)); }
};

// By instruction: does it have control predecessors or successors?
std::vector<bool> UnderControl(const Computation& computation);

// Instruction names of a module; makes new ones as XLA does: "add", "add.1", "add.2", ...
class UniqueNames {
 public:
  explicit UniqueNames(const Module& module);
  std::string_view Make(std::string_view base, Arena* arena);

 private:
  std::unordered_set<std::string_view> taken_;
};

// The new version of one computation while it grows. Instructions are appended in order, operands
// first; old instructions are known by their old index through Mapped().
class Rebuild {
 public:
  Rebuild(Module* module, UniqueNames* names, size_t old_count)
      : module_(module), names_(names), map_(old_count, -1) {}

  Module& module() { return *module_; }
  // Where the old instruction, or what replaced it, now stands.
  InstructionIndex Mapped(InstructionIndex old) const { return map_[static_cast<size_t>(old)]; }
  void Map(InstructionIndex old, InstructionIndex now) { map_[static_cast<size_t>(old)] = now; }
  Instruction& At(InstructionIndex now) { return instructions_[static_cast<size_t>(now)]; }
  // The place in the text that new instructions have for diagnostics: that of what they replace.
  void SetOrigin(uint32_t offset) { origin_ = offset; }
  // Appends `instruction`, whose operands are new indices, under a fresh name made of its own (or
  // of its opcode if it has none).
  InstructionIndex Add(Instruction instruction);
  // Appends a copy of an old instruction with other operands (new indices) and another shape. It
  // loses what belongs to the place of the old one: name, control predecessors, sharding.
  InstructionIndex AddLike(const Instruction& old, std::span<const InstructionIndex> operands,
                           const Shape* shape);
  // Appends the old instruction itself, operands mapped.
  void Keep(const Instruction& old, InstructionIndex old_index);

  std::vector<Instruction> TakeInstructions() { return std::move(instructions_); }

 private:
  Module* module_;
  UniqueNames* names_;
  uint32_t origin_ = Instruction::kNoOffset;
  std::vector<InstructionIndex> map_;
  std::vector<Instruction> instructions_;
};

// Why an instruction that matches all the same is left alone.
inline constexpr std::string_view kHasControlDependencies =
    "Has control dependencies: a replacement would lose them.";

class OpExpander {
 public:
  virtual ~OpExpander() = default;
  virtual bool IsCandidate(const Instruction& instruction) const = 0;
  // Nothing if the pattern matches, otherwise why not.
  virtual std::optional<std::string> WhyNot(const Site& site) = 0;
  // Builds what replaces a matching instruction; returns its new index.
  virtual Result<InstructionIndex> Expand(const Site& site, Rebuild* rebuild) = 0;
  // What `replacement` means, for the decision of a match that fired.
  virtual std::string Describe(const Instruction& replacement) const;
  // A last look at the result, after dead code is gone; `decisions` are those of this run.
  virtual void Finish(Module* /*module*/, const std::vector<RewriteDecision>& /*decisions*/) {}
};

// Runs `expander` over every non-fusion computation of `module`, which stays as it is. A
// replacement of another shape is an error, as in XLA; otherwise the caller validates the result.
Result<PassResult> RunExpander(std::string_view pass, OpExpander* expander, const Module& module);

}  // namespace hv
