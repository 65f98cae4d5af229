#include "report/units.h"

#include <fmt/format.h>

#include <iterator>

namespace hv {

std::string FormatBytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double scaled = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; scaled >= 1024 && unit + 1 < std::size(kUnits); ++unit) scaled /= 1024;
  return scaled < 1000 ? fmt::format("{:.3g} {}", scaled, kUnits[unit])
                       : fmt::format("{:.0f} {}", scaled, kUnits[unit]);
}

std::string FormatSeconds(double seconds) {
  if (seconds <= 0) return "0 s";
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return seconds < 1000 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string FormatRatio(double ratio) { return fmt::format("{:.3g}", ratio); }

std::string FormatChance(double chance) { return fmt::format("{:.2g}", chance); }

}  // namespace hv
