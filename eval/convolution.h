// convolution over any ring: which products meet in which sum, in the order of the language.
// Source: hlo_ops 3.15.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "eval/value.h"
#include "hlo/module.h"

namespace hv {

// sums[i] += factor * row[i].
using MultiplyAddFn = std::function<void(const std::byte* factor, const std::byte* row,
                                         std::byte* sums, size_t count)>;

// Not one of the back ends' backward kinds, which relate the shapes in another way.
bool IsForward(const Instruction& convolution);

// Operands of one width; `shape` is the result's (its element type may have another width). Sums
// start from all-zero bytes.
Value ConvolveWith(const Instruction& convolution, const Shape* shape, const Value& lhs,
                   const Value& rhs, const MultiplyAddFn& multiply_add);

}  // namespace hv
