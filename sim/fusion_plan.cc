// From the last instruction to the first: each joins the group of all its readers or starts one.
#include "sim/fusion_plan.h"

#include <algorithm>
#include <vector>

namespace hv {
namespace {

constexpr int kNone = -1;
constexpr int64_t kWorthSharing = 4096;  // elements

class Fuser {
 public:
  Fuser(const Module& module, ComputationPlan* plan)
      : module_(module),
        plan_(plan),
        computation_(*plan->computation),
        readers_(Users(computation_)),
        group_of_(plan->steps.size(), kNone),
        pinned_(plan->steps.size()) {}

  void Run() {
    PinControlEdges();
    for (size_t i = plan_->steps.size(); i-- > 0;) Place(static_cast<InstructionIndex>(i));
    for (Group& group : groups_) Replace(&group);
  }

 private:
  struct Group {
    int64_t element_count = 0;
    std::vector<InstructionIndex> members;  // descending
    std::vector<InstructionIndex> operands;
    InstructionIndex late = kNone;          // the last operand that a step computes
  };

  const Instruction& At(InstructionIndex i) const { return computation_.At(i); }
  bool IsAlike(InstructionIndex i) const { return plan_->steps[static_cast<size_t>(i)].alike; }
  StepKind KindOf(InstructionIndex i) const { return plan_->steps[static_cast<size_t>(i)].kind; }

  void PinControlEdges() {
    for (size_t i = 0; i < pinned_.size(); ++i) {
      for (const InstructionIndex p : computation_.instructions[i].ControlPredecessors()) {
        pinned_[i] = true;
        pinned_[static_cast<size_t>(p)] = true;
      }
    }
  }

  void Place(InstructionIndex index) {
    if (KindOf(index) == StepKind::kSkip) return;
    const Instruction& instruction = At(index);
    const bool local = KindOf(index) == StepKind::kLocal && !pinned_[static_cast<size_t>(index)];
    if (local && IsConvertedBySum(index)) {
      plan_->steps[static_cast<size_t>(index)].kind = StepKind::kHandOn;
      NoteOperand(index);
      return;
    }
    const bool fits = local && (ElementwiseProgram::IsStep(computation_, instruction) ||
                                ElementwiseProgram::IsSame(computation_, instruction));
    const int common = fits ? GroupOfReaders(index) : kNone;
    if (common != kNone && Join(index, &groups_[static_cast<size_t>(common)])) {
      group_of_[static_cast<size_t>(index)] = common;
      return;
    }
    NoteOperand(index);
    if (!fits) return;
    group_of_[static_cast<size_t>(index)] = static_cast<int>(groups_.size());
    groups_.push_back({instruction.shape->element_count, {index}, OperandsFrom(instruction)});
  }

  // Sums of floats run in f64 whatever they read; f32 and f64 hold every narrower float exactly.
  bool IsConvertedBySum(InstructionIndex index) const {
    const Instruction& instruction = At(index);
    const ElementType type = instruction.shape->type;
    if (instruction.opcode != Opcode::kConvert || index == computation_.root) return false;
    const ElementType from = At(instruction.operands[0]).shape->type;
    const bool widens = (type == ElementType::kF32 || type == ElementType::kF64) && IsFloat(from) &&
                        BitWidth(from) < BitWidth(type);
    const std::vector<InstructionIndex>& readers = readers_[static_cast<size_t>(index)];
    if (!widens || readers.size() != 1) return false;
    const Instruction& sum = At(readers[0]);
    if (sum.opcode != Opcode::kReduce || sum.operands.size() != 2 || sum.operands[0] != index ||
        sum.operands[1] == index || sum.shape->type != type) {
      return false;
    }
    const Reducer reducer = RecognizeReducer(module_, sum.Computation(Attr::kToApply));
    return reducer.fn == ScalarFn::kAdd && reducer.element == type;
  }

  // The one group that all readers are members of.
  int GroupOfReaders(InstructionIndex index) const {
    if (index == computation_.root) return kNone;
    int common = kNone;
    for (const InstructionIndex r : readers_[static_cast<size_t>(index)]) {
      if (KindOf(r) == StepKind::kSkip) continue;
      const int group = group_of_[static_cast<size_t>(r)];
      if (group == kNone || (common != kNone && group != common)) return kNone;
      common = group;
    }
    return common;
  }

