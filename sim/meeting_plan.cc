#include "sim/meeting_plan.h"

#include <algorithm>

#include "base/check.h"
#include "sim/leaves.h"
#include "sim/recipe.h"

namespace hv {
namespace {

constexpr size_t kMostKept = 64;  // members: an all-to-all among them has as many pieces squared

bool IsWhole(const Part& part, const Shape& operand) {
  return std::equal(part.sizes.begin(), part.sizes.end(), operand.dims.begin(),
                    operand.dims.end());
}

// The box of a part, placed where it belongs in an array of `dims`.
Piece PieceOf(const Part& part, int number, const Shape& operand, std::span<const int64_t> dims) {
  const std::vector<int64_t> strides = RowMajorStrides(dims);
  int64_t base = 0;
  for (size_t d = 0; d < part.at.size(); ++d) base += part.at[d] * strides[d];
  return BoxPiece(number, operand.dims, part.starts, part.sizes, base, strides);
}

class LeafPlanner {
 public:
  LeafPlanner(const Collective& collective, const LeafRecipe& recipe)
      : collective_(collective), recipe_(recipe) {}

  LeafPlan Plan() {
    plan_.shape = recipe_.shape;
    plan_.fold = recipe_.fold;
    if (recipe_.parts.empty()) {
      plan_.pieces = ZeroPieces(recipe_.shape->element_count);
    } else if (!IsOneOperand()) {
      for (const Part& part : recipe_.parts) Add(part);
    }
    return std::move(plan_);
  }

 private:
  // A message's operand is the sender's, of the shape the receiver states.
  const Shape& OperandOf(const Part& part) const {
    const bool is_message = collective_.opcode == Opcode::kRecv;
    return is_message ? *recipe_.shape : *collective_.operands[static_cast<size_t>(part.operand)];
  }

  bool IsOneOperand() {
    const Part& part = recipe_.parts[0];
    const bool same_dims = std::equal(part.sizes.begin(), part.sizes.end(),
                                      recipe_.shape->dims.begin(), recipe_.shape->dims.end());
    if (recipe_.parts.size() > 1 || !IsWhole(part, OperandOf(part)) || !same_dims) return false;
    NumberOf(part);
    return true;
  }

  void Add(const Part& part) {
    const int number = NumberOf(part);
    const bool is_empty = std::find(part.sizes.begin(), part.sizes.end(), 0) != part.sizes.end();
    if (is_empty) return;
    const std::span<const int64_t> dims =
        plan_.fold ? std::span<const int64_t>(part.sizes) : recipe_.shape->dims;
    plan_.pieces.push_back(PieceOf(part, number, OperandOf(part), dims));
  }

  int NumberOf(const Part& part) {
    plan_.sources.push_back(
        {static_cast<size_t>(part.member), static_cast<size_t>(part.operand)});
    return static_cast<int>(plan_.sources.size()) - 1;
  }

  const Collective& collective_;
  const LeafRecipe& recipe_;
  LeafPlan plan_;
};

}  // namespace

MeetingPlan PlanMeeting(const Collective& collective, const std::vector<DeviceId>& devices) {
  MeetingPlan plan;
  const size_t count = ResultIsShared(collective) ? 1 : devices.size();
  for (size_t position = 0; position < count; ++position) {
    std::vector<LeafPlan>& leaves = plan.members.emplace_back();
    if (collective.opcode == Opcode::kRecv && position == 0) continue;
    const Result<std::vector<LeafRecipe>> recipe =
        RecipeFor(collective, static_cast<int64_t>(position), devices, {});
    HV_CHECK(recipe.has_value(), "a recipe without controls cannot be undefined");
    for (const LeafRecipe& leaf : *recipe) leaves.push_back(LeafPlanner(collective, leaf).Plan());
  }
  return plan;
}

const MeetingPlan& MeetingPlans::Of(const Collective& collective, int64_t group,
                                    const std::vector<DeviceId>& devices) {
  if (devices.size() > kMostKept) return last_ = PlanMeeting(collective, devices);
  MeetingPlan& kept = kept_[{&collective, group}];
  if (kept.members.empty()) kept = PlanMeeting(collective, devices);
  return kept;
}

}  // namespace hv
