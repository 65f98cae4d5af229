// Groups of devices for collectives, in every mode and spelling: contiguous, strided, shuffled and
// of unequal sizes. Devices are worked out here anew, not by the product.
#pragma once

#include <vector>

#include "tests/fuzz/draw.h"
#include "tests/fuzz/sketch.h"

namespace hv {

struct Participants {
  SketchGroups written;
  Groups devices;                 // in group order
  int64_t size = 0;               // members of every group; 0 if they differ
  std::vector<int64_t> position;  // by device: its place in its group
  std::vector<int64_t> members;   // by device: members of its group
};

// all-reduce, reduce-scatter and all-gather read groups one way, the others another.
enum class Reading : uint8_t { kReducing, kMoving };

// Every device is in a group, and some group has two members or more if the mesh has.
Participants DrawParticipants(Reading reading, bool equal, const Mesh& mesh, Draw* draw);

// These groups of devices, for reducing collectives, by flattened ids in lists.
Participants Flattened(const Groups& devices, const Mesh& mesh);

}  // namespace hv
