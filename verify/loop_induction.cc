#include "verify/loop_induction.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "sim/plan.h"
#include "sim/transport.h"
#include "verify/entry_argument.h"
#include "verify/loop_relation.h"
#include "verify/symbolic_leaves.h"

namespace hv {
namespace {

using Kind = LoopRelation::Kind;
using State = std::vector<ByDevice>;  // by leaf

constexpr int kMostAttempts = 40;

// The only while of ENTRY, if there is one.
const Instruction* OnlyLoop(const Module& module) {
  const Instruction* loop = nullptr;
  for (const Instruction& instruction : module.Entry().instructions) {
    if (instruction.opcode != Opcode::kWhile) continue;
    if (loop != nullptr) return nullptr;
    loop = &instruction;
  }
  return loop;
}

// A loop that is not run does not block, so nothing else may depend on when it is left: messages
// pair across computations, and a handle of an async operation may travel through the state.
bool IsPlain(const Module& module, const Instruction& loop) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == Opcode::kSend || instruction.opcode == Opcode::kRecv) return false;
    }
  }
  return std::all_of(loop.shape->elements.begin(), loop.shape->elements.end(),
                     [](const Shape* leaf) { return leaf->IsArray(); });
}

// Every reduction and gather that the modules apply, each group and reducer once.
std::vector<KnownFold> FoldsOf(const Module& module, const ModulePlan& plan) {
  std::vector<KnownFold> folds;
  std::set<std::pair<const Grouping*, ScalarFn>> known;
  for (const Collective& collective : plan.collectives) {
    const Grouping& grouping = *collective.grouping;
    if (collective.opcode == Opcode::kCollectivePermute || grouping.groups.empty()) continue;
    const bool equal_sizes =
        std::all_of(grouping.groups.begin(), grouping.groups.end(),
                    [&](const auto& group) { return group.size() == grouping.groups[0].size(); });
    ScalarFn fn = ScalarFn::kNone;
    if (collective.instruction->Has(Attr::kToApply)) {
      fn = RecognizeReducer(module, collective.instruction->Computation(Attr::kToApply)).fn;
    }
    if (!equal_sizes || !known.emplace(&grouping, fn).second) continue;
    folds.push_back({&module, collective.instruction, collective.grouping});
  }
  return folds;
}

class Induction {
 public:
  Induction(Strictness strictness, const std::array<const Module*, 2>& modules,
            const std::array<const Instruction*, 2>& loops, const Mesh& mesh,
            const ProofOptions& options, const std::vector<KnownFold>& folds)
      : modules_(modules),
        loops_(loops),
        mesh_(mesh),
        options_(options),
        folds_(folds),
        domain_(strictness, options.most_pieces),
        transport_(MakeLocalTransport()) {}

