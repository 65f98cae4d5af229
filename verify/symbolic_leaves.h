// Values as lists of their array leaves and back; tokens and other handles left out.
#pragma once

#include <vector>

#include "eval/value.h"

namespace hv {

inline void AppendLeaves(const Value& value, std::vector<Value>* leaves) {
  if (value.shape()->IsTuple() && value.extended() == nullptr) {
    for (const Value& element : value.elements()) AppendLeaves(element, leaves);
  } else if (value.shape()->IsArray()) {
    leaves->push_back(value);
  }
}

inline void AppendLeafShapes(const Shape* shape, std::vector<const Shape*>* leaves) {
  for (const Shape* element : shape->elements) AppendLeafShapes(element, leaves);
  if (shape->IsArray()) leaves->push_back(shape);
}

// A value of `shape` whose array leaves are made by `make`, in order.
template <class Make>
Value BuildFromLeaves(const Shape* shape, const Make& make) {
  if (shape->IsTuple()) {
    std::vector<Value> elements;
    for (const Shape* element : shape->elements) elements.push_back(BuildFromLeaves(element, make));
    return Value::Tuple(shape, std::move(elements));
  }
  return shape->IsArray() ? make(shape) : Value::Token(shape);
}

}  // namespace hv
