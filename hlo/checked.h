// Arithmetic on sizes from untrusted text: 128 bits cannot overflow on a few sums and products of
// 64-bit numbers; Narrow brings the result back.
#pragma once

#include <cstdint>
#include <optional>

namespace hv {

__extension__ typedef __int128 Wide;

inline std::optional<int64_t> Narrow(Wide value) {
  if (value < INT64_MIN || value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace hv