  bool Prove() {
    for (size_t side = 0; side < 2; ++side) {
      if (!RunEntry(side, {}, &first_[side], nullptr)) return false;
    }
    if (!FindCandidates()) return false;
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      size_t failing = 0;
      if (!Iterate(attempt, &failing)) return false;
      if (failing == relations_.size()) return OutputsAgree(attempt);
      auto& candidates = candidates_[failing];
      candidates.erase(candidates.begin());
      if (candidates.empty()) return false;
    }
    return false;
  }

 private:
  Value StateOf(size_t side, const State& state, DeviceId device) {
    size_t leaf = 0;
    return BuildFromLeaves(loops_[side]->shape, [&](const Shape* array) {
      return Value::Extended(array, std::make_unique<SymbolicTensor>(state[leaf++].at(device)));
    });
  }

  // By leaf; false if the values are not arrays of terms, one list of them on every device.
  bool Collect(const std::map<DeviceId, Value>& values, State* state) {
    state->clear();
    for (const auto& [device, value] : values) {
      std::vector<SymbolicTensor> leaves = domain_.LeavesOf(value);
      if (state->empty()) state->resize(leaves.size());
      if (state->size() != leaves.size()) return false;
      for (size_t k = 0; k < leaves.size(); ++k) {
        (*state)[k].insert_or_assign(device, std::move(leaves[k]));
      }
    }
    return static_cast<int64_t>(values.size()) == mesh_.devices();
  }

  bool Run(const Module& module, const InputFn& inputs, const LoopFn& loop, State* outputs) {
    RunOptions run;
    run.domain = &domain_;
    run.transport = transport_.get();
    run.max_steps = options_.most_loop_steps;
    run.loop = loop;
    const Result<RunOutcome> outcome = RunModule(module, mesh_, inputs, run);
    return outcome && !outcome->stall && Collect(outcome->outputs, outputs);
  }

  // ENTRY with the loop yielding `result` (empty: something unknown); `first`: its first state.
  bool RunEntry(size_t side, const State& result, State* first, State* outputs) {
    const Module& module = *modules_[side];
    std::map<DeviceId, Value> entered;
    const auto loop = [&](DeviceId device, const Instruction& instruction,
                          const Value& state) -> std::optional<Value> {
      if (&instruction != loops_[side]) return std::nullopt;
      entered[device] = state;
      if (!result.empty()) return StateOf(side, result, device);
      return domain_.Unknown(instruction.shape, "loop of device " + mesh_.NameOf(device));
    };
    const auto input = [&](DeviceId device, int64_t parameter) -> Result<Value> {
      return EntryArgument(options_, mesh_, module, device, parameter, &domain_);
    };
    State scratch;
    if (!Run(module, input, loop, outputs == nullptr ? &scratch : outputs)) return false;
    return first == nullptr || Collect(entered, first);
  }

  // The condition or body of a loop as a module of its own.
  bool RunPart(size_t side, Attr part, const State& state, State* outputs) {
    Module module = *modules_[side];
    module.entry = loops_[side]->Computation(part);
    const auto input = [&](DeviceId device, int64_t) -> Result<Value> {
      return StateOf(side, state, device);
    };
    return Run(module, input, nullptr, outputs);
  }

  bool Same(const SymbolicTensor& a, const SymbolicTensor& b) {
    return !domain_.maker().Compare(a, b).has_value();
  }
  bool Same(const ByDevice& a, const ByDevice& b) {
    return std::all_of(a.begin(), a.end(),
                       [&](const auto& entry) { return Same(entry.second, b.at(entry.first)); });
  }
  bool SameOnAllDevices(const ByDevice& values) {
    return std::all_of(values.begin(), values.end(), [&](const auto& entry) {
      return Same(entry.second, values.begin()->second);
    });
  }

  bool Holds(const LoopRelation& relation, const ByDevice* offset, const ByDevice& before,
             const ByDevice& after) {
    const ByDevice* sides[] = {&before, &after};
    const auto held = Held(&domain_, relation, 1 - relation.part, *sides[relation.part], offset);
    if (!held || !Same(*held, *sides[1 - relation.part])) return false;
    return relation.kind != Kind::kSame || SameOnAllDevices(before);
  }

  // What the whole holds at first beyond the parts: kept apart through all iterations.
  std::optional<ByDevice> OffsetOf(const LoopRelation& relation, size_t leaf) {
    const KnownFold& fold = relation.fold;
    if (relation.kind != Kind::kFold || IsPred(relation.shape->type)) return std::nullopt;
    const Reducer reducer =
        RecognizeReducer(*fold.module, fold.collective->Computation(Attr::kToApply));
    if (reducer.fn != ScalarFn::kAdd) return std::nullopt;
    const size_t whole = 1 - relation.part;
    const auto folded = Held(&domain_, relation, whole, first_[relation.part][leaf], nullptr);
    if (!folded || Same(*folded, first_[whole][leaf])) return std::nullopt;
    ByDevice offset;
    for (const auto& [device, tensor] : first_[whole][leaf]) {
      const SymbolicTensor* both[] = {&tensor, &folded->at(device)};
      auto cells = domain_.maker().Zip(both);
      if (!cells) return std::nullopt;
      std::vector<SymbolicPiece> pieces;
      for (ZippedCell& cell : *cells) {
        Term term = domain_.algebra().Scalar(ScalarFn::kSubtract, relation.shape->type,
                                             std::move(cell.terms));
        pieces.push_back({std::move(cell.region), std::move(term)});
      }
      offset.insert_or_assign(device, domain_.maker().Simplified(std::move(pieces)));
    }
    return offset;
  }

  // Relations that hold at the start, for each leaf.
  bool FindCandidates() {
    std::array<std::vector<const Shape*>, 2> shapes;
    for (size_t side = 0; side < 2; ++side) AppendLeafShapes(loops_[side]->shape, &shapes[side]);
    if (shapes[0].size() != shapes[1].size() || shapes[0].size() != first_[0].size()) return false;
    for (size_t k = 0; k < shapes[0].size(); ++k) {
      std::vector<Candidate> candidates;
      for (LoopRelation& relation : RelationsOf(shapes[0][k], shapes[1][k], folds_)) {
        std::optional<ByDevice> offset = OffsetOf(relation, k);
        if (!Holds(relation, offset ? &*offset : nullptr, first_[0][k], first_[1][k])) continue;
        candidates.push_back({std::move(relation), std::move(offset)});
      }
      if (candidates.empty()) return false;
      candidates_.push_back(std::move(candidates));
    }
    relations_.resize(candidates_.size());
    return true;
  }

  // States that are related and otherwise unknown.
  bool Relate(int attempt, std::array<State, 2>* states) {
    for (size_t k = 0; k < candidates_.size(); ++k) {
      relations_[k] = &candidates_[k][0];
      const LoopRelation& relation = relations_[k]->relation;
      ByDevice x;
      for (int64_t d = 0; d < mesh_.devices(); ++d) {
        std::string name = "state " + std::to_string(k) + " of attempt " + std::to_string(attempt);
        if (relation.kind != Kind::kSame) name += " of device " + mesh_.NameOf(DeviceId(d));
        const Value unknown = domain_.Unknown(relation.shape, name);
        x.insert_or_assign(DeviceId(d), domain_.LeavesOf(unknown)[0]);
      }
      for (size_t side = 0; side < 2; ++side) {
        auto held = Held(&domain_, relation, side, x, relations_[k]->OffsetOrNull());
        if (!held) return false;
        (*states)[side].push_back(std::move(*held));
      }
    }
    return true;
  }

  // One iteration from related states: `failing` is the first leaf whose relation is lost, or the
  // number of leaves. False if there is nothing more to try.
  bool Iterate(int attempt, size_t* failing) {
    std::array<State, 2> states, conditions, next;
    if (!Relate(attempt, &states)) return false;
    for (size_t side = 0; side < 2; ++side) {
      if (!RunPart(side, Attr::kCondition, states[side], &conditions[side])) return false;
      if (!RunPart(side, Attr::kBody, states[side], &next[side])) return false;
    }
    const auto lost = [&](size_t k) {
      const Candidate& candidate = *relations_[k];
      return !Holds(candidate.relation, candidate.OffsetOrNull(), next[0][k], next[1][k]);
    };
    for (*failing = 0; *failing < relations_.size() && !lost(*failing);) ++*failing;
    if (*failing < relations_.size()) return true;
    // Devices that leave the loop at different times are no longer related.
    return Same(conditions[0][0], conditions[1][0]) && SameOnAllDevices(conditions[0][0]);
  }

  bool OutputsAgree(int attempt) {
    std::array<State, 2> states, outputs;
    if (!Relate(attempt, &states)) return false;
    for (size_t side = 0; side < 2; ++side) {
      if (!RunEntry(side, states[side], nullptr, &outputs[side])) return false;
    }
    for (size_t k = 0; k < outputs[0].size(); ++k) {
      if (!Same(outputs[0][k], outputs[1][k])) return false;
    }
    return true;
  }

  struct Candidate {
    LoopRelation relation;
    std::optional<ByDevice> offset;
    const ByDevice* OffsetOrNull() const { return offset ? &*offset : nullptr; }
  };

  const std::array<const Module*, 2> modules_;
  const std::array<const Instruction*, 2> loops_;
  const Mesh mesh_;
  const ProofOptions& options_;
  const std::vector<KnownFold>& folds_;
  SymbolicDomain domain_;
  std::unique_ptr<Transport> transport_;
  std::array<State, 2> first_;  // states at the start
  std::vector<std::vector<Candidate>> candidates_;
  std::vector<const Candidate*> relations_;
};

}  // namespace

