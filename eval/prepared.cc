// Native instructions made ready to run many times, as loops run them: movement, dynamic slices,
// copies and dots. Scalar functions run in groups, and what the rest does hides its dispatch.
#include <algorithm>
#include <utility>

#include "eval/domain.h"
#include "eval/dot.h"
#include "eval/move.h"
#include "eval/native_kernels.h"
#include "hlo/view.h"
#include "hlo/view_ops.h"

namespace hv {
namespace {

using Shapes = std::vector<const Shape*>;

class PreparedMove : public PreparedKernel {
 public:
  PreparedMove(Pieces pieces, const Shape* shape) : pieces_(std::move(pieces)), shape_(shape) {}
  Value Run(std::span<Value> operands) override { return MovePieces(shape_, pieces_, operands); }

 private:
  Pieces pieces_;
  const Shape* shape_;
};

// dynamic-slice and dynamic-update-slice: the piece of the window moves with the starts.
class PreparedWindow : public PreparedKernel {
 public:
  PreparedWindow(const Instruction& instruction, const Shapes& operands)
      : slices_(instruction.opcode == Opcode::kDynamicSlice), shape_(instruction.shape) {
    const Shape& whole = *operands[0];
    const Shape& window = slices_ ? *shape_ : *operands[1];
    const std::vector<int64_t> strides = RowMajorStrides(whole.dims);
    for (size_t d = 0; d < strides.size(); ++d) {
      starts_.push_back({std::max<int64_t>(whole.dims[d] - window.dims[d], 0), strides[d]});
    }
    pieces_ = Definition(instruction).view(instruction, operands,
                                           std::vector<int64_t>(strides.size()));
  }
  Value Run(std::span<Value> operands) override {
    const size_t data = operands.size() - starts_.size();
    int64_t base = 0;
    for (size_t d = 0; d < starts_.size(); ++d) {
      base += std::clamp<int64_t>(IntegerOf(operands[data + d]), 0, starts_[d].last) *
              starts_[d].stride;
    }
    if (slices_ && !pieces_.empty()) pieces_[0].in_base = base;
    if (!slices_ && pieces_.size() > 1) pieces_[1].out_base = base;
    return MovePieces(shape_, pieces_, operands.first(data));
  }
  bool Overwrites() const override { return !slices_; }

 private:
  struct Start {
    int64_t last;  // what greater starts are clamped to
    int64_t stride;
  };
  const bool slices_;
  const Shape* shape_;
  std::vector<Start> starts_;
  Pieces pieces_;  // for starts of zero
};

class PreparedSame : public PreparedKernel {
 public:
  explicit PreparedSame(const Shape* shape) : shape_(shape) {}
  Value Run(std::span<Value> operands) override {
    return std::move(operands[0]).WithShape(shape_);
  }

 private:
  const Shape* shape_;
};

std::unique_ptr<PreparedKernel> PrepareView(const KernelCall& call, const Shapes& operands) {
  const Opcode opcode = call.instruction.opcode;
  if (opcode == Opcode::kDynamicSlice || opcode == Opcode::kDynamicUpdateSlice) {
    const size_t data = opcode == Opcode::kDynamicSlice ? 1 : 2;
    const bool scalars = std::all_of(operands.begin() + static_cast<std::ptrdiff_t>(data),
                                     operands.end(), [](const Shape* s) { return s->IsScalar(); });
    if (!scalars || operands.size() - data != operands[0]->dims.size()) return nullptr;
    return std::make_unique<PreparedWindow>(call.instruction, operands);
  }
  if (opcode == Opcode::kBitcast && !BitcastFactors(*operands[0], *call.shape)) return nullptr;
  return std::make_unique<PreparedMove>(
      Definition(call.instruction).view(call.instruction, operands, {}), call.shape);
}

}  // namespace

std::unique_ptr<PreparedKernel> PrepareNative(const KernelCall& call) {
  Shapes operands;
  for (const InstructionIndex o : call.instruction.operands) {
    operands.push_back(call.computation.At(o).shape);
    if (!operands.back()->IsArray()) return nullptr;
  }
  switch (Definition(call.instruction).kernel) {
    case KernelKind::kView: return PrepareView(call, operands);
    case KernelKind::kAlias:
      if (operands.size() != 1 || !call.shape->IsArray() || operands[0]->type != call.shape->type ||
          operands[0]->element_count != call.shape->element_count) {
        return nullptr;
      }
      return std::make_unique<PreparedSame>(call.shape);
    case KernelKind::kContract:
      if (call.instruction.opcode != Opcode::kDot) return nullptr;
      return PrepareDot(call, *operands[0], *operands[1]);
    default: return nullptr;
  }
}

}  // namespace hv
