// Shape rule of windows moved over an array: reduce-window, select-and-scatter, convolution. Source:
// XLA operation semantics, ReduceWindow and ConvWithGeneralPadding.
#pragma once

#include <span>
#include <vector>

#include "hlo/rules.h"

namespace hv {

// Number of window positions in each dimension of `dims`, or "window-rank", "window-range".
Result<std::vector<int64_t>> WindowPositions(const OpContext& context, Dims dims,
                                             std::span<const WindowDim> window);

}  // namespace hv
