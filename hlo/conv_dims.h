// Convolution dimension labels: `b01f_01io->b01f`. Source: hlo_text.md section 9.
#pragma once

#include <string_view>

#include "base/arena.h"
#include "hlo/attribute.h"

namespace hv {

// Fills `*dims` from `text` (kept, not copied); false if the labels do not fit together.
bool ParseConvDims(std::string_view text, Arena* arena, ConvDims* dims);

}  // namespace hv
