// Bytes, seconds and ratios as people read them. Pure and independent of the locale.
#pragma once

#include <cstdint>
#include <string>

namespace hv {

std::string FormatBytes(int64_t bytes);     // "896 B", "3.5 KiB", "16 GiB"
std::string FormatSeconds(double seconds);  // "0 s", "14.2 us", "1.5 ms", "2.25 s"
std::string FormatRatio(double ratio);      // "0.5", "1.33"
std::string FormatChance(double chance);    // "0", "5e-19"

}  // namespace hv
