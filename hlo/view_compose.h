// One movement after another as one movement: what a view reads of another view's result, it can read
// from where that one took it.
#pragma once

#include <optional>

#include "hlo/view.h"

namespace hv {

// `outer` reads the result of a view that `inner`, its only piece, fills completely. The piece that
// moves the same elements straight from inner's operand, whose number it bears; nothing if a digit of
// `outer` cuts across digits of `inner` in a way that no digits describe.
std::optional<Piece> Compose(const Piece& outer, const Piece& inner);

}  // namespace hv
