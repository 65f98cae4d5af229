#include "verify/loop_alignment.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace hv {
namespace {

using Kind = LoopRelation::Kind;

constexpr int64_t kMostAttempts = 40;
constexpr int64_t kMostAside = 4;     // iterations ahead of and behind the second loop
constexpr int64_t kMostUnrolled = 4;

size_t Index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

std::vector<Alignment> AlignmentsOf(std::optional<int64_t> reference,
                                    std::optional<int64_t> other) {
  std::vector<Alignment> alignments;
  if (reference.has_value() != other.has_value()) return {};
  for (int64_t unrolled = 1; unrolled <= kMostUnrolled; ++unrolled) {
    if (!reference && unrolled > 1) break;
    for (int64_t aside = 0; aside <= kMostAside; ++aside) {
      if (reference ? *reference != unrolled * *other + aside : aside > 1) continue;
      for (int64_t left = aside; left >= 0; --left) {
        alignments.push_back({aside - left, unrolled, left});
      }
    }
    if (other == 0) break;
  }
  return alignments;
}

AlignedLoops::AlignedLoops(LoopForms* reference, LoopForms* other, Alignment alignment,
                           std::optional<int64_t> trips, const std::vector<KnownFold>& folds,
                           StepBoth step, std::string scope)
    : reference_(reference),
      other_(other),
      alignment_(alignment),
      trips_(trips),
      folds_(folds),
      step_(std::move(step)),
      scope_(std::move(scope)) {
  for (size_t k = 0; k < other->shapes().size(); ++k) {
    if (other->IsCarried(k)) carried_.push_back(k);
  }
}

// Choices are changed where they fail, until one is kept by an iteration.
std::optional<BothStates> AlignedLoops::Prove(bool all_related) {
  if (!RunAhead() || !FindCandidates(all_related)) return std::nullopt;
  std::deque<Choice> open = {Choice(carried_.size(), 0)};
  std::set<Choice> seen = {open.front()};
  while (!open.empty() && attempts_ < kMostAttempts) {
    const Choice choice = std::move(open.front());
    open.pop_front();
    ++attempts_;
    const std::string tag = scope_ + ", attempt " + std::to_string(attempts_);
    std::vector<size_t> lost;
    auto states = Relate(choice, AnyTurn(scope_ + ", turn", trips_), tag);
    const bool runs = states && (trips_ == 0 || Iterate(choice, &*states, &lost));
    if (runs && lost.empty()) return Leave(choice, std::move(*states));
    for (size_t k = 0; k < carried_.size() && !runs; ++k) lost.push_back(k);
    Choice all = choice;
    for (const size_t k : lost) {
      if (choice[k] + 1 == candidates_[k].size()) continue;
      Choice one = choice;
      ++one[k];
      ++all[k];
      if (seen.insert(one).second) open.push_back(std::move(one));
    }
    if (seen.insert(all).second) open.push_front(std::move(all));
  }
  return std::nullopt;
}

// The first states of the reference. Where it is not known how often the loops turn, it must be that
// these iterations are made.
bool AlignedLoops::RunAhead() {
  first_ = {reference_->first()};
  for (int64_t i = 0; i < alignment_.peeled + alignment_.left; ++i) {
    if (!trips_) {
      const auto goes_on = reference_->Condition(first_.back());
      if (!goes_on || KnownTruth(*goes_on) != true) return false;
    }
    auto next = reference_->Next(first_.back());
    if (!next) return false;
    first_.push_back(std::move(*next));
  }
  return true;
}

// Relations that hold when the second loop starts; leaves in the same place first, none last.
bool AlignedLoops::FindCandidates(bool all_related) {
  for (const size_t k : carried_) {
    std::vector<Candidate> candidates;
    std::vector<size_t> leaves;
    for (size_t leaf = 0; leaf < reference_->shapes().size(); ++leaf) leaves.push_back(leaf);
    std::stable_partition(leaves.begin(), leaves.end(), [&](size_t leaf) { return leaf == k; });
    for (const size_t leaf : leaves) {
      for (size_t ahead = 0; ahead <= Index(alignment_.left); ++ahead) {
        const ByDevice& first = first_[Index(alignment_.peeled) + ahead][leaf];
        for (LoopRelation& relation :
             RelationsBetween(domain(), reference_->shapes()[leaf], other_->shapes()[k], first,
                              other_->first()[k], folds_)) {
          // What determines the reference determines it now.
          const bool inverse = relation.Derives() && relation.part == 1;
          const bool states_reference = inverse || relation.kind == Kind::kSame;
          if (states_reference && ahead > 0) continue;
          if (inverse && !reference_->IsCarried(leaf)) continue;
          candidates.push_back({leaf, ahead, std::move(relation)});
        }
      }
    }
    if (!all_related) {
      candidates.push_back({});
      candidates.back().relation.kind = Kind::kNone;
    }
    if (candidates.empty()) return false;
    candidates_.push_back(std::move(candidates));
  }
  return true;
}

// Leaves of the reference that follow from what the second loop holds (`parts`), are the same on all
// devices, or are just unknown.
bool AlignedLoops::RelateReference(const Choice& choice, const std::string& tag, Related* states,
                                   std::vector<std::optional<ByDevice>>* parts) {
  std::set<size_t> stated, same;
  for (size_t k = 0; k < carried_.size(); ++k) {
    const Candidate& chosen = Chosen(choice, k);
    const LoopRelation& relation = chosen.relation;
    if (relation.kind == Kind::kSame) same.insert(chosen.leaf);
    if (!relation.Derives() || relation.part == 0) continue;
    if (!stated.insert(chosen.leaf).second) return false;
    const std::string name = tag + ", part " + std::to_string(carried_[k]);
    (*parts)[k] = other_->parts().Unknown(relation.shape, name);
    auto held = Held(domain(), relation, 0, *(*parts)[k]);
    if (!held) return false;
    states->reference[0][chosen.leaf] = std::move(*held);
  }
  for (size_t leaf = 0; leaf < reference_->shapes().size(); ++leaf) {
    if (!reference_->IsCarried(leaf) || stated.count(leaf) != 0) continue;
    states->reference[0][leaf] =
        reference_->parts().Unknown(reference_->shapes()[leaf],
                                    tag + ", leaf " + std::to_string(leaf), same.count(leaf) != 0);
  }
  return true;
}

std::optional<AlignedLoops::Related> AlignedLoops::Relate(const Choice& choice, const Turn& turn,
                                                          const std::string& tag) {
  Turn of_reference = turn;
  of_reference.factor *= alignment_.unrolled;
  of_reference.offset = turn.offset * alignment_.unrolled + alignment_.peeled;
  auto reference = reference_->At(of_reference, tag);
  auto other = other_->At(turn, tag);
  if (!reference || !other) return std::nullopt;
  Related states{{std::move(*reference)}, std::move(*other)};
  std::vector<std::optional<ByDevice>> parts(carried_.size());
  if (!RelateReference(choice, tag, &states, &parts)) return std::nullopt;
  for (int64_t i = 0; i < alignment_.left; ++i) {
    auto next = reference_->Next(states.reference.back());
    if (!next) return std::nullopt;
    states.reference.push_back(std::move(*next));
  }
  for (size_t k = 0; k < carried_.size(); ++k) {
    const Candidate& chosen = Chosen(choice, k);
    std::optional<ByDevice> held = std::move(parts[k]);
    if (chosen.relation.kind == Kind::kNone) {
      const std::string name = tag + ", leaf " + std::to_string(carried_[k]);
      held = other_->parts().Unknown(other_->shapes()[carried_[k]], name);
    } else if (!held) {
      held = Held(domain(), chosen.relation, 1, states.reference[chosen.ahead][chosen.leaf]);
    }
    if (!held) return std::nullopt;
    states.other[carried_[k]] = std::move(*held);
  }
  return states;
}

// One iteration of the second loop, the reference running on as far as that takes it. Gives the
// state of the second loop and, of the reference, that at the new place.
std::optional<BothStates> AlignedLoops::Next(Related* states) {
  if (alignment_.IsPlain()) {
    auto next = step_({states->reference[0], states->other});
    if (next) states->reference.push_back((*next)[0]);
    return next;
  }
  for (int64_t i = 0; i < alignment_.unrolled; ++i) {
    auto next = reference_->Next(states->reference.back());
    if (!next) return std::nullopt;
    states->reference.push_back(std::move(*next));
  }
  auto next = other_->Next(states->other);
  if (!next) return std::nullopt;
  return BothStates{states->reference[Index(alignment_.unrolled)], std::move(*next)};
}

bool AlignedLoops::Iterate(const Choice& choice, Related* states, std::vector<size_t>* lost) {
  if (!trips_ && !ConditionsAgree(*states)) return false;
  const size_t now = states->reference.size() - 1;
  const auto next = Next(states);
  if (!next) return false;
  for (size_t k = 0; k < carried_.size(); ++k) {
    const Candidate& chosen = Chosen(choice, k);
    const LoopState& then = states->reference[Index(alignment_.unrolled) + chosen.ahead];
    if (!Holds(domain(), chosen.relation, then[chosen.leaf], (*next)[1][carried_[k]])) {
      lost->push_back(k);
    }
  }
  states->reference.resize(now + 1);
  return true;
}

// Devices that leave a loop at different times are no longer related.
bool AlignedLoops::ConditionsAgree(const Related& states) {
  const auto a = reference_->Condition(states.reference.back());
  const auto b = other_->Condition(states.other);
  return a && b && Same(domain(), *a, *b) && SameOnAllDevices(domain(), *a);
}

std::optional<BothStates> AlignedLoops::Leave(const Choice& choice, Related states) {
  for (size_t k = 0; k < carried_.size(); ++k) {
    unrelated_ += Chosen(choice, k).relation.kind == Kind::kNone ? 1 : 0;
  }
  if (trips_) {
    auto last = Relate(choice, {0, *trips_, -1, {}}, scope_ + ", left");
    if (!last) return std::nullopt;
    states = std::move(*last);
  }
  return BothStates{std::move(states.reference.back()), std::move(states.other)};
}

}  // namespace hv
