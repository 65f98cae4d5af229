// A copy of more bytes than any cache holds: stores go past the caches, so that the lines they fill
// are not read first.
#pragma once

#include <cstddef>

namespace hv {

// The spans do not overlap. For what is read again soon, memcpy is better.
void StreamCopy(const std::byte* from, std::byte* to, size_t bytes);

}  // namespace hv