std::optional<ProofResult> ProveByInduction(const Module& before, const Module& after,
                                            const Mesh& mesh, const ProofOptions& options) {
  const std::array<const Module*, 2> modules = {&before, &after};
  std::array<const Instruction*, 2> loops = {};
  std::array<std::optional<ModulePlan>, 2> plans;
  std::vector<KnownFold> folds;
  for (size_t side = 0; side < 2; ++side) {
    loops[side] = OnlyLoop(*modules[side]);
    if (loops[side] == nullptr || !IsPlain(*modules[side], *loops[side])) return std::nullopt;
    Result<ModulePlan> plan = MakePlan(*modules[side], mesh);
    if (!plan) return std::nullopt;
    plans[side] = std::move(*plan);
    const std::vector<KnownFold> more = FoldsOf(*modules[side], *plans[side]);
    folds.insert(folds.end(), more.begin(), more.end());
  }
  constexpr std::pair<Strictness, ProofLevel> kLevels[] = {
      {Strictness::kBitwise, ProofLevel::kBitwise},
      {Strictness::kReassociation, ProofLevel::kReassociation},
      {Strictness::kNestedSums, ProofLevel::kReassociation},
      {Strictness::kReal, ProofLevel::kReal}};
  for (const auto& [strictness, level] : kLevels) {
    if (!Induction(strictness, modules, loops, mesh, options, folds).Prove()) continue;
    ProofResult result;
    result.outcome = ProofOutcome::kProved;
    result.level = level;
    result.by_induction = true;
    if (strictness == Strictness::kNestedSums) result.sub_class = "nested sums";
    return result;
  }
  return std::nullopt;
}

}  // namespace hv
