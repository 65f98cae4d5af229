#include "verify/loop_induction.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/cost.h"
#include "sim/plan.h"
#include "verify/loop_alignment.h"
#include "verify/loop_messages.h"
#include "verify/prover_precision.h"

namespace hv {
namespace {

constexpr int64_t kMostRunTrips = 64;

// A computation of one module and its arguments.
struct LoopPart {
  LoopParts* parts = nullptr;
  ComputationIndex computation = -1;
  LoopState arguments;
};
using PartPair = std::array<LoopPart, 2>;

// The loops of both in pairs; where one has more, those that turn least are left to be run.
std::vector<std::array<InstructionIndex, 2>> LoopPairs(const PartPair& part) {
  std::array<std::vector<InstructionIndex>, 2> loops;
  for (size_t side = 0; side < 2; ++side) {
    loops[side] = part[side].parts->LoopsOf(part[side].computation);
  }
  while (loops[0].size() != loops[1].size()) {
    const size_t side = loops[0].size() > loops[1].size() ? 0 : 1;
    const Module& module = part[side].parts->module();
    const Computation& computation = module.At(part[side].computation);
    const auto trips = [&](InstructionIndex loop) {
      const int64_t count = TripCountOf(module, computation, computation.At(loop));
      return count < 0 ? kMostRunTrips + 1 : count;
    };
    const auto least =
        std::min_element(loops[side].begin(), loops[side].end(),
                         [&](auto a, auto b) { return trips(a) < trips(b); });
    if (trips(*least) > kMostRunTrips) return {};
    loops[side].erase(least);
  }
  std::vector<std::array<InstructionIndex, 2>> pairs;
  for (size_t i = 0; i < loops[0].size(); ++i) pairs.push_back({loops[0][i], loops[1][i]});
  return pairs;
}

class Induction {
 public:
  Induction(Strictness strictness, const Module& before, const Module& after, const Mesh& mesh,
            const ProofOptions& options, const std::vector<KnownFold>& folds)
      : folds_(folds),
        domain_(strictness, options.most_pieces),
        parts_{LoopParts(&domain_, before, mesh, options, "before"),
               LoopParts(&domain_, after, mesh, options, "after")} {
    domain_.algebra().LimitWork(options.most_terms);
  }

  bool Prove() {
    PartPair entries;
    for (size_t side = 0; side < 2; ++side) {
      LoopParts& parts = parts_[side];
      entries[side] = {&parts, parts.module().entry, parts.EntryArguments()};
    }
    const auto outputs = Run(entries);
    if (!outputs || pairs_ == 0) return false;
    for (size_t k = 0; k < (*outputs)[0].size(); ++k) {
      if (!Same(&domain_, (*outputs)[0][k], (*outputs)[1][k])) return false;
    }
    return true;
  }

  // Does every loop that was not run turn a number of times that is known?
  bool ends() const { return ends_; }

 private:
  // What both parts yield, their loops being known by what relates them, or run.
  std::optional<BothStates> Run(const PartPair& part) {
    std::array<LoopResults, 2> results;
    for (const auto& loops : LoopPairs(part)) {
      std::vector<LoopForms> forms;
      forms.reserve(2);
      const std::string scope = "loops " + std::to_string(++pairs_);
      for (size_t side = 0; side < 2; ++side) {
        auto first = part[side].parts->StateEntering(loops[side], part[side].computation,
                                                     part[side].arguments, results[side]);
        if (!first) return std::nullopt;
        forms.emplace_back(part[side].parts, part[side].computation, loops[side],
                           std::move(*first), scope + ", " + part[side].parts->name());
        if (!forms.back().Find()) return std::nullopt;
      }
      auto left = Leave({&forms[0], &forms[1]}, scope);
      for (size_t side = 0; side < 2 && left; ++side) {
        results[side].emplace(loops[side], std::move((*left)[side]));
      }
    }
    BothStates outputs;
    for (size_t side = 0; side < 2; ++side) {
      auto yields = part[side].parts->Run(part[side].computation, part[side].arguments,
                                          results[side]);
      if (!yields) return std::nullopt;
      outputs[side] = std::move(*yields);
    }
    return outputs;
  }