  // Operands as a group would need them, leaves taken in.
  std::vector<InstructionIndex> OperandsFrom(const Instruction& instruction) const {
    std::vector<InstructionIndex> operands;
    for (InstructionIndex o : instruction.operands) {
      if (IsLeaf(o)) {
        if (At(o).operands.empty()) continue;
        o = At(o).operands[0];
      }
      if (std::find(operands.begin(), operands.end(), o) == operands.end()) operands.push_back(o);
    }
    return operands;
  }

  bool IsLeaf(InstructionIndex i) const {
    return KindOf(i) == StepKind::kLocal && ElementwiseProgram::IsLeaf(computation_, At(i));
  }

  bool Join(InstructionIndex index, Group* group) const {
    const Instruction& instruction = At(index);
    if (instruction.shape->element_count != group->element_count) return false;
    if (group->members.size() == ElementwiseProgram::kMostSteps) return false;
    // What all devices have alike is computed once for them.
    const bool alike = IsAlike(index) == IsAlike(group->members.front());
    if (!alike && group->element_count >= kWorthSharing) return false;
    std::vector<InstructionIndex> operands = OperandsFrom(instruction);
    // Operands stay alive until the group runs. While an operand of the group is computed after
    // this instruction, one array in place of its result costs nothing, two would.
    if (group->late > index && Arrays(operands, group->element_count) > 1) return false;
    for (const InstructionIndex o : group->operands) {
      if (o == index) continue;
      if (std::find(operands.begin(), operands.end(), o) == operands.end()) operands.push_back(o);
    }
    if (operands.size() > ElementwiseProgram::kMostOperands) return false;
    group->operands = std::move(operands);
    group->members.push_back(index);
    return true;
  }

  int64_t Arrays(const std::vector<InstructionIndex>& operands, int64_t element_count) const {
    return std::count_if(operands.begin(), operands.end(), [&](InstructionIndex o) {
      return At(o).shape->element_count == element_count;
    });
  }

  // What is computed outside of its readers' groups.
  void NoteOperand(InstructionIndex index) {
    const StepKind kind = KindOf(index);
    if (kind == StepKind::kConstant || kind == StepKind::kElement || IsLeaf(index)) return;
    for (const InstructionIndex r : readers_[static_cast<size_t>(index)]) {
      const int group = group_of_[static_cast<size_t>(r)];
      if (group == kNone) continue;
      InstructionIndex& late = groups_[static_cast<size_t>(group)].late;
      late = std::max(late, index);
    }
  }

  bool IsCopy(InstructionIndex index) const {
    const Instruction& copy = At(index);
    return copy.opcode == Opcode::kCopy &&
           SameShapeAndLayout(*copy.shape, *At(copy.operands[0]).shape);
  }

  void Replace(Group* group) {
    std::reverse(group->members.begin(), group->members.end());
    auto program = ElementwiseProgram::Compile(computation_, group->members);
    if (!program) {
      const InstructionIndex alone = group->members[0];
      if (group->members.size() == 1 && IsCopy(alone)) {
        plan_->steps[static_cast<size_t>(alone)].kind = StepKind::kHandOn;
      }
      return;
    }
    for (const InstructionIndex m : group->members) {
      plan_->steps[static_cast<size_t>(m)].kind = StepKind::kSkip;
    }
    Step& last = plan_->steps[static_cast<size_t>(group->members.back())];
    last.kind = StepKind::kFused;
    last.program = static_cast<int32_t>(plan_->programs.size());
    plan_->programs.push_back(std::move(*program));
    last.operands = plan_->programs.back().operands();
  }

  const Module& module_;
  ComputationPlan* plan_;
  const Computation& computation_;
  const std::vector<std::vector<InstructionIndex>> readers_;
  std::vector<int> group_of_;  // by instruction
  std::vector<bool> pinned_;   // has a control edge
  std::vector<Group> groups_;
};

}  // namespace

void FuseElementwise(const Module& module, ComputationPlan* plan) { Fuser(module, plan).Run(); }

}  // namespace hv
