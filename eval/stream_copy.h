// A copy of more bytes than any cache holds: stores go past the caches, so that the lines they fill
// are not read first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hv {

// Bytes of which caches keep nothing for later readers.
constexpr int64_t kBeyondCaches = int64_t{1} << 25;

// The spans do not overlap. For what is read again soon, memcpy is better.
void StreamCopy(const std::byte* from, std::byte* to, size_t bytes);

// The same for one of many spans; other threads see them all after FinishStreams().
void StreamLines(const std::byte* from, std::byte* to, size_t bytes);
void FinishStreams();

}  // namespace hv
