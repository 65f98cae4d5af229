// Control that is data but has few values: a dynamic-slice whose start can be in few places is a
// selection among the windows there, a conditional a selection among the results of its branches.
#include <algorithm>
#include <utility>

#include "hlo/view.h"
#include "verify/symbolic_domain.h"
#include "verify/symbolic_leaves.h"

namespace hv {
namespace {

constexpr int64_t kMostWindows = 16;

}  // namespace

std::optional<SymbolicTensor> SymbolicDomain::Select(const Term& predicate, const SymbolicTensor& a,
                                                     const SymbolicTensor& b, const Shape& shape) {
  if (shape.element_count == 0) return SymbolicTensor({});
  const SymbolicTensor condition = Spread(maker_.Uniform(predicate, 1), shape);
  const SymbolicTensor* all[] = {&condition, &a, &b};
  auto cells = maker_.Zip(all);
  if (!cells) return std::nullopt;
  std::vector<SymbolicPiece> pieces;
  for (ZippedCell& cell : *cells) {
    Term term = algebra_.Scalar(ScalarFn::kSelect, shape.type, std::move(cell.terms));
    pieces.push_back({std::move(cell.region), std::move(term)});
  }
  return maker_.Simplified(std::move(pieces));
}

Term SymbolicDomain::Equals(const Term& term, int64_t value) {
  const int64_t equal = algebra_.Function(ScalarFn::kCompare, "EQ");
  return algebra_.Scalar(equal, ElementType::kPred,
                         {term, algebra_.Integer(term.node->type, value)});
}

// The starts, clamped to where the window fits; nothing if they have too many values together.
std::optional<std::vector<Term>> SymbolicDomain::FewStarts(std::span<const Value> starts,
                                                           std::span<const int64_t> dims,
                                                           std::span<const int64_t> window) {
  std::vector<Term> clamped;
  int64_t windows = 1;
  for (const Value& start : starts) {
    const SymbolicTensor tensor = TensorOf(start);
    for (int64_t i = 0; i < start.element_count(); ++i) {
      std::vector<ReadPart> parts;
      if (!maker_.Read(tensor, Region{i, {}}, &parts)) return std::nullopt;
      const ElementType type = parts[0].term.node->type;
      const int64_t last = dims[clamped.size()] - window[clamped.size()];
      const IntegerRange all = RangeOfType(type);
      Term term = algebra_.Scalar(ScalarFn::kMaximum, type,
                                  {std::move(parts[0].term), algebra_.Integer(type, 0)});
      if (!all.known() || last < all.high) {
        term = algebra_.Scalar(ScalarFn::kMinimum, type,
                               {std::move(term), algebra_.Integer(type, last)});
      }
      if (!term.node->range.known()) return std::nullopt;
      windows *= term.node->range.Count(kMostWindows + 1);
      if (windows > kMostWindows) return std::nullopt;
      clamped.push_back(std::move(term));
    }
  }
  return clamped;
}

// Windows in row-major order of the starts, the last one where no other is picked.
Result<Value> SymbolicDomain::DataDependentView(const KernelCall& call,
                                                std::vector<Value> operands) {
  const size_t data = call.instruction.opcode == Opcode::kDynamicSlice ? 1 : 2;
  const std::span<const int64_t> window = data == 1 ? call.shape->dims : operands[1].shape()->dims;
  const auto starts =
      FewStarts(std::span<const Value>(operands).subspan(data), operands[0].shape()->dims, window);
  if (!starts) return Uninterpreted(call, operands);
  operands.resize(data);
  std::vector<const Shape*> shapes;
  for (const Value& v : operands) shapes.push_back(v.shape());
  std::vector<int64_t> at;
  for (const Term& start : *starts) at.push_back(start.node->range.high);
  std::optional<SymbolicTensor> result;
  while (true) {
    const Pieces pieces = Definition(call.instruction).view(call.instruction, shapes, at);
    auto moved = Move(call.shape, pieces, operands);
    if (!moved) return moved;
    SymbolicTensor here = TensorOf(*moved);
    if (result) {
      Term picked = algebra_.Integer(ElementType::kPred, 1);
      for (size_t d = 0; d < at.size(); ++d) {
        picked = algebra_.Scalar(ScalarFn::kAnd, ElementType::kPred,
                                 {std::move(picked), Equals((*starts)[d], at[d])});
      }
      result = Select(picked, here, *result, *call.shape);
      if (!result) return Made(call, std::nullopt);
    } else {
      result = std::move(here);
    }
    size_t d = at.size();
    while (d > 0 && at[d - 1] == (*starts)[d - 1].node->range.low) {
      at[d - 1] = (*starts)[d - 1].node->range.high;
      --d;
    }
    if (d == 0) return Wrap(call.shape, std::move(*result));
    --at[d - 1];
  }
}

bool SymbolicDomain::SameSelector(const Value& a, const Value& b) const {
  if (a.IsNative() && b.IsNative()) return SameBits(a, b);
  const auto* x = dynamic_cast<const SymbolicTensor*>(a.extended());
  const auto* y = dynamic_cast<const SymbolicTensor*>(b.extended());
  return x != nullptr && y != nullptr && x->pieces() == y->pieces();
}

// For pred the first branch is that of true; an index out of range picks the last.
Result<Value> SymbolicDomain::Choose(const Value& selector, std::vector<Value> branches) {
  const Term picks = TensorOf(selector).pieces()[0].term;
  const Shape* shape = branches[0].shape();
  std::vector<const Shape*> arrays;
  AppendLeafShapes(shape, &arrays);
  std::vector<std::vector<Value>> leaves(branches.size());
  for (size_t b = 0; b < branches.size(); ++b) {
    AppendLeaves(branches[b], &leaves[b]);
    const bool known = std::all_of(leaves[b].begin(), leaves[b].end(), [](const Value& leaf) {
      return leaf.IsNative() || dynamic_cast<const SymbolicTensor*>(leaf.extended()) != nullptr;
    });
    if (known && leaves[b].size() == arrays.size()) continue;
    return Unsupported("control-is-data", "a branch that data picks yields more than arrays");
  }
  std::vector<SymbolicTensor> chosen;
  for (size_t i = 0; i < arrays.size(); ++i) {
    SymbolicTensor result = TensorOf(leaves.back()[i]);
    for (size_t b = branches.size() - 1; b-- > 0;) {
      const Term here = IsPred(picks.node->type) ? picks : Equals(picks, static_cast<int64_t>(b));
      auto both = Select(here, TensorOf(leaves[b][i]), result, *arrays[i]);
      if (!both) return Unsupported("too-many-pieces", "conditional: too many pieces");
      result = std::move(*both);
    }
    chosen.push_back(std::move(result));
  }
  size_t next = 0;
  return BuildFromLeaves(
      shape, [&](const Shape* array) { return Wrap(array, std::move(chosen[next++])); });
}

}  // namespace hv
