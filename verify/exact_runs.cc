#include "verify/exact_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "verify/code_outputs.h"
#include "verify/probe_domain.h"

namespace hv {
namespace {

constexpr int64_t kMaxLoopSteps = 1 << 20;
constexpr uint64_t kMostDiscarded = 8;   // concrete values tried before giving up
constexpr double kMostWeight = 0x1p120;  // no integer below vanishes modulo both primes
constexpr int64_t kCodeFactor = 4;       // a code takes so much more than an f32

}  // namespace

ExactRuns::ExactRuns(const Pair& pair, const InputSpace& space, const InputPlan& plan,
                     const std::vector<std::optional<InputRange>>& ranges)
    : pair_(pair),
      space_(space),
      plan_(plan),
      ranges_(ranges),
      concrete_(space.slots().size(), false),
      leaf_codes_(plan.seed),
      field_(MakeFieldDomain(FieldSeed())) {}

ExactRuns::~ExactRuns() = default;

SlotFill ExactRuns::Fill(CodeDomain* domain, const Codes& codes) const {
  NativeInput indices;
  indices.values = NativeInput::Values::kIndices;
  indices.seed = plan_.seed;
  indices.trial = codes.trial;
  return [this, domain, codes, indices](const Shape* shape, int64_t slot,
                                        int64_t device) -> Result<Value> {
    if (concrete_[static_cast<size_t>(slot)]) {
      return FillNative(indices, space_, ranges_, plan_)(shape, slot, device);
    }
    return domain->EncodeLeaf(shape, [&](int64_t element, int component) {
      return Word(codes, {slot, device, element}, component);
    });
  };
}

// One word of a leaf's code in this run.
uint64_t ExactRuns::Word(const Codes& codes, const Leaf& leaf, int component) const {
  const int64_t id = space_.IdOf(leaf);
  if (codes.active != nullptr &&
      !std::binary_search(codes.active->begin(), codes.active->end(), id)) {
    return 0;
  }
  if (codes.kind == Codes::Kind::kOnes) return 1;
  if (codes.kind != Codes::Kind::kPowers) return ImageWord(codes, id);
  return leaf_codes_.Word(id, component, codes.power);
}

Result<RunOutcome> ExactRuns::RunSide(Side side, CodeDomain* domain, const Codes& codes,
                                      ArithmeticFacts* facts) {
  const std::unique_ptr<Domain> probe = MakeProbeDomain(domain, facts);
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  RunOptions options;
  options.domain = probe.get();
  options.transport = transport.get();
  options.max_steps = kMaxLoopSteps;
  options.memory_limit_bytes = MemoryLimit(pair_) / kCodeFactor;
  const Module& module = pair_.of(side);
  return RunModule(module, pair_.mesh, MakeInputs(module, space_, Fill(domain, codes)), options);
}

Result<std::array<RunOutcome, 2>> ExactRuns::RunBoth(CodeDomain* domain, const Codes& codes,
                                                     CodeFindings* findings) {
  std::array<RunOutcome, 2> outcomes;
  for (size_t side = 0; side < 2; ++side) {
    findings->failed = kSides[side];
    HV_ASSIGN(outcomes[side], RunSide(kSides[side], domain, codes, &findings->facts[side]));
    findings->stall[side] = outcomes[side].stall;
  }
  return outcomes;
}

// Concrete outputs count as values moved along, unless both sides have the same bits; the types of
// inputs are types that data is held in.
void ExactRuns::NoteOutputs(const std::array<RunOutcome, 2>& outcomes,
                            CodeFindings* findings) const {
  for (const auto& [device, value] : outcomes[0].outputs) {
    const std::vector<Value> x = Leaves(value), y = Leaves(outcomes[1].outputs.at(device));
    for (size_t leaf = 0; leaf < x.size(); ++leaf) {
      if (x[leaf].IsNative() && y[leaf].IsNative() && SameBits(x[leaf], y[leaf])) continue;
      NoteMoved(x[leaf], &findings->facts[0]);
      NoteMoved(y[leaf], &findings->facts[1]);
    }
  }
  for (ArithmeticFacts& facts : findings->facts) {
    for (const InputSlot& slot : space_.slots()) NoteHeld(slot.shape->type, &facts);
  }
}

// The magnitude run: weights, facts, and whether the modules finish at all. True if so.
bool ExactRuns::Weigh(CodeFindings* findings) {
  const std::unique_ptr<CodeDomain> magnitude = MakeMagnitudeDomain();
  findings->facts = {};
  findings->error.reset();
  Codes codes;
  auto outcomes = RunBoth(magnitude.get(), codes, findings);
  const bool concrete = std::find(concrete_.begin(), concrete_.end(), true) != concrete_.end();
  while (concrete && !outcomes && outcomes.error().kind == ErrorKind::kInvalid &&
         codes.trial < kMostDiscarded) {
    ++codes.trial;
    outcomes = RunBoth(magnitude.get(), codes, findings);
  }
  if (!outcomes) {
    findings->error = std::move(outcomes).error();
    return false;
  }
  if (findings->stall[0] || findings->stall[1]) return false;
  NoteOutputs(*outcomes, findings);
  findings->weight = std::max({1.0, findings->facts[0].largest, findings->facts[1].largest});
  return true;
}

// Integers and truth values that the code domain cannot do without become concrete: first all of
// them, then as few as it takes.
bool ExactRuns::ChooseConcreteSlots(CodeFindings* findings) {
  constexpr size_t kMostTried = 16;
  std::vector<size_t> chosen;
  for (size_t slot = 0; slot < concrete_.size(); ++slot) {
    const ElementType type = space_.slots()[slot].shape->type;
    if (!IsInteger(type) && !IsPred(type)) continue;
    concrete_[slot] = true;
    chosen.push_back(slot);
  }
  const std::optional<Error> original = findings->error;
  if (chosen.empty()) return false;
  const bool weighed = Weigh(findings) || !findings->error;
  const bool undefined = !weighed && findings->error->kind == ErrorKind::kInvalid;
  if (!weighed && !undefined) {
    findings->error = original;
    return false;
  }
  for (size_t i = 0; weighed && chosen.size() > 1 && i < std::min(chosen.size(), kMostTried); ++i) {
    concrete_[chosen[i]] = false;
    CodeFindings attempt;
    if (!Weigh(&attempt) && attempt.error) concrete_[chosen[i]] = true;
  }
  auto& numbers = findings->concrete_parameters;
  for (size_t slot : chosen) {
    if (concrete_[slot]) numbers.push_back(space_.slots()[slot].parameter);
  }
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return weighed && Weigh(findings);
}

void ExactRuns::RunCodes(CodeFindings* findings) {
  const bool linear = findings->facts[0].IsLinear() && findings->facts[1].IsLinear();
  const int64_t runs =
      std::max(kCodeRuns, findings->concrete_parameters.empty() ? 0 : plan_.trials);
  int64_t told = 0;
  for (int64_t t = 0; t < runs && !findings->difference; ++t) {
    Codes codes;
    codes.kind = Codes::Kind::kPowers;
    codes.power = linear ? t : t + 1;  // power 0 makes all leaves alike: it counts summands
    codes.trial = static_cast<uint64_t>(t);
    CodeFindings run;  // facts are those of the magnitude run
    auto outcomes = RunBoth(field_.get(), codes, &run);
    // Concrete values may be such that the module before is undefined or cannot finish.
    const bool undefined = !outcomes && outcomes.error().kind == ErrorKind::kInvalid;
    if (run.stall[0] || (undefined && run.failed == Side::kBefore)) {
      ++findings->discarded;
      continue;
    }
    if (!outcomes) {
      findings->error = std::move(outcomes).error();
      return;
    }
    if (run.stall[1]) {
      findings->stall = std::move(run.stall);
      return;
    }
    ++told;
    findings->signs_of_zero |= field_->trace().signs_of_zero;
    findings->difference =
        FirstCodeDifference(*field_, (*outcomes)[0].outputs, (*outcomes)[1].outputs);
  }
  if (told == 0) return;
  Evidence evidence;
  evidence.method = "random codes";
  evidence.detail = fmt::format("{} over F_p x F_q, p = 2^61 - 1, weight at most {:.6g}",
                                CountOf(told, "run"), findings->weight);
  const double field = 0x1p61, leaves = static_cast<double>(space_.id_count());
  const auto terms = static_cast<double>(findings->facts[0].elements + findings->facts[1].elements);
  if (findings->difference) {
    evidence.detail += fmt::format(": output {} of device {} differs", findings->difference->output,
                                   pair_.mesh.NameOf(findings->difference->device));
  } else if (findings->signs_of_zero) {
    evidence.detail += "; results hang on the sign of a zero, which codes do not know";
  } else if (findings->concrete_parameters.empty() && findings->weight < kMostWeight) {
    evidence.miss_bound =
        linear ? 1 / (field - leaves) : std::min(1.0, terms * terms / field / field);
  }
  findings->evidence.push_back(std::move(evidence));
}

CodeFindings ExactRuns::Run(bool prove) {
  CodeFindings findings;
  if (!Weigh(&findings) && !(findings.error && ChooseConcreteSlots(&findings))) return findings;
  findings.precision = PrecisionChange(findings.facts[0], findings.facts[1]);
  RunCodes(&findings);
  if (findings.error || findings.stall[1] || !findings.concrete_parameters.empty()) return findings;
  if (prove && !findings.difference) RunPowerSums(&findings);
  RunIntegers(&findings);
  if (prove || findings.difference) RunSets(&findings);
  if (!prove) findings.proof.reset();
  return findings;
}

std::optional<OutputPlace> ExactRuns::DifferenceOn(const std::vector<int64_t>& active) {
  Codes codes;
  codes.kind = Codes::Kind::kPowers;
  codes.active = &active;
  CodeFindings ignored;
  auto outcomes = RunBoth(field_.get(), codes, &ignored);
  if (!outcomes || ignored.stall[0] || ignored.stall[1]) return std::nullopt;
  return FirstCodeDifference(*field_, (*outcomes)[0].outputs, (*outcomes)[1].outputs);
}

}  // namespace hv
