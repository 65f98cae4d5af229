// From the first instruction to the last: each takes in the operands that are movement themselves and
// that nobody else reads.
#include "sim/view_plan.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/op.h"
#include "hlo/view_compose.h"
#include "hlo/view_ops.h"

namespace hv {
namespace {

constexpr int64_t kSmall = 4096;  // elements that may live longer than they would

class ViewComposer {
 public:
  explicit ViewComposer(ComputationPlan* plan)
      : plan_(plan),
        computation_(*plan->computation),
        readers_(plan->steps.size()),
        pinned_(plan->steps.size()),
        views_(plan->steps.size()) {
    for (size_t i = 0; i < views_.size(); ++i) {
      const Step& step = plan->steps[i];
      for (const InstructionIndex p : step.instruction->ControlPredecessors()) {
        pinned_[i] = pinned_[static_cast<size_t>(p)] = true;
      }
      if (step.kind == StepKind::kSkip) continue;
      for (const InstructionIndex o : step.operands) {
        readers_[static_cast<size_t>(o)].push_back(static_cast<InstructionIndex>(i));
      }
    }
  }

  void Run() {
    for (size_t i = 0; i < views_.size(); ++i) {
      const auto index = static_cast<InstructionIndex>(i);
      if (!IsMovement(index)) continue;
      views_[i] = ViewOf(index);
      TakeIn(index);
    }
  }

 private:
  Step& StepOf(InstructionIndex i) { return plan_->steps[static_cast<size_t>(i)]; }
  const Step& StepOf(InstructionIndex i) const { return plan_->At(i); }
  const Shape& ShapeOf(InstructionIndex i) const { return *computation_.At(i).shape; }
  const ComposedView& View(InstructionIndex i) const { return *views_[static_cast<size_t>(i)]; }
  const std::vector<InstructionIndex>& ReadersOf(InstructionIndex i) const {
    return readers_[static_cast<size_t>(i)];
  }

  // Is it a view whose pieces do not depend on data?
  bool IsMovement(InstructionIndex index) const {
    const Instruction& instruction = computation_.At(index);
    const Opcode opcode = instruction.opcode;
    if (StepOf(index).kind != StepKind::kLocal || pinned_[static_cast<size_t>(index)] ||
        Definition(instruction).kernel != KernelKind::kView ||
        opcode == Opcode::kDynamicSlice || opcode == Opcode::kDynamicUpdateSlice) {
      return false;
    }
    if (opcode != Opcode::kBitcast) return true;
    const Shape& from = ShapeOf(instruction.operands[0]);
    return from.type == instruction.shape->type && BitcastFactors(from, *instruction.shape);
  }

  ComposedView ViewOf(InstructionIndex index) const {
    const Instruction& instruction = computation_.At(index);
    std::vector<const Shape*> shapes;
    for (const InstructionIndex o : instruction.operands) shapes.push_back(&ShapeOf(o));
    ComposedView view{instruction.shape,
                      {instruction.operands.begin(), instruction.operands.end()},
                      Definition(instruction).view(instruction, shapes, {})};
    for (size_t k = view.operands.size(); k-- > 0;) {  // each operand once
      const auto first = std::find(view.operands.begin(), view.operands.end(), view.operands[k]);
      const auto number = first - view.operands.begin();
      if (number < static_cast<std::ptrdiff_t>(k)) Merge(k, static_cast<size_t>(number), &view);
    }
    return view;
  }

