// Slices, calls, and puts the outputs of all steps together at the end.
#include "eval/scan.h"

#include <utility>

#include "eval/native_kernels.h"
#include "eval/pure_call.h"
#include "hlo/view.h"

namespace hv {
namespace {

// Element t along dimension d of an array of `dims`: as a piece that reads it, or that writes it.
Piece StepPiece(std::span<const int64_t> dims, size_t d, int64_t t, bool writes) {
  const std::vector<int64_t> strides = RowMajorStrides(dims);
  Piece piece;
  int64_t packed = 1;
  for (size_t k = dims.size(); k-- > 0;) {
    if (k == d) continue;
    const Digit digit =
        writes ? Digit{dims[k], packed, strides[k]} : Digit{dims[k], strides[k], packed};
    piece.digits.insert(piece.digits.begin(), digit);
    packed *= dims[k];
  }
  (writes ? piece.out_base : piece.in_base) = t * strides[d];
  Normalize(&piece);
  return piece;
}

std::vector<Value> ElementsOf(const Value& value) {
  if (!value.shape()->IsTuple()) return {value};
  return {value.elements().begin(), value.elements().end()};
}

}  // namespace

Result<Value> EvaluateScan(Domain& domain, const KernelCall& call, std::vector<Value> operands,
                           int64_t replica, int64_t partition) {
  const Instruction& scan = call.instruction;
  const auto d = static_cast<size_t>(scan.Ints(Attr::kDimensions)[0]);
  const auto carries = static_cast<size_t>(scan.Int(Attr::kNumCarries, 0));
  const size_t inputs = operands.size() - carries;
  const ComputationIndex body = scan.Computation(Attr::kToApply);
  const Computation& step = call.module.At(body);
  const std::span<const Shape* const> shapes = ResultShapes(call);
  const size_t outputs = shapes.size() - carries;
  const Shape* along = inputs > 0 ? operands[0].shape() : shapes[0];
  if (along->IsTuple() || along->element_count == 0) return NotImplemented(call, "no elements");
  const int64_t steps = along->dims[d];

  std::vector<Value> state(operands.begin() + static_cast<std::ptrdiff_t>(inputs), operands.end());
  std::vector<std::vector<Value>> collected(outputs);
  std::vector<Pieces> pieces(outputs);
  for (int64_t k = 0; k < steps; ++k) {
    const int64_t t = scan.Bool(Attr::kIsReverse) ? steps - 1 - k : k;
    std::vector<Value> arguments;
    for (size_t i = 0; i < inputs; ++i) {
      const Shape* slice = step.At(step.parameters[i]).shape;
      HV_ASSIGN(Value value, domain.Move(slice, {StepPiece(operands[i].shape()->dims, d, t, false)},
                                         {operands[i]}));
      arguments.push_back(std::move(value));
    }
    arguments.insert(arguments.end(), state.begin(), state.end());
    HV_ASSIGN(const Value result,
              CallPure(domain, call.module, body, std::move(arguments), {replica, partition}));
    std::vector<Value> elements = ElementsOf(result);
    for (size_t o = 0; o < outputs; ++o) {
      pieces[o].push_back(StepPiece(shapes[o]->dims, d, t, true));
      pieces[o].back().operand = static_cast<int>(k);
      collected[o].push_back(std::move(elements[o]));
    }
    state.assign(elements.begin() + static_cast<std::ptrdiff_t>(outputs), elements.end());
  }
  std::vector<Value> results;
  for (size_t o = 0; o < outputs; ++o) {
    HV_ASSIGN(Value stacked, domain.Move(shapes[o], pieces[o], std::move(collected[o])));
    results.push_back(std::move(stacked));
  }
  results.insert(results.end(), state.begin(), state.end());
  return PackResults(call, std::move(results));
}

}  // namespace hv
