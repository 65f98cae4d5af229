#include "verify/loop_forms.h"

#include <utility>

#include "sim/cost.h"
#include "verify/symbolic_leaves.h"

namespace hv {
namespace {

constexpr int64_t kMostTrips = int64_t{1} << 40;

// `turn` as a number of `type`. Where the bound fits in the type, j is kept inside it.
Term TermOf(LoopParts* parts, const Turn& turn, ElementType type) {
  Algebra& algebra = parts->domain().algebra();
  const Term offset = algebra.Integer(type, turn.offset);
  if (turn.IsKnown()) return offset;
  ShapeTable& shapes = parts->module().context->shapes;
  const std::string name = turn.symbol + " as " + std::string(ToString(type));
  const Value unknown = parts->domain().Unknown(shapes.Scalar(type), name);
  Term j = parts->domain().LeavesOf(unknown)[0].pieces()[0].term;
  const IntegerRange all = RangeOfType(type);
  if (turn.bound > 0 && (!all.known() || turn.bound - 1 <= all.high)) {
    j = algebra.Scalar(ScalarFn::kMaximum, type, {std::move(j), algebra.Integer(type, 0)});
    j = algebra.Scalar(ScalarFn::kMinimum, type,
                       {std::move(j), algebra.Integer(type, turn.bound - 1)});
  }
  const Term factor = algebra.Integer(type, turn.factor);
  j = algebra.Scalar(ScalarFn::kMultiply, type, {std::move(j), factor});
  return algebra.Scalar(ScalarFn::kAdd, type, {std::move(j), offset});
}

// A scalar repeated `count` times.
SymbolicTensor Repeated(Algebra* algebra, const Term& scalar, int64_t count) {
  DigitMap map;
  if (count > 1) map.columns.push_back({count, -1, 0});
  return SymbolicTensor({{WholeRegion(count), algebra->Substitute(scalar, map)}});
}

}  // namespace

std::string Turn::ToString() const {
  return std::to_string(factor) + "*" + symbol + "+" + std::to_string(offset) + " below " +
         std::to_string(bound);
}

Turn AnyTurn(const std::string& symbol, std::optional<int64_t> count) {
  if (!count) return {1, 0, -1, symbol};
  if (*count <= 1) return {};
  return {1, 0, *count, symbol};
}

LoopForms::LoopForms(LoopParts* parts, ComputationIndex computation, InstructionIndex loop,
                     LoopState first, std::string name)
    : parts_(parts),
      computation_(parts->module().At(computation)),
      loop_(&computation_.At(loop)),
      first_(std::move(first)),
      name_(std::move(name)) {
  AppendLeafShapes(loop_->shape, &shapes_);
  forms_.assign(shapes_.size(), Form::kCarried);
  stages_.assign(shapes_.size(), 0);
  step_.resize(shapes_.size());
}

bool LoopForms::Find() {
  for (int stage = 1;; ++stage) {
    bool found = false;
    if (!FindMore(stage, &found)) return false;
    if (!found) return true;
  }
}

// Runs a turn from three states that agree in what is known: two after the same number of turns, but
// with unknowns of their own, and one after another number. What comes out the same whatever differs
// does not depend on it.
bool LoopForms::FindMore(int stage, bool* found) {
  SymbolicDomain* domain = &parts_->domain();
  const std::string j = name_ + ", turn", other = name_ + ", another turn";
  const auto a = At({1, 0, -1, j}, "a"), b = At({1, 0, -1, j}, "b"), c = At({1, 0, -1, other}, "b");
  if (!a || !b || !c) return false;
  const auto next_a = NextWhereKnown(*a), next_b = NextWhereKnown(*b), next_c = NextWhereKnown(*c);
  if (!next_a || !next_b || !next_c) return false;
  const auto minus_one = At({0, -1, -1, {}}, "minus one");
  const auto zero = minus_one ? NextWhereKnown(*minus_one) : std::nullopt;
  for (size_t k = 0; k < shapes_.size(); ++k) {
    if (forms_[k] != Form::kCarried) continue;
    const ElementType type = shapes_[k]->type;
    if (Same(domain, (*next_a)[k], (*a)[k])) {
      forms_[k] = Form::kConstant;
      *found = true;
      continue;
    }
    if (IsInteger(type)) {
      auto step = Elementwise(domain, ScalarFn::kSubtract, type, (*next_a)[k], (*a)[k]);
      const auto step_c = Elementwise(domain, ScalarFn::kSubtract, type, (*next_c)[k], (*c)[k]);
      if (step && step_c && Same(domain, *step, *step_c)) {
        forms_[k] = Form::kGrowing;
        step_[k] = std::move(*step);
        *found = true;
        continue;
      }
    }
    if (zero && Same(domain, (*next_a)[k], (*next_b)[k]) && Same(domain, (*zero)[k], first_[k])) {
      forms_[k] = Form::kComputed;
      stages_[k] = last_stage_ = stage;
      *found = true;
    }
  }
  return true;
}

std::optional<LoopState> LoopForms::NextWhereKnown(const LoopState& state) {
  if (auto next = Next(state)) return next;
  return parts_->Run(body(), state, {}, OtherLoops::kUnknown);
}

std::optional<ByDevice> LoopForms::Grown(size_t leaf, const Turn& turn) {
  const ElementType type = shapes_[leaf]->type;
  SymbolicDomain* domain = &parts_->domain();
  const SymbolicTensor turns = Repeated(&domain->algebra(), TermOf(parts_, turn, type),
                                        shapes_[leaf]->element_count);
  ByDevice result;
  for (const auto& [device, step] : step_[leaf]) {
    auto grown = Elementwise(domain, ScalarFn::kMultiply, type, step, turns);
    if (grown) {
      grown = Elementwise(domain, ScalarFn::kAdd, type, first_[leaf].at(device), *grown);
    }
    if (!grown) return std::nullopt;
    result.insert_or_assign(device, std::move(*grown));
  }
  return result;
}

std::optional<LoopState> LoopForms::At(const Turn& turn, const std::string& tag) {
  return At(turn, tag, last_stage_);
}

// What is computed in one turn of what is known after the turn before: as many turns back as there
// are stages.
std::optional<LoopState> LoopForms::At(const Turn& turn, const std::string& tag, int stage) {
  LoopState state;
  for (size_t k = 0; k < shapes_.size(); ++k) {
    std::optional<ByDevice> leaf;
    if (forms_[k] == Form::kConstant) {
      leaf = first_[k];
    } else if (forms_[k] == Form::kGrowing) {
      leaf = Grown(k, turn);
    } else {
      leaf = parts_->Unknown(shapes_[k], name_ + ", " + tag + ", state " + std::to_string(k) +
                                             " at " + turn.ToString());
    }
    if (!leaf) return std::nullopt;
    state.push_back(std::move(*leaf));
  }
  if (stage == 0) return state;
  const auto previous = At(turn.Before(), tag, stage - 1);
  const auto next = previous ? NextWhereKnown(*previous) : std::nullopt;
  if (!next) return std::nullopt;
  for (size_t k = 0; k < shapes_.size(); ++k) {
    if (forms_[k] == Form::kComputed && stages_[k] <= stage) state[k] = (*next)[k];
  }
  return state;
}

std::optional<ByDevice> LoopForms::Condition(const LoopState& state) {
  auto truth = parts_->Run(loop_->Computation(Attr::kCondition), state);
  if (!truth) return std::nullopt;
  return std::move((*truth)[0]);
}

std::optional<bool> LoopForms::ConditionAt(const Turn& turn) {
  const auto state = At(turn, "condition");
  const auto truth = state ? Condition(*state) : std::nullopt;
  return truth ? KnownTruth(*truth) : std::nullopt;
}

bool LoopForms::TurnsExactly(int64_t trips) {
  if (trips > 0 && ConditionAt(AnyTurn(name_ + ", some turn", trips)) != true) return false;
  return ConditionAt({0, trips, -1, {}}) == false;
}

// Guesses, then shows.
std::optional<int64_t> LoopForms::Trips() {
  const int64_t stated = TripCountOf(parts_->module(), computation_, *loop_);
  if (stated >= 0 && stated <= kMostTrips && TurnsExactly(stated)) return stated;
  const auto goes_on = [&](int64_t turn) { return ConditionAt({0, turn, -1, {}}); };
  int64_t low = -1, high = 0;  // goes on at low, leaves at high
  for (auto truth = goes_on(high); truth != false; truth = goes_on(high)) {
    if (!truth || high > kMostTrips) return std::nullopt;
    low = high;
    high = 2 * high + 1;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    const auto truth = goes_on(middle);
    if (!truth) return std::nullopt;
    (*truth ? low : high) = middle;
  }
  if (!TurnsExactly(high)) return std::nullopt;
  return high;
}

}  // namespace hv
