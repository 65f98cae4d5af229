#include "passes/op_expander.h"

#include <fmt/format.h>

#include <algorithm>

namespace hv {
namespace {

constexpr std::string_view kInFusion =
    "Inside a fusion: passes see the instructions of non-fusion computations only.";

std::vector<bool> FusionComputations(const Module& module) {
  std::vector<bool> fused(module.computations.size());
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const ComputationIndex body = instruction.Computation(Attr::kCalls);
      if (instruction.opcode == Opcode::kFusion && body >= 0) {
        fused[static_cast<size_t>(body)] = true;
      }
    }
  }
  return fused;
}

void SetAttributes(Instruction* instruction, std::vector<Attribute> attributes, Arena* arena) {
  std::stable_sort(attributes.begin(), attributes.end(),
                   [](const Attribute& a, const Attribute& b) { return a.key < b.key; });
  instruction->attributes = arena->Copy(attributes);
}

void SetAttribute(Instruction* instruction, const Attribute& attribute, Arena* arena) {
  std::vector<Attribute> all(instruction->attributes.begin(), instruction->attributes.end());
  std::erase_if(all, [&](const Attribute& a) { return a.key == attribute.key; });
  all.push_back(attribute);
  SetAttributes(instruction, std::move(all), arena);
}

bool HasOpName(const Instruction& instruction) {
  return instruction.Text(Attr::kMetadata).find("op_name=\"") != std::string_view::npos;
}

// The trail: a replacement without an operation name takes the metadata of what it replaces, one
// without frontend attributes or sharding takes those.
void CarryAttributes(const Instruction& from, Instruction* to, Arena* arena) {
  const Attribute* metadata = from.Find(Attr::kMetadata);
  if (metadata != nullptr && HasOpName(from) && !HasOpName(*to)) {
    SetAttribute(to, *metadata, arena);
  }
  for (const Attr key : {Attr::kFrontendAttributes, Attr::kSharding}) {
    const Attribute* attribute = from.Find(key);
    if (attribute != nullptr && !to->Has(key)) SetAttribute(to, *attribute, arena);
  }
}

RewriteDecision DecisionFor(std::string_view pass, const Computation& computation,
                            const Instruction& instruction) {
  RewriteDecision decision;
  decision.pass = pass;
  decision.computation = computation.name;
  decision.instruction = instruction.name;
  decision.opcode = ToString(instruction.opcode);
  decision.offset = instruction.offset;
  return decision;
}

// One computation: match everything on the old one, then rebuild it.
class ComputationRun {
 public:
  ComputationRun(std::string_view pass, OpExpander* expander, const Module& old, UniqueNames* names,
                 PassResult* result, ComputationIndex index)
      : pass_(pass),
        expander_(expander),
        old_(old),
        result_(result),
        index_(index),
        rebuild_(&result->module, names, old.At(index).instructions.size()) {}

  void Match(bool in_fusion) {
    const Computation& computation = old_.At(index_);
    const std::vector<bool> under_control = UnderControl(computation);
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      if (!expander_->IsCandidate(instruction)) continue;
      std::optional<std::string> why_not;
      if (in_fusion) {
        why_not = kInFusion;
      } else {
        why_not = expander_->WhyNot(SiteOf(static_cast<InstructionIndex>(i)));
        if (!why_not && under_control[i]) why_not = kHasControlDependencies;
      }
      RewriteDecision decision = DecisionFor(pass_, computation, instruction);
      decision.fired = !why_not;
      decision.reason = why_not.value_or("");
      if (decision.fired)
        matches_.emplace_back(static_cast<InstructionIndex>(i), decisions_.size());
      decisions_.push_back(std::move(decision));
    }
  }

  bool matched() const { return !matches_.empty(); }

  Status Rewrite() {
    const Computation& old = old_.At(index_);
    size_t next = 0;
    for (size_t i = 0; i < old.instructions.size(); ++i) {
      const InstructionIndex at = static_cast<InstructionIndex>(i);
      if (next < matches_.size() && matches_[next].first == at) {
        HV_RETURN_IF_ERROR(Replace(at, &decisions_[matches_[next++].second]));
      } else {
        rebuild_.Keep(old.instructions[i], at);
      }
    }
    Computation& now = result_->module.computations[static_cast<size_t>(index_)];
    now.instructions = rebuild_.TakeInstructions();
    now.root = rebuild_.Mapped(old.root);
    for (InstructionIndex& parameter : now.parameters) parameter = rebuild_.Mapped(parameter);
    for (Instruction& instruction : now.instructions) MapControlPredecessors(&instruction);
    return {};
  }

  void PublishDecisions() {
    std::move(decisions_.begin(), decisions_.end(), std::back_inserter(result_->decisions));
  }

 private:
  Site SiteOf(InstructionIndex i) const { return {old_, index_, i}; }

  Status Replace(InstructionIndex at, RewriteDecision* decision) {
    const Instruction& old = old_.At(index_).At(at);
    rebuild_.SetOrigin(old.offset);
    HV_ASSIGN(const InstructionIndex now, expander_->Expand(SiteOf(at), &rebuild_));
    Instruction& replacement = rebuild_.At(now);
    if (!SameShape(*old.shape, *replacement.shape)) {
      Diagnostic diagnostic =
          MakeDiagnostic(old_, old.offset, "pass-replacement-shape",
                         fmt::format("pass {} replaces {} '{}' of shape {} by '{}' of shape {}",
                                     pass_, ToString(old.opcode), old.name, ToString(*old.shape),
                                     replacement.name, ToString(*replacement.shape)));
      return tl::make_unexpected(Error{ErrorKind::kInvalid, {std::move(diagnostic)}});
    }
    CarryAttributes(old, &replacement, &result_->module.context->arena);
    decision->replacement = replacement.name;
    decision->reason = expander_->Describe(replacement);
    rebuild_.Map(at, now);
    return {};
  }

  void MapControlPredecessors(Instruction* instruction) {
    const Attribute* attribute = instruction->Find(Attr::kControlPredecessors);
    if (attribute == nullptr) return;
    std::vector<InstructionIndex> mapped;
    for (const InstructionIndex old : instruction->ControlPredecessors()) {
      mapped.push_back(rebuild_.Mapped(old));
    }
    Arena& arena = result_->module.context->arena;
    Attribute changed = *attribute;
    changed.data = arena.Copy(mapped).data();
    SetAttribute(instruction, changed, &arena);
  }

  std::string_view pass_;
  OpExpander* expander_;
  const Module& old_;
  PassResult* result_;
  ComputationIndex index_;
  Rebuild rebuild_;
  std::vector<RewriteDecision> decisions_;
  std::vector<std::pair<InstructionIndex, size_t>> matches_;  // and the number of its decision
};

}  // namespace

