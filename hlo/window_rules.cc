#include "hlo/window_rules.h"

#include <fmt/format.h>

#include "hlo/checked.h"

namespace hv {
namespace {

// Size of `size` elements with `dilation - 1` holes between neighbours.
Wide Dilated(int64_t size, int64_t dilation) {
  return size == 0 ? Wide{0} : Wide{size - 1} * dilation + 1;
}

}  // namespace

Result<std::vector<int64_t>> WindowPositions(const OpContext& context, Dims dims,
                                             std::span<const WindowDim> window) {
  if (window.size() != dims.size()) {
    return Wrong(context, Attr::kWindow, "window-rank",
                 fmt::format("window of {} dimensions over {}", window.size(), dims.size()));
  }
  std::vector<int64_t> positions;
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim& w = window[d];
    const Wide padded = Dilated(dims[d], w.base_dilation) + w.low + w.high;
    if (w.size < 1 || w.stride < 1 || w.base_dilation < 1 || w.window_dilation < 1 || padded < 0) {
      return Wrong(context, Attr::kWindow, "window-range",
                   fmt::format("window of size {}, stride {}, padding {}_{}, dilations {} and {} "
                               "over dimension {} of size {}", w.size, w.stride, w.low, w.high,
                               w.base_dilation, w.window_dilation, d, dims[d]));
    }
    const Wide span = Dilated(w.size, w.window_dilation);
    const Wide count = span > padded ? Wide{0} : (padded - span) / w.stride + 1;
    positions.push_back(Narrow(count).value_or(INT64_MAX));
  }
  return positions;
}

}  // namespace hv
