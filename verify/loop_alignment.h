// Two loops of which one is the other rewritten: so many iterations of the first (the reference) go
// to one of the second, some are made ahead of the second loop and some behind it. Relational
// induction over the iterations that are left.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "verify/loop_forms.h"
#include "verify/loop_relation.h"

namespace hv {

// Reference iterations: `peeled` before the second loop starts, `unrolled` to one of its own, and
// `left` after it has ended.
struct Alignment {
  int64_t peeled = 0, unrolled = 1, left = 0;
  bool IsPlain() const { return peeled == 0 && unrolled == 1 && left == 0; }
};

// Alignments that trip counts allow, those nearest to one to one first.
std::vector<Alignment> AlignmentsOf(std::optional<int64_t> reference, std::optional<int64_t> other);

using BothStates = std::array<LoopState, 2>;  // reference, other

// One iteration of both loops together, from their states.
using StepBoth = std::function<std::optional<BothStates>(const BothStates& states)>;

class AlignedLoops {
 public:
  // `trips`: of the second loop. `scope` makes names of unknowns unique.
  AlignedLoops(LoopForms* reference, LoopForms* other, Alignment alignment,
               std::optional<int64_t> trips, const std::vector<KnownFold>& folds, StepBoth step,
               std::string scope);

  // The states in which both loops are left, or nothing if no relation is found. Unless `all_related`
  // a leaf of the second loop may be left without one.
  std::optional<BothStates> Prove(bool all_related);
  size_t unrelated() const { return unrelated_; }  // leaves without a relation

 private:
  // How a carried leaf of the second loop follows from a leaf of the reference `ahead` iterations
  // further on.
  struct Candidate {
    size_t leaf = 0;
    size_t ahead = 0;
    LoopRelation relation;
  };
  using Choice = std::vector<size_t>;  // candidate of each carried leaf

  // States that are related and otherwise unknown: the reference now and `left` iterations further
  // on, and the second loop.
  struct Related {
    std::vector<LoopState> reference;
    LoopState other;
  };

  SymbolicDomain* domain() const { return &reference_->parts().domain(); }
  const Candidate& Chosen(const Choice& choice, size_t k) const {
    return candidates_[k][choice[k]];
  }
  bool RunAhead();
  bool FindCandidates(bool all_related);
  std::optional<Related> Relate(const Choice& choice, const Turn& turn, const std::string& tag);
  bool RelateReference(const Choice& choice, const std::string& tag, Related* states,
                       std::vector<std::optional<ByDevice>>* parts);
  std::optional<BothStates> Next(Related* states);
  bool ConditionsAgree(const Related& states);
  // `lost`: the carried leaves whose relation an iteration does not keep.
  bool Iterate(const Choice& choice, Related* states, std::vector<size_t>* lost);
  std::optional<BothStates> Leave(const Choice& choice, Related states);

  LoopForms* reference_;
  LoopForms* other_;
  const Alignment alignment_;
  const std::optional<int64_t> trips_;
  const std::vector<KnownFold>& folds_;
  const StepBoth step_;
  const std::string scope_;
  std::vector<LoopState> first_;                   // of the reference, by iterations made
  std::vector<size_t> carried_;                    // leaves of the second loop
  std::vector<std::vector<Candidate>> candidates_; // by carried leaf
  int64_t attempts_ = 0;
  size_t unrelated_ = 0;
};

}  // namespace hv
