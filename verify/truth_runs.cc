#include "verify/truth_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "verify/code_outputs.h"
#include "verify/element_text.h"
#include "verify/probe_domain.h"
#include "verify/truth_domain.h"

namespace hv {
namespace {

constexpr double kBudget = 3e8;  // element steps of all assignments together
constexpr int64_t kMaxLoopSteps = 1 << 20;

int BitsOf(ElementType type) { return IsPred(type) ? 1 : BitWidth(type); }

bool SameBits(const Outputs& before, const Outputs& after) {
  return std::all_of(before.begin(), before.end(), [&](const auto& output) {
    return SameBits(output.second, after.at(output.first));
  });
}

// A bit of an input as a code that no fingerprint has by design: both words are small.
TruthTable::Code InputBit(int64_t leaf, int bit) {
  return {static_cast<uint64_t>(leaf) * 64 + static_cast<uint64_t>(bit) + 2, 0};
}

}  // namespace

struct TruthRuns::Table {
  TruthTable truths;
  std::vector<int64_t> true_leaves;  // in this assignment
  bool codes = false;                // some input is held as codes
};

TruthRuns::TruthRuns(const Pair& pair, const InputSpace& space, uint64_t seed)
    : pair_(pair), space_(space), leaf_codes_(seed), field_(MakeFieldDomain(seed)) {
  double bits = 0;
  for (const InputSlot& slot : space.slots()) {
    const ElementType type = slot.shape->type;
    if (!IsInteger(type) && !IsPred(type)) continue;
    bits += static_cast<double>(slot.shape->element_count) * BitsOf(type) *
            static_cast<double>(pair.mesh.devices());
  }
  small_integers_ = bits <= static_cast<double>(TruthTable::kMost);
}

bool TruthRuns::IsEnumerated(const Shape& shape) const {
  return IsPred(shape.type) || (small_integers_ && IsInteger(shape.type));
}

bool TruthRuns::EnumeratesInputs() const {
  return std::all_of(space_.slots().begin(), space_.slots().end(),
                     [this](const InputSlot& slot) { return IsEnumerated(*slot.shape); });
}

Result<Value> TruthRuns::Fill(const Shape* shape, int64_t slot, int64_t device, Table* table) {
  if (!IsEnumerated(*shape)) {
    table->codes = true;
    return field_->EncodeLeaf(shape, [&](int64_t element, int component) {
      return leaf_codes_.Word(space_.IdOf({slot, device, element}), component);
    });
  }
  Value value = Value::NewNative(shape);
  for (int64_t i = 0; i < shape->element_count; ++i) {
    const int64_t leaf = space_.IdOf({slot, device, i});
    int64_t number = 0;
    for (int bit = 0; bit < BitsOf(shape->type); ++bit) {
      const std::optional<bool> truth = table->truths.BitOf(InputBit(leaf, bit));
      if (!truth) return Unsupported("too-many-truths", "too many unknown truth values");
      number |= static_cast<int64_t>(*truth) << bit;
    }
    if (number != 0) table->true_leaves.push_back(leaf);
    StoreNumber(static_cast<double>(number), i, &value);
  }
  return value;
}

std::optional<Outputs> TruthRuns::RunSide(Side side, Table* table, ArithmeticFacts* facts) {
  const std::unique_ptr<Domain> truth = MakeTruthDomain(field_.get(), &table->truths);
  const std::unique_ptr<Domain> probe = MakeProbeDomain(truth.get(), facts);
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  RunOptions options;
  options.domain = probe.get();
  options.transport = transport.get();
  options.max_steps = kMaxLoopSteps;
  options.memory_limit_bytes = MemoryLimit(pair_) / 4;
  const SlotFill fill = [this, table](const Shape* shape, int64_t slot, int64_t device) {
    return Fill(shape, slot, device, table);
  };
  const Module& module = pair_.of(side);
  auto outcome = RunModule(module, pair_.mesh, MakeInputs(module, space_, fill), options);
  if (!outcome || outcome->stall) return std::nullopt;
  return std::move(outcome->outputs);
}

// New truth values turn up as runs go other ways. They are false in the run that meets them, and
// the count of assignments doubles, so in the end each assignment of all of them has been run.
std::optional<TruthFindings> TruthRuns::Run() {
  Table table;
  TruthFindings findings;
  std::array<ArithmeticFacts, 2> facts;
  bool bits = true;
  for (uint64_t assignment = 0; assignment < uint64_t{1} << table.truths.size() || assignment == 0;
       ++assignment) {
    table.truths.Assign(assignment);
    table.true_leaves.clear();
    const std::optional<Outputs> before = RunSide(Side::kBefore, &table, &facts[0]);
    if (!before) return std::nullopt;
    table.true_leaves.clear();
    const std::optional<Outputs> after = RunSide(Side::kAfter, &table, &facts[1]);
    if (!after || table.truths.size() == 0) return std::nullopt;
    if (FirstCodeDifference(*field_, *before, *after)) {
      std::sort(table.true_leaves.begin(), table.true_leaves.end());
      if (!table.codes) findings.counterexample = std::move(table.true_leaves);
      return findings;
    }
    bits = bits && SameBits(*before, *after);
    const auto elements = static_cast<double>(facts[0].elements + facts[1].elements);
    const double runs = static_cast<double>(uint64_t{1} << table.truths.size());
    if (elements / static_cast<double>(assignment + 1) * runs > kBudget) return std::nullopt;
  }
  findings.agree = true;
  for (ArithmeticFacts& side : facts) {
    for (const InputSlot& slot : space_.slots()) NoteHeld(slot.shape->type, &side);
  }
  findings.precision = PrecisionChange(facts[0], facts[1]);
  const auto terms = static_cast<double>(facts[0].elements + facts[1].elements);
  const bool exact = !table.codes && !facts[0].elided && !facts[1].elided;
  findings.evidence = {"truth values",
                       fmt::format("all {} assignments of {} unknown truth values agree",
                                   uint64_t{1} << table.truths.size(), table.truths.size()),
                       exact ? 0 : std::min(1.0, terms * terms / 0x1p61 / 0x1p61)};
  const bool rounds = facts[0].concrete_floats || facts[1].concrete_floats;
  if (exact && bits && !rounds) {
    findings.proof = Proof{Level::kBitwise, "", "every input was run"};
  }
  return findings;
}

}  // namespace hv
