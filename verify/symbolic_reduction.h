// Reductions and contractions over symbolic tensors: operands are read over a common domain of kept
// and bound digits, and what the parts contribute to one element is folded.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hlo/attribute.h"
#include "hlo/module.h"
#include "verify/symbolic_tensor.h"

namespace hv {

// One operand of a reduction: its tensor and how the common domain reads it (one stride per digit),
// from element `base` on.
struct ReductionOperand {
  const SymbolicTensor* tensor;
  std::vector<int64_t> strides;
  int64_t base = 0;
};

// The common domain: the first `kept` digits are the result's, row-major, the others are bound.
struct ReductionDomain {
  Extents extents;
  size_t kept = 0;
};

struct ReductionSpec {
  ScalarFn fn = ScalarFn::kAdd;
  ElementType type = ElementType::kF32;  // in which it is folded
};

// result[i] = init, and fn over j of body(terms at (i, j)). `init` may be empty.
using TermFn = std::function<Term(std::vector<Term>)>;
std::optional<SymbolicTensor> ReduceTensors(TensorMaker* maker, const ReductionSpec& spec,
                                            const ReductionDomain& domain,
                                            std::span<const ReductionOperand> operands,
                                            const TermFn& body, const std::optional<Term>& init,
                                            const TermFn& finish);

// Domain and operand strides of a reduce over `dimensions`.
ReductionDomain DomainOfReduce(const Shape& operand, std::span<const int64_t> dimensions,
                               std::vector<int64_t>* strides);
// A window as a reduction over its positions. The operand is read on the grid of all places that
// windows look at, of which `elements` (of operand 0) says where its elements lie, if any does; the
// others (padding, holes of a dilation) hold nothing.
struct WindowDomain {
  ReductionDomain domain;
  std::vector<int64_t> strides;  // of the grid
  int64_t places = 1;
  std::optional<Piece> elements;
};
// Nothing for a grid of more places than can be counted.
std::optional<WindowDomain> DomainOfWindow(std::span<const WindowDim> window, const Shape& operand,
                                           std::span<const int64_t> result_dims);
// A convolution: the result says how the grid of lhs is read over the common domain, `kernel` how rhs
// is.
std::optional<WindowDomain> DomainOfConvolution(const Instruction& convolution, const Shape& lhs,
                                                const Shape& rhs, const Shape& result,
                                                ReductionOperand* kernel);
// Domain and strides of both operands of a dot.
ReductionDomain DomainOfDot(const Instruction& dot, const Shape& lhs, const Shape& rhs,
                            std::vector<int64_t>* lhs_strides, std::vector<int64_t>* rhs_strides);

}  // namespace hv
