// Reads literals of a known shape, checking counts, ranges and roundings. Source: hlo_text.md
// section 6.
#pragma once

#include "hlo/literal.h"
#include "hlo/reader.h"

namespace hv {

// A literal of `shape` as it stands in constant(...): null after reporting what is wrong. Nothing
// is allocated for more elements than the text can hold.
const Literal* ReadLiteral(Reader* in, const Shape* shape);

}  // namespace hv
