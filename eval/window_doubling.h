// reduce-window for reducers that may be regrouped: one dimension after the other, each by windows
// of 1, 2, 4, .. elements that double, so that a window of w costs log w steps over long spans.
#pragma once

#include <optional>
#include <span>

#include "eval/combiner.h"
#include "eval/value.h"
#include "hlo/attribute.h"

namespace hv {

// The folds of the windows without an initial value, an array of `shape`; nothing where this is no
// way to go: reducers whose order counts, dilation, windows in padding alone, windows so small that
// visiting their positions costs less.
Result<std::optional<Value>> FoldWindowsByDoubling(std::span<const WindowDim> window,
                                                   const Value& input, const Shape* shape,
                                                   Combiner& combiner);

}  // namespace hv