std::vector<bool> UnderControl(const Computation& computation) {
  std::vector<bool> under(computation.instructions.size());
  for (size_t i = 0; i < under.size(); ++i) {
    for (const InstructionIndex before : computation.instructions[i].ControlPredecessors()) {
      under[i] = under[static_cast<size_t>(before)] = true;
    }
  }
  return under;
}

UniqueNames::UniqueNames(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      taken_.insert(instruction.name);
    }
  }
}

std::string_view UniqueNames::Make(std::string_view base, Arena* arena) {
  if (taken_.count(base) == 0) return *taken_.insert(arena->CopyText(base)).first;
  const size_t dot = base.rfind('.');
  if (dot != std::string_view::npos && dot > 0 &&
      base.find_first_not_of("0123456789", dot + 1) == std::string_view::npos) {
    base = base.substr(0, dot);
  }
  for (int64_t n = 1;; ++n) {
    const std::string name = fmt::format("{}.{}", base, n);
    if (taken_.count(name) == 0) return *taken_.insert(arena->CopyText(name)).first;
  }
}

InstructionIndex Rebuild::Add(Instruction instruction) {
  const std::string_view base =
      instruction.name.empty() ? ToString(instruction.opcode) : instruction.name;
  instruction.name = names_->Make(base, &module_->context->arena);
  instruction.offset = origin_;
  instructions_.push_back(instruction);
  return static_cast<InstructionIndex>(instructions_.size() - 1);
}

InstructionIndex Rebuild::AddLike(const Instruction& old,
                                  std::span<const InstructionIndex> operands, const Shape* shape) {
  Arena& arena = module_->context->arena;
  Instruction copy = old;
  copy.operands = arena.Copy(operands);
  copy.shape = shape;
  std::vector<Attribute> attributes(old.attributes.begin(), old.attributes.end());
  std::erase_if(attributes, [](const Attribute& a) {
    return a.key == Attr::kControlPredecessors || a.key == Attr::kSharding;
  });
  SetAttributes(&copy, std::move(attributes), &arena);
  return Add(copy);
}

void Rebuild::Keep(const Instruction& old, InstructionIndex old_index) {
  Instruction copy = old;
  std::vector<InstructionIndex> operands;
  for (const InstructionIndex operand : old.operands) operands.push_back(Mapped(operand));
  if (!std::equal(operands.begin(), operands.end(), old.operands.begin())) {
    copy.operands = module_->context->arena.Copy(operands);
  }
  instructions_.push_back(copy);
  Map(old_index, static_cast<InstructionIndex>(instructions_.size() - 1));
}

std::string OpExpander::Describe(const Instruction& replacement) const {
  return fmt::format("replaced by {} {}", ToString(replacement.opcode), replacement.name);
}

Result<PassResult> RunExpander(std::string_view pass, OpExpander* expander, const Module& module) {
  PassResult result{module, false, {}};
  UniqueNames names(module);
  const std::vector<bool> fused = FusionComputations(module);
  std::vector<ComputationRun> runs;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    runs.emplace_back(pass, expander, module, &names, &result, static_cast<ComputationIndex>(c));
    runs.back().Match(fused[c]);
  }
  for (ComputationRun& run : runs) {
    if (run.matched()) {
      HV_RETURN_IF_ERROR(run.Rewrite());
      result.changed = true;
    }
    run.PublishDecisions();
  }
  if (result.changed) {
    EliminateDeadCode(&result.module);
    expander->Finish(&result.module, result.decisions);
  }
  return result;
}

}  // namespace hv
