// Devices as digits: lists of offsets that run regularly over the devices, and the groups of a
// collective, as nests of strides. What is regular costs the same for 8 and for 65 536 devices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hlo/view.h"
#include "sim/grouping.h"

namespace hv {

// Where one block is read and where it goes.
struct BlockMove {
  int64_t in = 0, out = 0;
};

// The moves, ascending by `out` and disjoint, as few nests: pieces whose digits count moves. Runs
// of equal steps become a digit, runs of one kind are taken together, and so on. Irregular lists
// give up to half as many pieces as moves.
Pieces FactorMoves(std::span<const BlockMove> moves);

// One digit of a position in a group (or of the number of a group): a step is `stride` devices.
struct DeviceDigit {
  int64_t extent = 1, stride = 0;
  int64_t weight = 1;  // a step in positions
};

// Groups of one size whose member k of group g is (digits of g) + (digits of k).
struct GroupDigits {
  int64_t groups = 1, members = 1;
  std::vector<DeviceDigit> group, member;  // outermost first
};
// Nothing if the groups are not so, or leave out a device.
std::optional<GroupDigits> DigitsOf(const Grouping& grouping);

}  // namespace hv
