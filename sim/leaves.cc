#include "sim/leaves.h"

#include <cstring>
#include <utility>

#include "base/parallel.h"
#include "hlo/view.h"
#include "sim/collective_plan.h"

namespace hv {
namespace {

constexpr int64_t kCopiedAtOnce = 1 << 20;  // bytes; less is not worth a second core

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

Value PrivateCopy(Value value) {
  if (value.shape()->IsTuple()) {
    std::vector<Value> elements(value.elements().begin(), value.elements().end());
    for (Value& element : elements) element = PrivateCopy(std::move(element));
    return Value::Tuple(value.shape(), std::move(elements));
  }
  if (!value.IsDense() || value.IsUnique()) return value;
  Value copy = value.encoding() == Encoding::kNative
                   ? Value::NewNative(value.shape())
                   : Value::NewCode(value.shape(), value.element_bytes());
  const std::span<const std::byte> from = value.bytes();
  const std::span<std::byte> to = copy.MutableBytes();
  ParallelFor(static_cast<int64_t>(from.size()), kCopiedAtOnce, [&](int64_t begin, int64_t end) {
    std::memcpy(to.data() + begin, from.data() + begin, static_cast<size_t>(end - begin));
  });
  return copy;
}

}  // namespace hv