  // The states in which two loops are left; either may be the one that the other is aligned to. An
  // alignment that leaves part of the state without a relation is the last resort.
  std::optional<BothStates> Leave(const std::array<LoopForms*, 2>& loops,
                                  const std::string& scope) {
    const std::optional<int64_t> trips[] = {loops[0]->Trips(), loops[1]->Trips()};
    std::optional<BothStates> best;
    size_t least = SIZE_MAX;
    int64_t tried = 0;
    for (const bool all_related : {true, false}) {
      for (const size_t reference : {size_t{0}, size_t{1}}) {
        LoopForms* first = loops[reference];
        LoopForms* second = loops[1 - reference];
        const StepBoth step = [&](const BothStates& states) {
          return Run({LoopPart{&first->parts(), first->body(), states[0]},
                      LoopPart{&second->parts(), second->body(), states[1]}});
        };
        for (const Alignment& alignment : AlignmentsOf(trips[reference], trips[1 - reference])) {
          AlignedLoops aligned(first, second, alignment, trips[1 - reference], folds_, step,
                               scope + ", alignment " + std::to_string(++tried));
          auto left = aligned.Prove(all_related);
          if (!left || aligned.unrelated() >= least) continue;
          least = aligned.unrelated();
          if (reference == 1) std::swap((*left)[0], (*left)[1]);
          best = std::move(left);
          if (all_related) break;
        }
        if (best && all_related) break;
      }
      if (best) break;
    }
    if (best) ends_ = ends_ && trips[0].has_value();
    return best;
  }

  const std::vector<KnownFold>& folds_;
  SymbolicDomain domain_;
  std::array<LoopParts, 2> parts_;
  int64_t pairs_ = 0;
  bool ends_ = true;
};

bool HasLoop(const Module& module) {
  const std::vector<Instruction>& all = module.Entry().instructions;
  return std::any_of(all.begin(), all.end(),
                     [](const Instruction& i) { return i.opcode == Opcode::kWhile; });
}

}  // namespace

std::optional<ProofResult> ProveByInduction(const Module& before, const Module& after,
                                            const Mesh& mesh, const ProofOptions& options) {
  std::vector<KnownFold> folds;
  std::vector<ModulePlan> plans;  // own the groups
  for (const Module* module : {&before, &after}) {
    if (!HasLoop(*module)) return std::nullopt;
    Result<ModulePlan> plan = MakePlan(*module, mesh);
    if (!plan || !MessagesStayApart(*module, *plan)) return std::nullopt;
    plans.push_back(std::move(*plan));
    const std::vector<KnownFold> more = FoldsOf(*module, plans.back());
    folds.insert(folds.end(), more.begin(), more.end());
  }
  constexpr std::pair<Strictness, ProofLevel> kLevels[] = {
      {Strictness::kBitwise, ProofLevel::kBitwise},
      {Strictness::kReassociation, ProofLevel::kReassociation},
      {Strictness::kNestedSums, ProofLevel::kReassociation},
      {Strictness::kReal, ProofLevel::kReal}};
  for (const auto& [strictness, level] : kLevels) {
    Induction induction(strictness, before, after, mesh, options, folds);
    if (!induction.Prove()) continue;
    ProofResult result;
    result.outcome = ProofOutcome::kProved;
    result.level = level;
    result.by_induction = true;
    result.assumes_end = !induction.ends();
    if (level == ProofLevel::kReal) result.precision = PrecisionChange(before, after);
    if (strictness == Strictness::kNestedSums) result.sub_class = "nested sums";
    return result;
  }
  return std::nullopt;
}

}  // namespace hv
