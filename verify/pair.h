// The two modules of a verification on their mesh, and running either of them.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "hlo/module.h"
#include "sim/mesh.h"
#include "sim/run.h"
#include "verify/input_space.h"

namespace hv {

enum class Side : uint8_t { kBefore, kAfter };
inline constexpr std::array<Side, 2> kSides = {Side::kBefore, Side::kAfter};
constexpr std::string_view ToString(Side side) {
  return side == Side::kBefore ? "before" : "after";
}

struct Pair {
  Module before, after;
  Mesh mesh;
  int64_t memory_limit_bytes = 0;  // of one run; 0: what the machine has
  const Module& of(Side side) const { return side == Side::kBefore ? before : after; }
};

// Bytes a run may take.
int64_t MemoryLimit(const Pair& pair);

using Outputs = std::map<DeviceId, Value>;

// One place in the outputs.
struct OutputPlace {
  DeviceId device;
  int64_t output = 0;  // leaf of the result
  int64_t element = 0;
};

// Is a difference at this place meant?
using DifferenceFilter = std::function<bool(const OutputPlace&)>;

// The first place, by device, leaf and element, whose native values differ: other numbers (-0 and 0
// are one number, NaNs are one), for types that are not floating point other bits. A filter, if
// there is one, passes over differences that are not meant.
std::optional<OutputPlace> FirstNativeDifference(const Outputs& before, const Outputs& after,
                                                 const DifferenceFilter& filter = nullptr);

// The native value at a place, as text.
std::string TextAt(const Outputs& outputs, const OutputPlace& place);

}  // namespace hv