  // Replaces operands of `index` that can be read through, one by one.
  void TakeIn(InstructionIndex index) {
    ComposedView composed = View(index);
    std::vector<InstructionIndex> taken;
    for (const InstructionIndex o : computation_.At(index).operands) {
      if (std::find(taken.begin(), taken.end(), o) != taken.end() || !IsReadBy(o, index)) continue;
      std::optional<ComposedView> next = Through(o, composed);
      if (!next || !MayLive(View(o).operands[0], index)) continue;
      composed = std::move(*next);
      taken.push_back(o);
    }
    if (taken.empty()) return;
    for (const InstructionIndex o : taken) {
      StepOf(o).kind = StepKind::kSkip;
      std::vector<InstructionIndex>& readers =
          readers_[static_cast<size_t>(View(o).operands[0])];
      std::replace(readers.begin(), readers.end(), o, index);
    }
    views_[static_cast<size_t>(index)] = composed;
    Step& step = StepOf(index);
    step.kind = StepKind::kMove;
    step.program = static_cast<int32_t>(plan_->views.size());
    plan_->views.push_back(std::move(composed));
    step.operands = plan_->views.back().operands;
  }

  // Is `o` movement of one operand that only `reader` reads?
  bool IsReadBy(InstructionIndex o, InstructionIndex reader) const {
    const std::optional<ComposedView>& view = views_[static_cast<size_t>(o)];
    if (!view || view->pieces.size() != 1 || view->operands.size() != 1 ||
        o == computation_.root || StepOf(o).alike != StepOf(reader).alike) {
      return false;
    }
    return std::all_of(ReadersOf(o).begin(), ReadersOf(o).end(),
                       [reader](InstructionIndex r) { return r == reader; });
  }

  // `view` with what it reads of `o` read from the operand of `o`.
  std::optional<ComposedView> Through(InstructionIndex o, ComposedView view) const {
    const auto number = static_cast<size_t>(
        std::find(view.operands.begin(), view.operands.end(), o) - view.operands.begin());
    for (Piece& piece : view.pieces) {
      if (piece.operand != static_cast<int>(number)) continue;
      std::optional<Piece> composed = Compose(piece, View(o).pieces[0]);
      if (!composed) return std::nullopt;
      piece = std::move(*composed);
      piece.operand = static_cast<int>(number);
    }
    const InstructionIndex source = View(o).operands[0];
    const auto known = static_cast<size_t>(
        std::find(view.operands.begin(), view.operands.end(), source) - view.operands.begin());
    if (known == view.operands.size()) {
      view.operands[number] = source;
    } else {
      Merge(number, known, &view);
    }
    return view;
  }

  // Operand number `from` is operand number `to`.
  static void Merge(size_t from, size_t to, ComposedView* view) {
    view->operands.erase(view->operands.begin() + static_cast<std::ptrdiff_t>(from));
    const auto last = static_cast<int>(from), kept = static_cast<int>(to - (to > from ? 1 : 0));
    for (Piece& piece : view->pieces) {
      if (piece.operand == last) {
        piece.operand = kept;
      } else if (piece.operand > last) {
        --piece.operand;
      }
    }
  }

  // May `source` be read as late as at `index`? It must be alive then anyway, or stand for no less
  // than all that is read of it; and nobody in between who might have it to himself.
  bool MayLive(InstructionIndex source, InstructionIndex index) const {
    if (source == computation_.root || StepOf(source).kind == StepKind::kConstant ||
        ShapeOf(source).element_count <= kSmall) {
      return true;
    }
    int64_t elements = 0;
    bool in_between = false;
    for (const InstructionIndex r : ReadersOf(source)) {
      if (r > index) return true;
      const bool is_part = r < index && views_[static_cast<size_t>(r)] && IsReadBy(r, index);
      if (is_part) elements += ShapeOf(r).element_count;
      in_between |= r < index && !is_part;
    }
    return !in_between && elements >= ShapeOf(source).element_count;
  }

  ComputationPlan* plan_;
  const Computation& computation_;
  std::vector<std::vector<InstructionIndex>> readers_;  // by instruction: steps that read its value
  std::vector<bool> pinned_;                             // has a control edge
  std::vector<std::optional<ComposedView>> views_;  // by instruction: movement, as composed so far
};

}  // namespace

void ComposeViews(ComputationPlan* plan) { ViewComposer(plan).Run(); }

}  // namespace hv
