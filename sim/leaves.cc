#include "sim/leaves.h"

#include <utility>

#include "hlo/view.h"
#include "sim/collective_plan.h"

namespace hv {
namespace {

Value AssembleFrom(const Shape* shape, std::vector<Value>* leaves, size_t* next) {
  if (shape->IsToken()) return Value::Token(shape);
  if (!shape->IsTuple()) return std::move((*leaves)[(*next)++]);
  std::vector<Value> elements;
  elements.reserve(shape->elements.size());
  for (const Shape* element : shape->elements) {
    elements.push_back(AssembleFrom(element, leaves, next));
  }
  return Value::Tuple(shape, std::move(elements));
}

}  // namespace

Value Assemble(const Shape* shape, std::vector<Value> leaves) {
  size_t next = 0;
  return AssembleFrom(shape, &leaves, &next);
}

Result<Value> Zeros(Domain& domain, const Shape* shape) {
  std::vector<Value> leaves;
  for (const Shape* leaf : DataLeaves(shape)) {
    HV_ASSIGN(Value zeros, domain.Move(leaf, ZeroPieces(leaf->element_count), {}));
    leaves.push_back(std::move(zeros));
  }
  return Assemble(shape, std::move(leaves));
}

Pieces ZeroPieces(int64_t count) {
  if (count == 0) return {};
  Piece piece;
  piece.operand = Piece::kZeros;
  if (count > 1) piece.digits.push_back({count, 0, 1});
  return {piece};
}

}  // namespace hv
